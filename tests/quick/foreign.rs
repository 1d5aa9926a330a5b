//! Types of other crates that cannot be read.

use std::path::Path;

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_source as source;

use crate::copy::copy;

/// Unreadable types of other crates are rejected with a location, which never contains a path of this machine.
/// `SNAPSHOTS=overwrite cargo test --test quick foreign` updates the messages.
#[test]
fn refuses_what_it_cannot_read_of_other_crates() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/refused");
    let home = tempfile::tempdir().unwrap();
    let unpacked = home.path().join("registry/src/crates.io-0123456789abcdef");
    copy(&cases.join("hard"), &unpacked.join("hard-1.0.0"), &[]);
    copy(&cases.join("old"), &unpacked.join("old-0.1.0"), &[]);
    let lib = std::fs::read_to_string(cases.join("lib.rs")).unwrap();
    let is_fetched = |line: &&str| !["absent::", "unlocked::", "k8s_openapi::"].iter().any(|name| line.contains(name));
    let fetched: Vec<&str> = lib.lines().filter(is_fetched).collect();
    // Findings that may be caused by unfetched crates are omitted until these are fetched.
    for (lib, said_file) in [(fetched.join("\n"), "said.txt"), (lib.clone(), "not_fetched.txt")] {
        let mut tree = Tree::at(home.path().join("nowhere")).with_cargo_home(Some(home.path().to_owned()));
        for file in ["Cargo.toml", "Cargo.lock"] {
            tree.lay_over(file, std::fs::read_to_string(cases.join(file)).unwrap());
        }
        tree.lay_over("src/lib.rs", lib);
        let said = diagnostic::render(&source::read(&tree, "").diagnostics, false);
        let expected = cases.join(said_file);
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            std::fs::write(expected, said).unwrap();
        } else {
            assert_eq!(std::fs::read_to_string(expected).unwrap_or_default(), said);
        }
    }
}
