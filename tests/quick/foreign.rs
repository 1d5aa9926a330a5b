//! Types of other crates that cannot be read.

use std::path::Path;

use opctl::diagnostic;
use opctl::project::Tree;
use opctl::source;

use crate::copy::copy;

/// What cannot be read of another crate is refused with its place, which never shows a path of this machine.
/// `SNAPSHOTS=overwrite cargo test --test quick foreign` writes the messages anew.
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
