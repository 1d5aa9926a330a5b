//! Twenty realistic operators: `tests/large/<operator>` is compiled with the latest kube and read by opctl, and the
//! CRDs must be equal as values. Each has a function `crds`, like a `crdgen`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::Tree;
use opctl_source::emit;
use opctl_source::{self as source, Source};
use serde_json::Value;

use crate::differ::differ;
use crate::{common, oracle};

#[test]
fn crds_of_whole_operators_equal_those_of_the_compiled_types() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/large");
    let folder = common::operators_target().join("large");
    let _ = fs::remove_dir_all(folder.join("src"));
    let mut operators = Vec::new();
    for file in walkdir::WalkDir::new(&cases).min_depth(1).sort_by_file_name().into_iter().map(Result::unwrap) {
        let path = file.path().strip_prefix(&cases).unwrap();
        let target = folder.join("src").join(path);
        if file.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
            if file.depth() == 1 {
                operators.push(path.to_str().unwrap().to_owned());
            }
        } else {
            fs::copy(file.path(), target).unwrap();
        }
    }
    fs::write(folder.join("Cargo.toml"), oracle::manifest("large")).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    let modules: String = operators.iter().map(|operator| format!("mod {operator};\n")).collect();
    let prints: String = operators.iter().map(|operator| format!("    crds.extend({operator}::crds());\n")).collect();
    let main = format!(
        "#![allow(dead_code, unused)]\n{modules}\nfn main() {{\n    let mut crds = Vec::new();\n{prints}    \
         println!(\"{{}}\", serde_json::to_string(&crds).unwrap());\n}}\n"
    );
    fs::write(folder.join("src/main.rs"), main).unwrap();

    let compiled = common::output(common::cargo(&folder, &["run", "--quiet"]));
    let compiled = by_name(serde_json::from_str(&compiled).unwrap());

    let Source { operator, mut diagnostics, .. } = source::read(&Tree::at(&folder), "");
    diagnostics.retain(Diagnostic::is_error);
    assert!(diagnostics.is_empty(), "{}", diagnostic::render(&diagnostics, false));
    let crds = emit::crds(&operator.apis).unwrap_or_else(|problems| panic!("{}", diagnostic::render(&problems, false)));
    let read = by_name(serde_json::to_value(&crds).unwrap());

    assert_eq!(read.keys().collect::<Vec<_>>(), compiled.keys().collect::<Vec<_>>());
    let mut differences = Vec::new();
    for (name, compiled) in &compiled {
        differ(name, compiled, &read[name], &mut differences);
    }
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));
    assert!(operators.len() >= 20, "{operators:?}");
}

fn by_name(crds: Value) -> BTreeMap<String, Value> {
    let Value::Array(crds) = crds else { panic!("not a list") };
    crds.into_iter().map(|crd| (crd["metadata"]["name"].as_str().unwrap().to_owned(), crd)).collect()
}
