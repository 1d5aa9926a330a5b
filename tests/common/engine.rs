//! The engine's cases: each `tests/engine/<topic>/<case>.rs` has one construct. Together they are one crate, the
//! oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use opctl_model::Api;
use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::Tree;
use opctl_source::emit::{self, CustomResourceDefinition, Options};
use opctl_source::{self as source, Source};
use serde_json::Value;

use crate::differ::differ;
use crate::extent::takes_all;
use crate::oracles::Oracle;

/// The CRDs of a case in the order of its kinds: `null` if kube panics, and a checksum for a long recorded CRD.
pub type Crds = BTreeMap<String, Vec<Value>>;

/// The CRDs that opctl derives from a case, or its diagnostics.
pub type Derived = BTreeMap<String, Result<Vec<Value>, Vec<Diagnostic>>>;

/// The text of every case that compiles with the releases, by path: `scalars/bool`.
pub fn cases(oracle: &Oracle) -> BTreeMap<String, String> {
    let without = without(oracle);
    let mut cases = every_case();
    assert!(without.iter().all(|case| cases.contains_key(case)), "{} is without a case that is gone", oracle.name());
    cases.retain(|case, _| !without.contains(case));
    cases
}

/// The file with the CRDs that the compiled types printed.
pub fn recorded(oracle: &Oracle) -> PathBuf {
    oracle.file("recorded.txt")
}

/// The cases that do not compile with these releases.
pub fn without(oracle: &Oracle) -> BTreeSet<String> {
    let text = std::fs::read_to_string(oracle.file("without.txt")).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect()
}

pub fn is_recording() -> bool {
    std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite")
}

/// `true` if all cases are compared with all releases.
pub fn takes_all_releases() -> bool {
    is_recording() || takes_all("OPCTL_VERSIONS")
}

/// The text of every case, independent of releases.
pub fn every_case() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine");
    let files = walkdir::WalkDir::new(&root).min_depth(2).into_iter().map(Result::unwrap);
    let case = |path: &Path| {
        let case = path.strip_prefix(&root).unwrap().with_extension("").to_str().unwrap().replace('\\', "/");
        (path.extension().is_some_and(|extension| extension == "rs") && !case.starts_with("refused/"))
            .then(|| (case, std::fs::read_to_string(path).unwrap()))
    };
    files.filter_map(|entry| case(entry.path())).collect()
}

/// The file that cases read with `include_str!`.
const WORDS: &str = "Words from a file.\n\nTwo paragraphs of them.\n";

/// The CRD of one version, parsed from opctl's output.
fn crd(api: &Api) -> Result<Value, Vec<Diagnostic>> {
    let crds = emit::crds(std::slice::from_ref(api))?;
    let manifests = emit::manifests(&crds, &[], &Options { namespaced: false, namespaces: Vec::new() }).unwrap();
    let crd = manifests.iter().find(|manifest| manifest.path.starts_with("crd/bases/")).unwrap();
    Ok(opctl_model::yaml::read(&crd.text).unwrap())
}

/// The names of the types that kube generates in a case: `root`, or else `kind`.
fn roots(text: &str) -> Vec<String> {
    let after =
        |chunk: &str, key: &str| Some(chunk.split_once(&format!("{key} = \""))?.1.split('"').next()?.to_string());
    text.split("#[kube(")
        .skip(1)
        .filter_map(|chunk| after(chunk.split("struct").next().unwrap(), "root").or_else(|| after(chunk, "kind")))
        .collect()
}

/// The files of the crate whose binary prints the CRDs of all cases.
pub fn files(oracle: &Oracle, cases: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut modules: BTreeMap<&str, String> = BTreeMap::new();
    let mut prints = String::new();
    for (case, text) in cases {
        let (topic, name) = case.split_once('/').expect("a case is a file in a topic");
        writeln!(modules.entry(topic).or_default(), "    pub mod {name};").unwrap();
        for root in roots(text) {
            let crd = format!("{topic}::{name}::{root} as ::kube::CustomResourceExt");
            writeln!(prints, "    print(\"{case}\", <{crd}>::crd);").unwrap();
        }
        files.insert(format!("src/{case}.rs"), text.clone());
    }
    let modules: String = modules.iter().map(|(topic, list)| format!("mod {topic} {{\n{list}}}\n")).collect();
    files.insert("src/main.rs".into(), ORACLE.replace("/* modules */", &modules).replace("/* prints */", &prints));
    files.insert("src/words.md".into(), WORDS.into());
    files.insert("Cargo.toml".into(), oracle.manifest("oracle"));
    files.insert("Cargo.lock".into(), oracle.lock());
    files
}

/// Prints each kind in the format of [`parse`]; `null` if kube panics.
const ORACLE: &str = r##"#![allow(warnings)]

/* modules */
fn print(case: &str, crd: impl FnOnce() -> ::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition + ::std::panic::UnwindSafe) {
    let crd = ::std::panic::catch_unwind(|| serde_json::to_string(&crd()).unwrap());
    println!("# {case} {}", crd.unwrap_or("null".into()));
}

fn main() {
    ::std::panic::set_hook(Box::new(|_| {}));
/* prints */}
"##;

/// Parses the oracle's output and the recorded file: `# `, the case and the CRD of each kind, on lines that [`render`]
/// may have wrapped.
pub fn parse(text: &str) -> Crds {
    let mut crds = Crds::new();
    // A new line in JSON never begins with `#` or `\`.
    let text = format!("\n{}", text.replace(WRAP, ""));
    for kind in text.split("\n# ").skip(1) {
        let (case, crd) = kind.split_once(' ').unwrap();
        crds.entry(case.into()).or_default().push(serde_json::from_str(crd).unwrap());
    }
    crds
}

/// Prints one value per line, and wraps long lines between words, so that diffs are readable.
pub fn render(crds: &Crds) -> String {
    let (mut text, mut width) = (String::new(), 0);
    let kinds = crds.iter().flat_map(|(case, crds)| crds.iter().map(move |crd| format!("# {case} {crd:#}\n")));
    for letter in kinds.collect::<String>().chars() {
        if width > 120 && letter == ' ' || width > 150 {
            text.push_str(WRAP);
            width = 0;
        }
        text.push(letter);
        width = if letter == '\n' { 0 } else { width + 1 };
    }
    text
}

/// Marks the continuation of a line.
const WRAP: &str = "\n\\";

/// The CRDs that opctl derives from the files of the oracle.
pub fn derive(oracle: &Oracle, cases: &BTreeMap<String, String>) -> Derived {
    let mut tree = Tree::at("nowhere");
    files(oracle, cases).into_iter().for_each(|(path, text)| tree.lay_over(path, text));
    let Source { operator, diagnostics, .. } = source::read(&tree, "");
    let mut apis: BTreeMap<&str, Vec<&Api>> = BTreeMap::new();
    for api in &operator.apis {
        apis.entry(&api.span.file.path).or_default().push(api);
    }
    let derive = |case: &String| {
        let path = format!("src/{case}.rs");
        let of_case = |diagnostic: &&Diagnostic| {
            diagnostic.span.as_ref().is_some_and(|(span, _)| span.file.path == path) && diagnostic.is_error()
        };
        let problems: Vec<Diagnostic> = diagnostics.iter().filter(of_case).cloned().collect();
        let mut apis = apis.remove(path.as_str()).unwrap_or_default();
        apis.sort_by_key(|api| api.span.range.start);
        if problems.is_empty() { apis.into_iter().map(crd).collect() } else { Err(problems) }
    };
    cases.keys().cloned().zip(cases.keys().map(derive)).collect()
}

/// The replacement of a long CRD.
pub fn checksum(crd: &Value) -> Value {
    let crd: CustomResourceDefinition = serde_json::from_value(crd.clone()).unwrap();
    let text = serde_json::to_string(&crd).unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// Every difference between opctl and the compiled types.
pub fn differences(compiled: &Crds, derived: &Derived) -> Vec<String> {
    let mut differences = Vec::new();
    for (case, derived) in derived {
        let compiled = compiled.get(case).map(Vec::as_slice).unwrap_or_default();
        match derived {
            _ if case.starts_with("panics/") != compiled.iter().all(Value::is_null) => {
                differences.push(format!("tests/engine/{case}.rs: whether kube panics is not as its folder says"));
            }
            Ok(read) if read.len() == compiled.len() => {
                for (index, (compiled, read)) in compiled.iter().zip(read).enumerate() {
                    let read = if compiled.is_string() { &checksum(read) } else { read };
                    differ(&format!("tests/engine/{case}.rs: [{index}]"), compiled, read, &mut differences);
                }
            }
            Ok(read) => differences.push(format!("tests/engine/{case}.rs: {} kinds were found", read.len())),
            Err(_) if case.starts_with("panics/") => {}
            Err(problems) => {
                differences.push(format!("tests/engine/{case}.rs: {}", diagnostic::render(problems, false)));
            }
        }
    }
    differences
}
