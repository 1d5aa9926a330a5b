//! Types of other crates: what opctl reads from their sources equals what the compiled types print. The packages of
//! `tests/foreign` stand where cargo would find them: in a workspace, outside of it, in a git repository, in a vendored
//! folder; others come from the registry.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use opctl::project::Tree;
use opctl::source::{self, Source};
use opctl::{diagnostic, emit};
use serde_json::Value;

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

/// What cannot be read of another crate is refused with its place, which never shows a path of this machine.
/// `SNAPSHOTS=overwrite cargo test --test foreign` writes the messages anew.
#[test]
fn refuses_what_it_cannot_read_of_other_crates() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/refused");
    let home = tempfile::tempdir().unwrap();
    let unpacked = home.path().join("registry/src/crates.io-0123456789abcdef");
    copy(&cases.join("hard"), &unpacked.join("hard-1.0.0"), &[]);
    copy(&cases.join("old"), &unpacked.join("old-0.1.0"), &[]);
    let mut tree = Tree::at(home.path().join("nowhere")).with_cargo_home(Some(home.path().to_owned()));
    for (path, file) in [("Cargo.toml", "Cargo.toml"), ("Cargo.lock", "Cargo.lock"), ("src/lib.rs", "lib.rs")] {
        tree.lay_over(path, std::fs::read_to_string(cases.join(file)).unwrap());
    }
    let said = diagnostic::render(&source::read(&tree, "").diagnostics, false);
    let expected = cases.join("said.txt");
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(expected, said).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(expected).unwrap_or_default(), said);
    }
}

fn by_name(crd: Value) -> (String, Value) {
    (crd["metadata"]["name"].as_str().unwrap().to_string(), crd)
}

fn cargo_home() -> Option<PathBuf> {
    let said = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    said.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// Lays the packages out, and gives the folder that holds them.
fn oracle() -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let folder = common::operators_target().join("foreign");
    let repository = folder.join("widget");
    copy(&cases.join("widget"), &repository, &[]);
    let workspace = folder.join("workspace");
    if !is_committed(&repository) {
        // The commit is another one, so the lock file is, too.
        let _ = std::fs::remove_dir_all(repository.join(".git"));
        let _ = std::fs::remove_file(workspace.join("Cargo.lock"));
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
    write(&workspace.join("Cargo.toml"), &std::fs::read_to_string(cases.join("Cargo.toml")).unwrap());
    if !workspace.join("Cargo.lock").is_file() {
        write(&workspace.join("Cargo.lock"), &std::fs::read_to_string(cases.join("Cargo.lock")).unwrap());
    }
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

/// Copies a folder, with words in its texts replaced.
fn copy(from: &Path, to: &Path, words: &[(&str, &str)]) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let text = words.iter().fold(text, |text, (word, with)| text.replace(word, with));
            write(&to.join(entry.path().strip_prefix(from).unwrap()), &text);
        }
    }
}

/// A file that is as it should be keeps its time, so that cargo does not compile it again.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|before| before == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
