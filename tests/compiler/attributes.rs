//! The derives of serde, schemars and kube accept and reject the same attributes as opctl.
//!
//! rustc expands all derives before it stops, so one build tests every case. Only the derives are compiled, since the
//! crates that the generated code uses are not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::attribute_cases::{
    Case, PART, accepted_by_opctl, differences, of_kube, of_types, recorded, recorded_at, source, without,
};
use crate::common;
use crate::engine_cases::{is_recording, takes_all_releases};
use crate::oracles::Oracle;
use crate::write::write;

/// All releases of schemars parse attributes in the same way, so types are only tested with the earliest and the
/// latest. Without `SNAPSHOTS=overwrite` or `OPCTL_VERSIONS=all`, a sample of cases is tested with the latest release.
#[test]
fn derives_accept_what_opctl_accepts() {
    let (is_recording, takes_all) = (is_recording(), takes_all_releases());
    let mut differing = Vec::new();
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let versions = common::operators_target().join("versions");
    let latest = (Oracle::latest(), common::operators_target());
    let earlier = Oracle::earlier().into_iter().map(|oracle| (oracle, versions.clone()));
    for (oracle, target) in [latest].into_iter().chain(earlier.filter(|_| takes_all)) {
        let has_types = ["engine", "kube-2.0.1"].contains(&oracle.name());
        let types = has_types.then(|| ("types".into(), of_types()));
        for (section, cases) in types.into_iter().chain([(oracle.name().to_owned(), of_kube(&oracle))]) {
            let some = |(index, case)| (takes_all || index % 16 == 0).then_some(case);
            let cases: Vec<Case> = cases.into_iter().enumerate().filter_map(some).collect();
            let accepted = accepted_by_derives(&oracle, &cases, target.clone());
            let found = differences(&cases, &accepted, &accepted_by_opctl(&oracle, &cases));
            differing.extend(found.into_iter().map(|difference| format!("{}: {difference}", oracle.name())));
            let names = accepted.iter().map(|index| cases[*index].name.clone()).collect();
            match sections.get(&section) {
                Some(before) => assert_eq!(*before, names, "{}: schemars differs", oracle.name()),
                None => drop(sections.insert(section, names)),
            }
        }
    }
    if is_recording {
        let mut text = String::new();
        for (section, names) in &sections {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            write!(text, "## {section}\n\n{}\n\n", names.join("\n")).unwrap();
        }
        fs::write(recorded_at(), text.trim_end().to_owned() + "\n").unwrap();
    }
    let recorded = recorded();
    let are_recorded = |(section, names): (&String, &BTreeSet<String>)| names.is_subset(&recorded[section]);
    assert!(sections.iter().all(are_recorded), "SNAPSHOTS=overwrite records what the derives accept");
    assert!(differing.is_empty(), "{} differences:\n{}", differing.len(), differing.join("\n"));
}

/// The releases are in Cargo.lock.
const MANIFEST: &str = r#"[package]
name = "attributes"
version = "0.0.0"
edition = "2024"

[dependencies]
kube = { version = "*", package = "kube-derive" }
schemars = "*"
serde = { version = "*", features = ["derive"] }

[workspace]
"#;

/// The cases without an error of a derive or about the name of an attribute.
fn accepted_by_derives(oracle: &Oracle, cases: &[Case], target: PathBuf) -> BTreeSet<usize> {
    let folder = common::operators_target().join("attributes").join(oracle.name());
    let _ = fs::remove_dir_all(folder.join("src"));
    write(&folder.join("Cargo.toml"), MANIFEST);
    write(&folder.join("Cargo.lock"), &oracle.lock().replace("\"oracle\"", "\"attributes\""));
    let path = |part: usize| format!("src/bin/part{part}.rs");
    let parts: Vec<_> = cases.chunks(PART).map(source).collect();
    for (part, (text, _)) in parts.iter().enumerate() {
        write(&folder.join(path(part)), text);
    }
    let mut cargo = common::cargo(&folder, &["build", "--keep-going", "--quiet", "--message-format", "json"]);
    let output = cargo.env("CARGO_TARGET_DIR", target).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut accepted = BTreeSet::new();
    for (part, (_, ranges)) in parts.iter().enumerate() {
        let lines = error_lines(&messages, &path(part));
        assert!(!lines.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        accepted.extend(without(ranges, lines.into_iter()).into_iter().map(|index| part * PART + index));
    }
    accepted
}

/// The lines of a file with an error of a macro. Errors of the compiler itself have a code, such as the one for a
/// missing function.
fn error_lines(messages: &[Value], file: &str) -> Vec<usize> {
    let errors = messages.iter().map(|message| &message["message"]);
    let errors = errors.filter(|error| error["level"] == "error" && error["code"].is_null());
    let spans = errors.flat_map(|error| error["spans"].as_array().into_iter().flatten());
    let spans = spans.filter(|span| span["is_primary"] == true && span["file_name"] == file);
    spans.map(|span| usize::try_from(span["line_start"].as_u64().unwrap()).unwrap()).collect()
}
