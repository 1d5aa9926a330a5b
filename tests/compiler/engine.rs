//! The engine's promise: what it reads from source equals what the compiled types print.
//!
//! All cases of `tests/engine` are compiled into one crate with the latest kube, and into one with each earlier release in
//! `tests/versions`, *and* read by opctl, and the CRDs must be equal as values. What the types print is recorded in
//! `recorded.txt`, so that a test without a compiler notices a change.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::common;
use crate::engine_cases::{Crds, cases, checksum, derive, differences, files, parse};
use crate::oracle::Oracle;
use crate::write::write;

#[test]
fn crds_equal_those_of_the_compiled_types() {
    let differences = compare(&Oracle::latest(), 20_000);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn crds_equal_those_of_earlier_releases() {
    let differences: Vec<String> = Oracle::earlier().iter().flat_map(|oracle| compare(oracle, 0)).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Where read and compiled differ. A CRD that is longer than that is recorded by a checksum.
fn compare(oracle: &Oracle, longest: usize) -> Vec<String> {
    let cases = cases(oracle);
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let compiled = parse(&printed(oracle, &files(oracle, &cases)));
    let mut differences = differences(&compiled, &derive(oracle, &cases));
    let text = recorded(&compiled, longest);
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(oracle.recorded(), &text).unwrap();
    }
    if fs::read_to_string(oracle.recorded()).unwrap_or_default() != text {
        differences.push("SNAPSHOTS=overwrite records what the compiled types print".into());
    }
    differences.into_iter().map(|difference| format!("{}: {difference}", oracle.name())).collect()
}

/// A line a kind. A CRD that is longer than most files is not shown.
fn recorded(compiled: &Crds, longest: usize) -> String {
    let lines = compiled.iter().flat_map(|(case, crds)| crds.iter().map(move |crd| (case, crd)));
    let line = |(case, crd): (&String, &Value)| match crd.to_string() {
        long if long.len() > longest && !crd.is_null() => format!("{case}\t{}\n", checksum(crd)),
        text => format!("{case}\t{text}\n"),
    };
    lines.map(line).collect()
}

/// What the oracle prints: a line a kind.
fn printed(oracle: &Oracle, files: &BTreeMap<String, String>) -> String {
    let folder = common::operators_target().join("oracle").join(oracle.name());
    // Cases of another day.
    for entry in walkdir::WalkDir::new(folder.join("src")).into_iter().filter_map(Result::ok) {
        let path = entry.path().strip_prefix(&folder).unwrap().to_str().unwrap();
        if entry.file_type().is_file() && !files.contains_key(path) {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    files.iter().for_each(|(path, text)| write(&folder.join(path), text));
    let mut cargo = common::cargo(&folder, &["run", "--quiet"]);
    // A case more compiles little more.
    cargo.env("CARGO_INCREMENTAL", "1");
    common::output(cargo)
}
