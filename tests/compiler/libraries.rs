//! Uses the libraries in `crates/` from a crate outside of the workspace. It is compiled for the oldest Kubernetes
//! version that k8s-openapi supports, with another patch release of schemars than opctl pins.
//!
//! Without KUBEBUILDER_ASSETS, it is compiled and run without an API server.
//! `OPCTL_PACKAGES=all cargo test --test compiler libraries` enables it: no other test uses its build, and only changes
//! of public items can break it.

use std::fs;
use std::path::Path;

use opctl_model::versions::latest;

use crate::nightly::is_run;
use crate::{common, skipped};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The name and folder of each library, its features, and the module of the crate whose `run` uses it.
const LIBRARIES: &[(&str, &str, &[&str], &str)] = &[
    ("opctl-cel", "crates/cel", &[], "uses_cel"),
    ("opctl-runtime", "crates/runtime", &["testing"], "uses_runtime"),
    ("opctl-testenv", "crates/testenv", &[], "uses_testenv"),
];

const MANIFEST: &str = r#"
[package]
name = "foreign-user"
edition = "2024"

[workspace]

[dependencies]
k8s-openapi = { version = "K8S_OPENAPI", features = ["earliest"] }
kube = { version = "KUBE", features = ["runtime"] }
schemars = "=1.2.1"
serde_json = "1"
tokio = { version = "1", features = ["rt"] }
"#;

#[test]
fn a_foreign_crate_uses_them_with_its_own_versions_of_kubernetes_and_schemars() {
    if !is_run("a crate that uses the libraries", "OPCTL_PACKAGES") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut manifest = MANIFEST.replace("K8S_OPENAPI", &latest("k8s-openapi")).replace("KUBE", &latest("kube"));
    let mut main = "mod types;\n".to_owned();
    let mut calls = String::new();
    fs::create_dir(folder.join("src")).unwrap();
    let copy = |module: &str| {
        let file = format!("{module}.rs");
        fs::copy(Path::new(ROOT).join("tests/libraries").join(&file), folder.join("src").join(file)).unwrap();
    };
    copy("types");
    for (name, path, features, module) in LIBRARIES {
        manifest += &format!("{name} = {{ path = {:?}, features = {features:?} }}\n", Path::new(ROOT).join(path));
        main += &format!("mod {module};\n");
        calls += &format!("    {module}::run();\n");
        copy(module);
    }
    main += &format!("\nfn main() {{\n{calls}}}\n");
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), main).unwrap();
    // Mostly the same versions as opctl, so that little is downloaded and compiled.
    fs::copy(Path::new(ROOT).join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();

    let printed = common::output(common::cargo(folder, &["run", "--quiet"]));
    let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    assert!(lock.contains("name = \"schemars\"\nversion = \"1.2.1\"\n"), "{lock}");
    let ours = fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap();
    assert!(!ours.contains("name = \"schemars\"\nversion = \"1.2.1\"\n"), "choose another version than opctl's");

    assert!(printed.contains("a rule says no\n"), "{printed}");
    assert!(printed.contains("the owner of labels is \"zoo\"\n"), "{printed}");
    if std::env::var_os("KUBEBUILDER_ASSETS").is_some() {
        assert!(printed.contains("things.example.com is served by Kubernetes 1."), "{printed}");
    } else {
        skipped::skipped("an API server of a foreign crate", "KUBEBUILDER_ASSETS is not set");
    }
}
