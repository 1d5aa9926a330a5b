//! The CRDs that the engine derives from source equal those that the compiled types print.
//!
//! All cases of `tests/engine` are compiled into one crate with the latest kube, and into one with each earlier release
//! in `tests/versions`. They are also read by opctl, and the CRDs must be equal as values. The output of the types is
//! recorded in `recorded.txt`, so that a test without a compiler detects changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::common;
use crate::engine_cases::{cases, checksum, derive, differences, files, is_recording, parse, recorded, render};
use crate::nightly::is_run;
use crate::oracles::Oracle;
use crate::write::write;

#[test]
fn crds_equal_those_of_the_compiled_types() {
    let oracle = Oracle::latest();
    let differences = compare(&oracle, &cases(&oracle), common::operators_target(), 20_000);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The output of the cases with all releases is recorded, and `cargo test` compares opctl with it. `OPCTL_VERSIONS=all`
/// compiles them again, which takes minutes; the output only changes with a new release or case.
#[test]
fn crds_equal_those_of_earlier_releases() {
    if !is_recording() && !is_run("cases with earlier releases of kube", "OPCTL_VERSIONS") {
        return;
    }
    // A separate target folder, since nothing is shared with other tests, and cargo locks the folder.
    let target = common::operators_target().join("versions");
    let mut differences = Vec::new();
    for oracle in Oracle::earlier() {
        differences.extend(compare(&oracle, &cases(&oracle), target.clone(), 0));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The differences between derived and compiled CRDs. A CRD that exceeds `longest` is recorded as a checksum.
fn compare(oracle: &Oracle, cases: &BTreeMap<String, String>, target: PathBuf, longest: usize) -> Vec<String> {
    let mut compiled = parse(&printed(oracle, &files(oracle, cases), target));
    let mut differences = differences(&compiled, &derive(oracle, cases));
    for crd in compiled.values_mut().flatten().filter(|crd| !crd.is_null() && crd.to_string().len() > longest) {
        *crd = checksum(crd);
    }
    let text = render(&compiled);
    if is_recording() {
        fs::write(recorded(oracle), &text).unwrap();
    }
    let mut before = parse(&fs::read_to_string(recorded(oracle)).unwrap_or_default());
    before.retain(|case, _| cases.contains_key(case));
    if render(&before) != text {
        differences.push("SNAPSHOTS=overwrite records what the compiled types print".into());
    }
    differences.into_iter().map(|difference| format!("{}: {difference}", oracle.name())).collect()
}

/// The output of the oracle.
fn printed(oracle: &Oracle, files: &BTreeMap<String, String>, target: PathBuf) -> String {
    let folder = common::operators_target().join("oracle").join(oracle.name());
    // Removes deleted cases.
    for entry in walkdir::WalkDir::new(folder.join("src")).into_iter().filter_map(Result::ok) {
        let path = entry.path().strip_prefix(&folder).unwrap().to_str().unwrap();
        if entry.file_type().is_file() && !files.contains_key(path) {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    files.iter().for_each(|(path, text)| write(&folder.join(path), text));
    let mut cargo = common::cargo(&folder, &["run", "--quiet"]);
    // With incremental compilation, a new case compiles little.
    cargo.env("CARGO_INCREMENTAL", "1").env("CARGO_TARGET_DIR", target);
    common::output(cargo)
}
