//! The packages of a release: the archives of `cargo package`, and the opctl that `cargo install` builds from them.
//!
//! Installing compiles opctl and its dependencies again, so it only runs in the nightly workflow:
//! `OPCTL_PACKAGES=all cargo test --test compiler package`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::extent::takes_all;
use crate::tree::tree;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Runs a command and returns stdout. Panics if it fails.
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(ROOT);
    command
}

/// The extracted archives of all packages of the workspace, by name.
fn packages(folder: &Path) -> BTreeMap<String, PathBuf> {
    let arguments = ["package", "--workspace", "--no-verify", "--allow-dirty", "--offline", "--quiet", "--target-dir"];
    succeeds(cargo().args(arguments).arg(folder));
    let metadata = succeeds(cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]));
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter().map(|package| {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap());
        let label = format!("{name}-{version}");
        let archive = folder.join("package").join(format!("{label}.crate"));
        let unpacked = folder.join("unpacked");
        fs::create_dir_all(&unpacked).unwrap();
        succeeds(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(&unpacked));
        (name.to_owned(), unpacked.join(label))
    });
    packages.collect()
}

/// All files of an operator that this opctl scaffolds in an empty folder.
fn scaffolded(opctl: &Path) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["init", "demo", "--domain", "example.com", "--api", "cache/v1alpha1/Memcached"];
    succeeds(Command::new(opctl).args(arguments).current_dir(&folder));
    tree(folder.path())
}

#[test]
fn the_archives_have_what_opctl_needs_and_install_the_same_opctl() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
    let _ = fs::remove_dir_all(&folder);
    let packages = packages(&folder);
    for (name, package) in &packages {
        for path in tree(package).keys() {
            let is_of_tests = ["tests/", "benches/", "examples/"].iter().any(|prefix| path.starts_with(prefix));
            assert!(!is_of_tests, "{name} is published with `{path}`, which nobody builds");
        }
    }

    let scaffold = ["Cargo.toml", "templates/CHANGES", "templates/runtime/manifest.toml"];
    assert!(
        scaffold.iter().all(|path| packages["opctl"].join(path).is_file()),
        "opctl is published without {scaffold:?}"
    );
    if !takes_all("OPCTL_PACKAGES") {
        return;
    }

    let mut install = cargo();
    install.args(["install", "--debug", "--offline", "--quiet", "--path"]).arg(&packages["opctl"]);
    // The target folder of the test, so that dependencies are not compiled again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    install.arg("--root").arg(folder.join("root")).arg("--target-dir").arg(target);
    for (name, package) in packages.iter().filter(|(name, _)| *name != "opctl") {
        install.arg("--config").arg(format!("patch.crates-io.{name}.path={:?}", package.to_str().unwrap()));
    }
    succeeds(&mut install);

    let (here, installed) =
        (scaffolded(Path::new(env!("CARGO_BIN_EXE_opctl"))), scaffolded(&folder.join("root/bin/opctl")));
    assert!(here.contains_key("demo/runtime/src/lib.rs"), "{:?}", here.keys());
    assert!(here.keys().eq(installed.keys()), "{:?}\n{:?}", here.keys(), installed.keys());
    for (path, text) in &here {
        assert!(installed[path] == *text, "{path} differs");
    }
}
