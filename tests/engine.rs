//! The engine's promise: what it reads from source equals what the compiled types print.
//!
//! Each `tests/engine/<topic>/<case>.rs` holds one construct. All of them are compiled into one crate with kube 5, the
//! oracle, *and* read by opctl, and the CRDs must be equal as values. Where `crd()` panics (`tests/engine/panics`), the
//! engine must refuse, with the message beside the case.

mod common;
#[path = "common/oracle.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use opctl::diagnostic::{self, Diagnostic};
use opctl::emit::{self, Options};
use opctl::model::Api;
use opctl::project::Tree;
use opctl::source::{self, Source};
use serde_json::Value;

use oracle::{differ, manifest};

#[test]
fn crds_equal_those_of_the_compiled_types() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let folder = write_oracle(&cases);
    let compiled = compiled(&folder);

    let Source { operator, diagnostics, .. } = source::read(&Tree::at(&folder), "");
    let mut apis: BTreeMap<&str, Vec<&Api>> = BTreeMap::new();
    for api in &operator.apis {
        apis.entry(&api.place.file.path).or_default().push(api);
    }
    let mut differences = Vec::new();
    for (case, compiled) in &compiled {
        let path = format!("src/{case}.rs");
        let of_case = |diagnostic: &&Diagnostic| {
            diagnostic.place.as_ref().is_some_and(|(span, _)| span.file.path == path) && diagnostic.is_error()
        };
        let problems: Vec<Diagnostic> = diagnostics.iter().filter(of_case).cloned().collect();
        let mut apis = apis.remove(path.as_str()).unwrap_or_default();
        apis.sort_by_key(|api| api.place.range.start);
        let read: Result<Vec<Value>, Vec<Diagnostic>> =
            if problems.is_empty() { apis.into_iter().map(crd).collect() } else { Err(problems) };
        match read {
            _ if case.starts_with("panics/") != compiled.iter().all(Value::is_null) => {
                differences.push(format!("tests/engine/{case}.rs: whether kube panics is not as its folder says"));
            }
            Ok(read) if read.len() == compiled.len() => {
                for (index, (compiled, read)) in compiled.iter().zip(&read).enumerate() {
                    differ(&format!("tests/engine/{case}.rs: [{index}]"), compiled, read, &mut differences);
                }
            }
            Ok(read) => differences.push(format!("tests/engine/{case}.rs: {} kinds were found", read.len())),
            Err(problems) if case.starts_with("panics/") => {
                snapshot(&PathBuf::from(format!("tests/engine/{case}.txt")), &problems, &mut differences);
            }
            Err(problems) => {
                differences.push(format!("tests/engine/{case}.rs: {}", diagnostic::render(&problems, false)));
            }
        }
    }
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));
}

/// The text of every case by its path, e.g. `scalars/bool`.
fn cases() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine");
    let files = walkdir::WalkDir::new(&root).min_depth(2).into_iter().map(Result::unwrap);
    let case = |path: &Path| {
        let case = path.strip_prefix(&root).unwrap().with_extension("").to_str().unwrap().replace('\\', "/");
        (path.extension().is_some_and(|extension| extension == "rs") && !case.starts_with("refused/"))
            .then(|| (case, std::fs::read_to_string(path).unwrap()))
    };
    files.filter_map(|entry| case(entry.path())).collect()
}

/// Writes the crate whose program prints the CRDs of all cases.
fn write_oracle(cases: &BTreeMap<String, String>) -> PathBuf {
    let folder = common::operators_target().join("oracle");
    remove_others(&folder.join("src"), cases);
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/Cargo.lock");
    let mut modules: BTreeMap<&str, String> = BTreeMap::new();
    let mut prints = String::new();
    for (case, text) in cases {
        let (topic, name) = case.split_once('/').expect("a case is a file in a topic");
        writeln!(modules.entry(topic).or_default(), "    pub mod {name};").unwrap();
        for root in roots(text) {
            let crd = format!("{topic}::{name}::{root} as ::kube::CustomResourceExt");
            writeln!(prints, "    print(\"{case}\", <{crd}>::crd);").unwrap();
        }
        write(&folder.join(format!("src/{case}.rs")), text);
    }
    let modules: String = modules.iter().map(|(topic, list)| format!("mod {topic} {{\n{list}}}\n")).collect();
    write(&folder.join("src/main.rs"), &ORACLE.replace("/* modules */", &modules).replace("/* prints */", &prints));
    write(&folder.join("src/words.md"), WORDS);
    write(&folder.join("Cargo.toml"), &manifest("oracle"));
    write(&folder.join("Cargo.lock"), &std::fs::read_to_string(lock).unwrap());
    folder
}

/// Cases of another day must not be read.
fn remove_others(src: &Path, cases: &BTreeMap<String, String>) {
    for entry in walkdir::WalkDir::new(src).into_iter().filter_map(Result::ok) {
        let case = entry.path().strip_prefix(src).unwrap().with_extension("");
        let case = case.to_str().unwrap().replace('\\', "/");
        if entry.file_type().is_file() && !cases.contains_key(&case) && case != "main" {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// What `include_str!` reads in the cases.
const WORDS: &str = "Words from a file.\n\nTwo paragraphs of them.\n";

/// Prints a line a kind: the case, a tab, the CRD; `null` where kube panics.
const ORACLE: &str = r#"#![allow(warnings)]

/* modules */
fn print(case: &str, crd: impl FnOnce() -> ::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition + ::std::panic::UnwindSafe) {
    let crd = ::std::panic::catch_unwind(|| serde_json::to_string(&crd()).unwrap());
    println!("{case}\t{}", crd.unwrap_or("null".into()));
}

fn main() {
    ::std::panic::set_hook(Box::new(|_| {}));
/* prints */}
"#;

/// The CRDs that the compiled types print, by case.
fn compiled(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut cargo = common::cargo(folder, &["run", "--quiet"]);
    // A case more compiles little more.
    cargo.env("CARGO_INCREMENTAL", "1");
    let mut compiled: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in common::output(cargo).lines() {
        let (case, crd) = line.split_once('\t').unwrap();
        compiled.entry(case.into()).or_default().push(serde_json::from_str(crd).unwrap());
    }
    compiled
}

/// The CRD of one version, from the text that opctl writes.
fn crd(api: &Api) -> Result<Value, Vec<Diagnostic>> {
    let crds = emit::crds(std::slice::from_ref(api))?;
    let manifests = emit::manifests(&crds, &[], &Options { namespaced: false, namespaces: Vec::new() }).unwrap();
    let crd = manifests.iter().find(|manifest| manifest.path.starts_with("crd/bases/")).unwrap();
    Ok(opctl::yaml::read(&crd.text).unwrap())
}

fn write(path: &Path, text: &str) {
    // A file that is the same keeps its time, so that cargo does not compile for nothing.
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Compares messages with those beside a case; `SNAPSHOTS=overwrite cargo test --test engine` writes them anew.
fn snapshot(expected: &Path, diagnostics: &[Diagnostic], differences: &mut Vec<String>) {
    let said = diagnostic::render(diagnostics, false);
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(expected);
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(expected, said).unwrap();
    } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
        differences.push(format!("{} (SNAPSHOTS=overwrite accepts it):\n{said}", expected.display()));
    }
}

/// What cannot be derived exactly is refused with its place: `tests/engine/refused/*.rs` and the messages beside them.
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
        tree.lay_over("Cargo.toml", manifest("oracle"));
        tree.lay_over("src/lib.rs", std::fs::read_to_string(&path).unwrap());
        let Source { operator, mut diagnostics, .. } = source::read(&tree, "");
        if let Err(problems) = emit::crds(&operator.apis) {
            diagnostics.extend(problems);
        }
        assert!(diagnostics.iter().any(Diagnostic::is_error), "{} was not refused", path.display());
        snapshot(&path.with_extension("txt"), &diagnostics, &mut differences);
    }
    assert!(differences.is_empty(), "messages changed:\n{}", differences.join("\n"));
}

/// Each of 24 modules imports everything from each other: a search that followed every way would not end.
#[test]
fn globs_that_lead_everywhere_come_to_an_end() {
    let globs: String = (0..24).map(|module| format!("    pub use super::m{module}::*;\n")).collect();
    let modules: String = (0..24).map(|module| format!("mod m{module} {{\n{globs}}}\n")).collect();
    let spec = "#[derive(CustomResource, JsonSchema)]\n#[kube(group = \"g\", version = \"v1\", kind = \"K\")]\n\
        struct S { x: m0::Missing }\n";
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", manifest("oracle"));
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
        tree.lay_over("Cargo.toml", manifest("oracle"));
        tree.lay_over("src/lib.rs", text);
        let diagnostics = source::read(&tree, "").diagnostics;
        diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>()
    };
    assert!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "x", true)).is_empty());
    assert!(codes(version("a", "v1alpha1", "x", false) + &version("b", "v1", "y", true)).is_empty());
    assert_eq!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "y", true)), ["OP022"]);
}

/// Which kinds a compiler has to be asked about: those that an error stopped, also one that another kind met first.
#[test]
fn every_kind_that_an_error_stops_is_named() {
    let kind = |name: &str, field: &str| {
        format!(
            "mod {} {{ use super::*;\n    #[derive(CustomResource, JsonSchema)]\n    #[kube(group = \"g\", version = \"v1\", \
             kind = \"{name}\")]\n    struct S {{ x: {field} }}\n}}\n",
            name.to_lowercase()
        )
    };
    let shared = "struct Shared;\nimpl JsonSchema for Shared { fn json_schema(g: &mut G) -> Schema { make(g) } }\n\
        #[derive(JsonSchema)] struct Of<T> { t: T, shared: Shared }\nmake_custom_resource!(CustomResource);\n";
    let kinds =
        [kind("A", "Shared"), kind("B", "Vec<Shared>"), kind("C", "Of<u8>"), kind("D", "Of<u8>"), kind("E", "u8")];
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", manifest("oracle"));
    tree.lay_over("src/lib.rs", format!("{shared}{}", kinds.concat()));
    let source = source::read(&tree, "");
    let codes: Vec<&str> = source.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["OP021", "OP013"]);
    let stopped = source.operator.underivable.iter().map(|stopped| {
        let codes: Vec<&str> = stopped.reasons.iter().map(|reason| reason.code).collect();
        (stopped.kind.as_ref().map_or("", |(_, kind)| kind), codes.join(" "))
    });
    let stopped: Vec<(&str, String)> = stopped.collect();
    let expected = [("", "OP021"), ("A", "OP013"), ("B", "OP013"), ("C", "OP013"), ("D", "OP013")];
    assert_eq!(stopped, expected.map(|(kind, codes)| (kind, codes.to_owned())));
    assert_eq!(source.operator.apis.len(), 1);
}

/// The names of the types that kube generates in a case: `root`, else `kind`.
fn roots(text: &str) -> Vec<String> {
    let after =
        |chunk: &str, key: &str| Some(chunk.split_once(&format!("{key} = \""))?.1.split('"').next()?.to_string());
    text.split("#[kube(")
        .skip(1)
        .filter_map(|chunk| after(chunk.split("struct").next().unwrap(), "root").or_else(|| after(chunk, "kind")))
        .collect()
}
