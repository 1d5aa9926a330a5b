//! The cases of requests to the API server, and the crate that runs them.
//!
//! Each `pub async fn` of `tests/requests/cases/*.rs` is a case, with a line for each required permission in its doc
//! comment. A line with `+` is a request that another run of the same code may send, one with `?` is only needed in
//! some clusters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, Item, ItemFn, Lit, Meta, Visibility};

use crate::common;
use crate::write::write;

/// The condition of a request.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Who {
    ThisRun,
    AnotherRun,
    SomeClusters,
}

/// The permissions that a case declares.
pub struct Case(Vec<(Who, String)>);

impl Case {
    pub fn asks(&self, whose: Who) -> impl Iterator<Item = &String> {
        self.0.iter().filter(move |(who, _)| *who == whose).map(|(_, permission)| permission)
    }

    fn of(attributes: &[Attribute]) -> Self {
        let mut said = Vec::new();
        for attribute in attributes {
            let Meta::NameValue(pair) = &attribute.meta else { continue };
            let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { continue };
            let line = text.value();
            let line = line.trim();
            if let Some(line) = line.strip_prefix("+ ") {
                said.push((Who::AnotherRun, line.into()));
            } else if let Some(line) = line.strip_prefix("? ") {
                said.push((Who::SomeClusters, line.into()));
            } else if !line.is_empty() && !line.ends_with('.') {
                said.push((Who::ThisRun, line.into()));
            }
        }
        Self(said)
    }
}

/// Every case by file and function.
pub fn cases() -> BTreeMap<String, Case> {
    let case =
        |(file, function): (String, ItemFn)| (format!("{file}::{}", function.sig.ident), Case::of(&function.attrs));
    functions().into_iter().map(case).collect()
}

/// The functions that are cases, with the names of their files.
pub fn functions() -> Vec<(String, ItemFn)> {
    let mut functions = Vec::new();
    for (file, text) in sources() {
        for item in syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items {
            match item {
                Item::Fn(function) if matches!(function.vis, Visibility::Public(_)) => {
                    functions.push((file.clone(), function));
                }
                _ => {}
            }
        }
    }
    functions
}

pub fn sources() -> BTreeMap<String, String> {
    files("tests/requests/cases")
}

/// The Rust files of a folder by name.
fn files(folder: &str) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// The signature of runnable cases in `tests/inference`.
const RUN: &str = "pub async fn run(client: Client)";

/// Writes the crate that runs all cases.
pub fn write_recorder(cases: &BTreeMap<String, Case>) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let folder = common::operators_target().join("requests");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let sources = sources();
    let inference = files("tests/inference");
    let modules: String = sources.keys().chain(inference.keys()).map(|file| format!("mod {file};\n")).collect();
    let own = cases.keys().map(|case| format!("    (\"{case}\", |client| {case}(client).boxed_local()),\n"));
    let run = |case: &String| {
        let run = format!("let _ = {case}::run(client).await; Ok(())");
        format!("    (\"inference/{case}\", |client| async move {{ {run} }}.boxed_local()),\n")
    };
    let runs = inference.iter().filter(|(_, text)| text.contains(RUN)).map(|(case, _)| run(case));
    let runs: String = own.chain(runs).collect();
    let main = read("recorder.rs").replace("/* modules */", &modules).replace("/* cases */", &runs);
    // The file of a removed case is not a module, so it is not compiled.
    for (file, text) in sources.into_iter().chain(inference) {
        write(&folder.join(format!("src/{file}.rs")), &text);
    }
    write(&folder.join("src/main.rs"), &main);
    write(&folder.join("Cargo.toml"), &read("oracle.toml"));
    write(&folder.join("Cargo.lock"), &read("Cargo.lock"));
    folder
}
