//! Types of other crates: the CRDs that opctl derives from their sources equal those of the compiled types. The
//! packages of `tests/foreign` are laid out for cargo: in a workspace, outside of it, in a git repository, and in a
//! vendored folder. Others come from the registry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_model::versions::latest;
use opctl_source::emit;
use opctl_source::{self as source, Source};
use serde_json::Value;

use crate::common;
use crate::copy::copy;
use crate::write::write;

#[test]
fn crds_with_types_of_other_crates_equal_those_of_the_compiled_types() {
    let oracle = oracle();
    let member = oracle.join("workspace/operator");
    let compiled = common::output(common::cargo(&member, &["run", "--quiet"]));
    let compiled: Vec<Value> = serde_json::from_str(&compiled).unwrap();
    let compiled: BTreeMap<String, Value> = compiled.into_iter().map(by_name).collect();

    let Source { operator, diagnostics, .. } = source::read(&Tree::at(&member).with_cargo_home(cargo_home()), "");
    assert!(diagnostics.is_empty(), "{}", diagnostic::render(&diagnostics, false));
    let crds = emit::crds(&operator.apis).unwrap_or_else(|problems| panic!("{}", diagnostic::render(&problems, false)));
    let read: BTreeMap<String, Value> =
        crds.into_iter().map(|crd| by_name(serde_json::to_value(crd).unwrap())).collect();
    assert_eq!(read.keys().collect::<Vec<_>>(), compiled.keys().collect::<Vec<_>>());
    for (name, compiled) in &compiled {
        assert_eq!(read[name], *compiled, "{name}");
    }
}

fn by_name(crd: Value) -> (String, Value) {
    (crd["metadata"]["name"].as_str().unwrap().to_string(), crd)
}

fn cargo_home() -> Option<PathBuf> {
    let said = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    said.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// Lays the packages out, and returns their folder.
fn oracle() -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let folder = common::operators_target().join("foreign");
    let repository = folder.join("widget");
    copy(&cases.join("widget"), &repository, &[]);
    let workspace = folder.join("workspace");
    if !is_committed(&repository) {
        let _ = std::fs::remove_dir_all(repository.join(".git"));
        for arguments in [
            &["init", "--quiet"] as &[&str],
            &["add", "."],
            &["-c", "user.name=opctl", "-c", "user.email=opctl@example.com", "commit", "--quiet", "-m", "Widgets"],
            &["tag", "v1"],
        ] {
            let mut git = Command::new("git");
            git.current_dir(&repository).args(arguments);
            git.env("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z").env("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z");
            common::output(git);
        }
    }
    copy(&cases.join("shared"), &folder.join("shared"), &[]);
    let url = format!("file://{}", repository.display());
    for member in ["api", "operator"] {
        copy(&cases.join(member), &workspace.join(member), &[("GIT", &url)]);
    }
    let manifest = std::fs::read_to_string(cases.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("K8S_OPENAPI", &latest("k8s-openapi")).replace("KUBE", &latest("kube"));
    write(&workspace.join("Cargo.toml"), &manifest);
    // Cargo adds the packages of the repository.
    write(&workspace.join("Cargo.lock"), &std::fs::read_to_string(cases.join("Cargo.lock")).unwrap());
    copy(&cases.join("quota"), &workspace.join("vendor/quota"), &[]);
    write(&workspace.join("vendor/quota/.cargo-checksum.json"), r#"{"files":{},"package":null}"#);
    let registry = "sparse+https://registry.example.com/index/";
    let config = format!(
        "[registries.private]\nindex = \"{registry}\"\n\n[source.private]\nregistry = \"{registry}\"\n\
         replace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n"
    );
    write(&workspace.join(".cargo/config.toml"), &config);
    folder
}

fn is_committed(repository: &Path) -> bool {
    let mut status = Command::new("git");
    status.current_dir(repository).args(["status", "--porcelain"]);
    repository.join(".git").is_dir() && common::output(status).is_empty()
}
