//! The lock files of crates that tests compile. They share a target folder, so dependencies with the same version are
//! compiled once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::versions::Release;

#[test]
fn test_crates_have_the_same_versions_of_their_dependencies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = fs::read_dir(root.join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let tests = ["engine", "foreign", "requests", "runtime/operator"].map(|name| root.join("tests").join(name));
    let all: Vec<PathBuf> = examples.chain(tests).collect();
    let golden = packages(&root.join("tests/golden"));
    let mut differences = Vec::new();
    for folder in &all {
        for (package, version) in packages(folder) {
            if golden.get(&package).is_some_and(|golden| *golden != version) {
                differences.push(format!("{}: {} {version}", folder.display(), package.0));
            }
        }
    }
    assert!(differences.is_empty(), "`.ci/locks` updates the lock files:\n{}", differences.join("\n"));
    assert!(all.len() > 10 && golden.len() > 200, "{all:?}");
}

/// The versions in a lock file, by package name and compatible version range.
fn packages(folder: &Path) -> BTreeMap<(String, String), String> {
    let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    let package = |text: &str| {
        let (name, rest) = text.strip_prefix("name = \"")?.split_once("\"\nversion = \"")?;
        let (version, _) = rest.split_once("\"\nsource = ")?;
        Some(((name.to_owned(), Release::parse(version)?.compatible()), version.to_owned()))
    };
    lock.split("[[package]]\n").filter_map(package).collect()
}
