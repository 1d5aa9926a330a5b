//! A project with webhooks, a conversion and a certificate.

use std::fs;
use std::process::Output;

use crate::sandbox::Sandbox;

pub const MARKERS: &str = "
// +kubebuilder:webhook:mutating=false,path=/validate,failurePolicy=fail,groups=cache.example.com,resources=memcacheds,\\
//     verbs=create;update,versions=v1,name=vmemcached.kb.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,path=/mutate,failurePolicy=fail,groups=cache.example.com,resources=memcacheds,\\
//     verbs=create;update,versions=v1,name=mmemcached.kb.io,sideEffects=None,admissionReviewVersions=v1
// +opctl:conversion:group=cache.example.com,kind=Memcached
";

pub const CERTIFICATE: &str = "// +opctl:ca:certificate=serving-cert\n";

/// A self-signed certificate whose key was deleted.
pub const PEM: &str = "\
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

/// A project with one kind in two versions with different fields, and these markers.
pub fn project(markers: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for line in [
        "init --domain example.com --project-name shop --api cache/v1beta1/Memcached",
        "create api --group cache --version v1 --kind Memcached",
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

pub fn manifests(sandbox: &Sandbox) -> Output {
    sandbox.command("opctl").arg("manifests").output().unwrap()
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
