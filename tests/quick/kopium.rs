//! `tests/kopium` replaces kopium, which takes minutes to compile. It is compared with the real kopium if that is on
//! the PATH (`cargo install kopium`).
#![cfg(unix)]

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// The arguments that `opctl create api --external-crd` uses.
const ARGUMENTS: [&str; 6] = ["--docs", "--derive", "PartialEq", "--api-version", "v1", "--filename"];

#[test]
fn the_stand_in_prints_what_kopium_prints() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kopium");
    let scratch = tempfile::tempdir().unwrap();
    fs::copy(recorded.join("widgets.yaml"), scratch.path().join("widgets.yaml")).unwrap();
    // A CRD that has no schema from kopium's point of view.
    let empty = fs::read_to_string(recorded.join("widgets.yaml")).unwrap();
    let (head, _) = empty.split_once("      openAPIV3Schema:\n").unwrap();
    let schema = "      openAPIV3Schema:\n        type: object\n";
    fs::write(scratch.path().join("empty.yaml"), format!("{head}{schema}")).unwrap();

    for file in ["widgets.yaml", "empty.yaml"] {
        let says = |program: &Path| {
            let output = Command::new(program)
                .current_dir(&scratch)
                .env_remove("RUST_BACKTRACE")
                .args(ARGUMENTS)
                .arg(file)
                .output()?;
            let printed = String::from_utf8(output.stdout).unwrap();
            // The head contains kopium's version.
            let types: Vec<String> =
                printed.lines().filter(|line| !line.starts_with("// ")).map(String::from).collect();
            io::Result::Ok((output.status.success(), types, String::from_utf8(output.stderr).unwrap()))
        };
        let Ok(real) = says(Path::new("kopium")) else {
            // Not `eprintln!`, which the test harness captures.
            return io::stderr().write_all(b"SKIPPED the real kopium: it is not on the PATH\n").unwrap();
        };
        assert_eq!(says(&recorded.join("kopium")).unwrap(), real, "{file}");
    }
}
