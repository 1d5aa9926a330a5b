//! The engine's promise: what it reads from source equals what the compiled types print. Each file of `tests/engine`
//! is compiled with kube 5 *and* read by opctl, and the CRDs must be equal as values.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use opctl::diagnostic;
use opctl::emit::{self, Options};
use opctl::project::Tree;
use opctl::source::{self, Source};
use serde_json::Value;

const MANIFEST: &str = r#"[package]
name = "oracle"
version = "0.0.0"
edition = "2024"

[dependencies]
chrono = { version = "0.4", features = ["serde"] }
k8s-openapi = { version = "0.29", features = ["v1_37", "schemars"] }
kube = { version = "5", default-features = false, features = ["derive"] }
schemars = { version = "1", features = ["chrono04"] }
serde = { version = "1", features = ["derive", "rc"] }
serde_json = "1"

[workspace]
"#;

#[test]
fn crds_equal_those_of_the_compiled_types() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine");
    let folder = common::operators_target().join("oracle");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
    let lock = cases.join("Cargo.lock");
    if lock.is_file() {
        std::fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    }

    let mut names: Vec<String> = std::fs::read_dir(&cases)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".rs").map(String::from))
        .collect();
    names.sort();
    let mut main = String::from("#![allow(dead_code)]\n");
    let mut prints = String::new();
    for name in &names {
        let text = std::fs::read_to_string(cases.join(format!("{name}.rs"))).unwrap();
        for root in roots(&text) {
            writeln!(prints, "    crds.push(<{name}::{root} as kube::CustomResourceExt>::crd());").unwrap();
        }
        std::fs::write(folder.join(format!("src/{name}.rs")), text).unwrap();
        writeln!(main, "mod {name};").unwrap();
    }
    writeln!(main, "fn main() {{\n    let mut crds = Vec::new();\n{prints}").unwrap();
    main.push_str("    println!(\"{}\", serde_json::to_string(&crds).unwrap());\n}\n");
    std::fs::write(folder.join("src/main.rs"), main).unwrap();

    let compiled = common::output(common::cargo(&folder, &["run", "--quiet"]));
    let compiled: Vec<Value> = serde_json::from_str(&compiled).unwrap();
    let compiled: BTreeMap<String, Value> =
        compiled.into_iter().map(|crd| (crd["metadata"]["name"].as_str().unwrap().to_string(), crd)).collect();

    let Source { operator, diagnostics, .. } = source::read(&Tree::at(&folder), "");
    assert!(diagnostics.is_empty(), "{}", diagnostic::render(&diagnostics, false));
    let crds = emit::crds(&operator.apis).unwrap_or_else(|problems| panic!("{}", diagnostic::render(&problems, false)));
    let read: BTreeMap<String, Value> = emit::manifests(&crds, &[], &Options { namespaced: false })
        .unwrap()
        .iter()
        .filter(|manifest| manifest.path.starts_with("crd/bases/"))
        .map(|manifest| {
            let crd: Value = yaml_serde::from_str(&manifest.text).unwrap();
            (crd["metadata"]["name"].as_str().unwrap().to_string(), crd)
        })
        .collect();

    assert_eq!(read.keys().collect::<Vec<_>>(), compiled.keys().collect::<Vec<_>>());
    let mut differences = Vec::new();
    for (name, compiled) in &compiled {
        differ(name, compiled, &read[name], &mut differences);
    }
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));
    assert!(compiled.len() >= names.len(), "each case declares a kind");
}

/// What cannot be derived exactly is refused with its place: `tests/engine/refused/*.rs` and the messages beside them.
/// `SNAPSHOTS=overwrite cargo test --test engine` writes the messages anew.
#[test]
fn refuses_what_it_cannot_derive() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/refused");
    let mut differences = Vec::new();
    for entry in std::fs::read_dir(&cases).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let mut tree = Tree::at(cases.join("nowhere"));
        tree.lay_over("Cargo.toml", MANIFEST);
        tree.lay_over("src/lib.rs", std::fs::read_to_string(&path).unwrap());
        let Source { operator, mut diagnostics, .. } = source::read(&tree, "");
        if let Err(problems) = emit::crds(&operator.apis) {
            diagnostics.extend(problems);
        }
        assert!(diagnostics.iter().any(diagnostic::Diagnostic::is_error), "{} was not refused", path.display());
        let said = diagnostic::render(&diagnostics, false);
        let expected = path.with_extension("txt");
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            std::fs::write(expected, said).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            differences.push(format!("{}:\n{said}", path.display()));
        }
    }
    assert!(differences.is_empty(), "messages changed (SNAPSHOTS=overwrite accepts them):\n{}", differences.join("\n"));
}

/// Each of 24 modules imports everything from each other: a search that followed every way would not end.
#[test]
fn globs_that_lead_everywhere_come_to_an_end() {
    let globs: String = (0..24).map(|module| format!("    pub use super::m{module}::*;\n")).collect();
    let modules: String = (0..24).map(|module| format!("mod m{module} {{\n{globs}}}\n")).collect();
    let spec = "#[derive(CustomResource, JsonSchema)]\n#[kube(group = \"g\", version = \"v1\", kind = \"K\")]\n\
        struct S { x: m0::Missing }\n";
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", MANIFEST);
    tree.lay_over("src/lib.rs", format!("{modules}{spec}"));
    let diagnostics = source::read(&tree, "").diagnostics;
    assert_eq!(diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), ["OP010"]);
}

#[test]
fn warns_of_served_versions_with_different_fields() {
    let version = |module: &str, name: &str, field: &str, served: bool| {
        format!(
            "mod {module} {{\n    /// {module}\n    #[derive(CustomResource, JsonSchema)]\n    #[kube(group = \"g.example.com\", \
             version = \"{name}\", kind = \"K\", served = {served})]\n    struct S {{ {field}: u8 }}\n}}\n"
        )
    };
    let codes = |text: String| {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", MANIFEST);
        tree.lay_over("src/lib.rs", text);
        let diagnostics = source::read(&tree, "").diagnostics;
        diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>()
    };
    assert!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "x", true)).is_empty());
    assert!(codes(version("a", "v1alpha1", "x", false) + &version("b", "v1", "y", true)).is_empty());
    assert_eq!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "y", true)), ["OP022"]);
}

/// The names of the types that kube generates in a case: `root`, else `kind`.
fn roots(text: &str) -> Vec<String> {
    let after =
        |chunk: &str, key: &str| Some(chunk.split_once(&format!("{key} = \""))?.1.split('"').next()?.to_string());
    text.split("#[kube(")
        .skip(1)
        .map(|chunk| after(chunk.split("struct").next().unwrap(), "root").or_else(|| after(chunk, "kind")).unwrap())
        .collect()
}

/// Every place where two values differ.
fn differ(path: &str, compiled: &Value, read: &Value, differences: &mut Vec<String>) {
    match (compiled, read) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let nothing = Value::String("(absent)".into());
                let (left, right) = (left.get(key).unwrap_or(&nothing), right.get(key).unwrap_or(&nothing));
                differ(&format!("{path}.{key}"), left, right, differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differ(&format!("{path}[{index}]"), left, right, differences);
            }
        }
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
        (left, right) if left == right => {}
        (left, right) => differences.push(format!("{path}:\n  compiled {left}\n  read     {right}")),
    }
}
