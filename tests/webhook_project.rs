//! A project with webhooks, a conversion and a certificate: its files, what kustomize makes of them, and, where one can be
//! started, that an API server takes it.
#![cfg(unix)]

#[path = "common/control_plane.rs"]
mod control_plane;
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::fs;
use std::process::{Command, Output};

use control_plane::{ControlPlane, skipped};
use sandbox::Sandbox;
use serde_json::Value;

const MARKERS: &str = "
// +kubebuilder:webhook:mutating=false,path=/validate,failurePolicy=fail,groups=cache.example.com,resources=memcacheds,\\
//     verbs=create;update,versions=v1,name=vmemcached.kb.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,path=/mutate,failurePolicy=fail,groups=cache.example.com,resources=memcacheds,\\
//     verbs=create;update,versions=v1,name=mmemcached.kb.io,sideEffects=None,admissionReviewVersions=v1
// +opctl:conversion:group=cache.example.com,kind=Memcached
";

const CERTIFICATE: &str = "// +opctl:ca:certificate=serving-cert\n";

/// What a later component will bring along.
const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata:
  name: webhook-service
  namespace: system
spec:
  ports:
  - port: 443
  selector:
    control-plane: controller-manager
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: serving-cert
  namespace: system
";

/// A certificate that signs itself; its key is gone.
const PEM: &str = "\
-----BEGIN CERTIFICATE-----
MIIBcTCCARegAwIBAgIUYFjkx62YMLS/xicvwreF9HpMdVswCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIxMTgyMzMzWhgPMjEyNjEwMjgxODIzMzNa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVvSYmZEY
2X6DrceF3DBXuJmu0jrTnhDih5izTdj7a/C6LsPpcyGru5rvohLqu3zY4E+XwsM2
WnY3WwSBhPAuFaNTMFEwHQYDVR0OBBYEFEJHpgfCTWdxsn9nVUTwSmUtRfrdMB8G
A1UdIwQYMBaAFEJHpgfCTWdxsn9nVUTwSmUtRfrdMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSAAwRQIgXny3SgWqspF2b9s3IitGWzUIakh1V0JBxWdkfvMs
1X0CIQDR//XvFFVwqhhlMm9zpHt4no+A/HgINhXOJu7LnztkyA==
-----END CERTIFICATE-----
";

/// One kind in two versions that differ, and the markers.
fn project(markers: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for line in [
        "init --domain example.com --project-name shop --api cache/v1/Memcached",
        "create api --group cache --version v1beta1 --kind Memcached --controller=false",
        // Without a conversion.
        "create api --group cache --version v1 --kind Other --controller=false",
    ] {
        let output = sandbox.command("opctl").args(line.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let types = sandbox.folder.join("src/api/cache/v1/memcached.rs");
    let text = fs::read_to_string(&types).unwrap();
    let changed = text.replacen("pub struct MemcachedSpec {", "pub struct MemcachedSpec {\n    pub more: i32,", 1);
    assert_ne!(text, changed);
    fs::write(types, changed).unwrap();
    let main = sandbox.root().join("src/main.rs");
    fs::write(&main, fs::read_to_string(&main).unwrap() + markers).unwrap();
    sandbox
}

fn manifests(sandbox: &Sandbox) -> Output {
    sandbox.command("opctl").arg("manifests").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn versions_that_differ_need_a_conversion() {
    assert!(said(&manifests(&project(""))).contains("OP022"));
    let converted = manifests(&project(MARKERS));
    assert!(converted.status.success() && !said(&converted).contains("OP022"), "{}", said(&converted));
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
    let check = sandbox.command("opctl").args(["manifests", "--check"]).output().unwrap();
    assert_eq!(check.status.code(), Some(1));
    assert!(manifests(&sandbox).status.success());
    assert!(!files.into_iter().any(has));
}

#[test]
fn an_authority_can_be_a_file() {
    let sandbox = project(&format!("{MARKERS}// +opctl:ca:file=certs/ca.crt\n"));
    let missing = manifests(&sandbox);
    assert!(said(&missing).contains("`certs/ca.crt` is no file"), "{}", said(&missing));
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
    if let Some(cluster) = ControlPlane::start("webhook-file", 0) {
        let strict = ["create", "--dry-run=server", "--validate=strict", "-f"];
        for path in ["config/webhook/manifests.yaml", "config/crd/bases/cache.example.com_memcacheds.yaml"] {
            cluster.kubectl(&[&strict[..], &[sandbox.folder.join(path).to_str().unwrap()]].concat(), "");
        }
    }
}

#[test]
fn kustomize_gives_service_and_certificate_their_names() {
    let kubectl = std::env::var_os("KUBEBUILDER_ASSETS").map(|assets| std::path::Path::new(&assets).join("kubectl"));
    let Some(kubectl) = kubectl.filter(|kubectl| kubectl.is_file()) else {
        return skipped("the names that kustomize gives", "no `kubectl` in KUBEBUILDER_ASSETS");
    };
    let sandbox = project(&format!("{MARKERS}{CERTIFICATE}"));
    let made = manifests(&sandbox);
    assert!(made.status.success(), "{}", said(&made));
    let default = sandbox.folder.join("config/default");
    fs::write(default.join("webhook_service.yaml"), SERVICE).unwrap();
    let path = default.join("kustomization.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let more = "resources:\n  - ../webhook\n  - webhook_service.yaml\n";
    let text = text.replacen("resources:\n", more, 1) + "transformers:\n  - ../webhook/certificate\n";
    fs::write(path, text).unwrap();
    let built = Command::new(kubectl).arg("kustomize").arg(default).output().unwrap();
    assert!(built.status.success(), "{}", said(&built));
    let built = String::from_utf8(built.stdout).unwrap();

    let objects: Vec<Value> =
        built.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    let of_kind = |kind: &str| objects.iter().filter(move |object| object["kind"] == kind).collect::<Vec<_>>();
    let (crds, mutating, validating) = (
        of_kind("CustomResourceDefinition"),
        of_kind("MutatingWebhookConfiguration"),
        of_kind("ValidatingWebhookConfiguration"),
    );
    assert_eq!([crds.len(), mutating.len(), validating.len()], [2, 1, 1]);
    assert!(crds[1]["metadata"]["annotations"].is_null() && crds[1]["spec"]["conversion"].is_null());
    let mut clients = vec![&crds[0]["spec"]["conversion"]["webhook"]["clientConfig"]];
    for configuration in [mutating[0], validating[0]] {
        clients.extend(configuration["webhooks"].as_array().unwrap().iter().map(|webhook| &webhook["clientConfig"]));
    }
    for client in clients {
        assert_eq!(client["service"]["name"], "shop-webhook-service");
        assert_eq!(client["service"]["namespace"], "shop-system");
    }
    for object in [crds[0], mutating[0], validating[0]] {
        let annotation = &object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
        assert_eq!(annotation, "shop-system/shop-serving-cert");
    }
    assert_eq!(mutating[0]["metadata"]["name"], "shop-mutating-webhook-configuration");
    if let Some(cluster) = ControlPlane::start("webhook-project", 0) {
        for object in [crds[0], mutating[0], validating[0]] {
            let strict = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
            cluster.kubectl(&strict, &object.to_string());
        }
    }
}
