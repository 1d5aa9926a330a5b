//! The engine's promise: what it reads from source equals what the compiled types print.
//!
//! All cases of `tests/engine` are compiled into one crate with kube 5, *and* read by opctl, and the CRDs must be equal as
//! values. What the types print is recorded in `tests/engine/recorded.txt`, so that a test without a compiler notices a change.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common;
use crate::engine_cases::{Crds, RECORDED, cases, checksum, derive, differences, oracle, parse};
use crate::write::write;

#[test]
fn crds_equal_those_of_the_compiled_types() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let compiled = parse(&printed(&oracle(&cases)));
    let differences = differences(&compiled, &derive(&cases));
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(RECORDED, recorded(&compiled)).unwrap();
    }
    assert!(
        fs::read_to_string(RECORDED).unwrap() == recorded(&compiled),
        "SNAPSHOTS=overwrite records what the compiled types print"
    );
}

/// A line a kind. A CRD that is longer than most files is not shown.
fn recorded(compiled: &Crds) -> String {
    let lines = compiled.iter().flat_map(|(case, crds)| crds.iter().map(move |crd| (case, crd)));
    let line = |(case, crd): (&String, &Value)| match crd.to_string() {
        long if long.len() > 20_000 => format!("{case}\t{}\n", checksum(crd)),
        text => format!("{case}\t{text}\n"),
    };
    lines.map(line).collect()
}

/// What the oracle prints: a line a kind.
fn printed(files: &BTreeMap<String, String>) -> String {
    let folder = common::operators_target().join("oracle");
    // Cases of another day.
    for entry in walkdir::WalkDir::new(folder.join("src")).into_iter().filter_map(Result::ok) {
        let path = entry.path().strip_prefix(&folder).unwrap().to_str().unwrap();
        if entry.file_type().is_file() && !files.contains_key(path) {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    files.iter().for_each(|(path, text)| write(&folder.join(path), text));
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/Cargo.lock");
    write(&folder.join("Cargo.lock"), &fs::read_to_string(lock).unwrap());
    let mut cargo = common::cargo(&folder, &["run", "--quiet"]);
    // A case more compiles little more.
    cargo.env("CARGO_INCREMENTAL", "1");
    common::output(cargo)
}
