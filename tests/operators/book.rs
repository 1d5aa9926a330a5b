//! The code in the book compiles: the guides are followed in a project, other code is in `tests/book`.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, shell};
use crate::tree::tree;
use crate::workdir::{cargo_lock, lock_cargo, sync};
use crate::{common, guide};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn getting_started_leads_to_an_operator_that_passes_its_tests() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/getting-started.md")).unwrap();
    let terminal = guide::getting_started(&page, shell);
    shell(&terminal, "opctl check");
    cargo(&terminal, "memcached-operator", &["test", "--quiet", "--locked"]);
}

#[test]
fn the_tour_leads_to_an_operator_that_compiles() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/tour.md")).unwrap();
    let mut terminal = Sandbox::new();
    shell(&terminal, "opctl init demo --domain example.com --api cache/v1alpha1/Memcached");
    terminal.folder.push("demo");
    guide::tour_api(&terminal, &page);
    guide::tour_controller(&terminal, &page);
    shell(&terminal, "opctl check --fix && opctl check && opctl manifests --check");
    cargo(&terminal, "demo", &["check", "--quiet", "--locked", "--all-targets"]);
}

/// `tests/cluster/guides.rs` runs the command lines of its pages, and `tests/quick/docs.rs` compares their code with
/// the files that are copied here.
#[test]
fn the_tutorial_leads_to_an_operator_that_passes_its_tests() {
    let stage = |name: &str| Path::new(ROOT).join("tests/book/tutorial").join(name);
    let mut terminal = Sandbox::new();
    shell(&terminal, "opctl init website-operator --domain example.com --api web/v1alpha1/Website");
    terminal.folder.push("website-operator");
    for (name, command) in
        [("first", "true"), ("second", "opctl create api --group web --version v1 --kind Website --conversion")]
    {
        shell(&terminal, command);
        shell(&terminal, &format!("cp -r '{}/.' .", stage(name).display()));
        shell(&terminal, "opctl manifests && opctl check --deny-warnings");
        cargo(&terminal, "website-operator", &["test", "--quiet", "--locked"]);
    }
}

#[test]
fn the_code_of_the_other_pages_compiles() {
    let mut files = tree(&Path::new(ROOT).join("tests/book"));
    // The crate has fewer dependencies than a project.
    files.insert("Cargo.lock".into(), cargo_lock("my-crate", false).into());
    let manifest = String::from_utf8(files["Cargo.toml"].clone()).unwrap();
    files.insert("Cargo.toml".into(), manifest.replace("../../crates", &format!("{ROOT}/crates")).into());
    let folder = common::operators_target().join("book/pages");
    sync(&folder, &files);
    let _cargo = lock_cargo();
    common::output(common::cargo(&folder, &["test", "--quiet"]));
}

/// Runs cargo in a folder that is kept, so that previous builds are reused.
fn cargo(terminal: &Sandbox, name: &str, arguments: &[&str]) {
    let mut files = tree(&terminal.folder);
    files.insert("Cargo.lock".into(), cargo_lock(name, false).into());
    let folder = common::operators_target().join("book").join(name);
    sync(&folder, &files);
    let _cargo = lock_cargo();
    common::output(common::cargo(&folder, arguments));
}
