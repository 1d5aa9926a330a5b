//! The files of a project with webhooks, a conversion and a certificate.
#![cfg(unix)]

use std::fs;

use crate::project_with_webhooks::{CERTIFICATE, MARKERS, PEM, manifests, project, said};

#[test]
fn versions_that_differ_need_a_conversion() {
    let unconverted = manifests(&project(""));
    assert!(!unconverted.status.success() && said(&unconverted).contains("OP601"), "{}", said(&unconverted));
    let converted = manifests(&project(MARKERS));
    assert!(converted.status.success() && !said(&converted).contains("OP601"), "{}", said(&converted));
}

#[test]
fn what_has_no_marker_any_more_is_removed() {
    let sandbox = project(&format!("{MARKERS}{CERTIFICATE}"));
    assert!(manifests(&sandbox).status.success());
    let has = |path: &str| sandbox.folder.join("config").join(path).exists();
    let files = [
        "webhook/manifests.yaml",
        "webhook/kustomization.yaml",
        "webhook/certificate/names.yaml",
        "webhook/certificate/kustomization.yaml",
        "crd/kustomizeconfig.yaml",
    ];
    assert!(files.into_iter().all(has));
    let main = sandbox.root().join("src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    fs::write(&main, text.replace(MARKERS, "").replace(CERTIFICATE, "")).unwrap();
    // Without a conversion, both versions must have the same schema.
    let types = sandbox.root().join("src/api/cache/v1/memcached.rs");
    fs::write(&types, fs::read_to_string(&types).unwrap().replace("    pub more: i32,\n", "")).unwrap();
    let check = sandbox.command("opctl").args(["manifests", "--check"]).output().unwrap();
    assert_eq!(check.status.code(), Some(1));
    assert!(manifests(&sandbox).status.success());
    assert!(!files.into_iter().any(has));
}

#[test]
fn an_authority_can_be_a_file() {
    let sandbox = project(&format!("{MARKERS}// +opctl:ca:file=certs/ca.crt\n"));
    let missing = manifests(&sandbox);
    assert!(said(&missing).contains("`certs/ca.crt` is not a file"), "{}", said(&missing));
    fs::create_dir(sandbox.folder.join("certs")).unwrap();
    let write = |text: &str| fs::write(sandbox.folder.join("certs/ca.crt"), text).unwrap();
    for (text, expected) in [
        ("nothing", "`certs/ca.crt` has no certificate in PEM"),
        ("-----BEGIN PRIVATE KEY-----", "`certs/ca.crt` has a private key"),
    ] {
        write(text);
        assert!(said(&manifests(&sandbox)).contains(expected), "{text}");
    }
    write(PEM);
    let made = manifests(&sandbox);
    assert!(made.status.success(), "{}", said(&made));
    let bundle = "caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t";
    for path in ["webhook/manifests.yaml", "crd/bases/cache.example.com_memcacheds.yaml"] {
        assert!(fs::read_to_string(sandbox.folder.join("config").join(path)).unwrap().contains(bundle), "{path}");
    }
}
