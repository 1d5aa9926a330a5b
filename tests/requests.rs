//! What code asks of the API server: what runs ask, and what opctl reads.
//!
//! Each `pub async fn` of `tests/requests/cases/*.rs` is a case, and its doc comment has a line for each permission that
//! it needs. All cases are compiled into one crate with kube, and run against a service that records
//! (`tests/requests/recorder.rs`): what they really ask must be what they say. A line with `+` is what another run of
//! the same code may ask, one with `?` what only some clusters want.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Visibility};

/// What a case says of itself.
#[derive(Debug, Default)]
struct Case {
    /// What this run asks.
    asks: BTreeSet<String>,
    /// What another run may ask.
    may_ask: BTreeSet<String>,
    /// What only some clusters want.
    optional: BTreeSet<String>,
}

#[test]
fn cases_ask_what_they_say() {
    let cases = cases();
    let folder = write_recorder(&cases);
    let mut recorded: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in common::output(common::cargo(&folder, &["run", "--quiet"])).lines() {
        let (case, permission) = line.split_once('\t').unwrap();
        recorded.entry(case.into()).or_default().insert(permission.into());
    }
    let mut differences = String::new();
    for (name, case) in &cases {
        let asked = recorded.remove(name).unwrap_or_default();
        for permission in asked.difference(&case.asks) {
            writeln!(differences, "{name}: it asks, and does not say so: {permission}").unwrap();
        }
        for permission in case.asks.difference(&asked) {
            writeln!(differences, "{name}: it does not ask: {permission}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(recorded.is_empty(), "{recorded:?}");
}

fn sources() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests/cases");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// Every case by its file and its function.
fn cases() -> BTreeMap<String, Case> {
    let mut cases = BTreeMap::new();
    for (file, text) in sources() {
        for item in syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items {
            let Item::Fn(function) = item else { continue };
            if matches!(function.vis, Visibility::Public(_)) {
                cases.insert(format!("{file}::{}", function.sig.ident), said(&function.attrs));
            }
        }
    }
    cases
}

fn said(attributes: &[Attribute]) -> Case {
    let mut case = Case::default();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { continue };
        let line = text.value();
        let line = line.trim();
        if let Some(line) = line.strip_prefix("+ ") {
            case.may_ask.insert(line.into());
        } else if let Some(line) = line.strip_prefix("? ") {
            case.optional.insert(line.into());
        } else if !line.is_empty() && !line.ends_with('.') {
            case.asks.insert(line.into());
        }
    }
    case
}

/// Writes the crate that runs all cases.
fn write_recorder(cases: &BTreeMap<String, Case>) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let folder = common::operators_target().join("requests");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let sources = sources();
    let modules: String = sources.keys().map(|file| format!("mod {file};\n")).collect();
    let runs: String = cases.keys().map(|case| format!("    (\"{case}\", |client| {case}(client).boxed()),\n")).collect();
    let main = read("recorder.rs").replace("/* modules */", &modules).replace("/* cases */", &runs);
    // A file that a case of another day is in is no module, so that it is not compiled.
    for (file, text) in sources {
        write(&folder.join(format!("src/{file}.rs")), &text);
    }
    write(&folder.join("src/main.rs"), &main);
    write(&folder.join("Cargo.toml"), &read("oracle.toml"));
    write(&folder.join("Cargo.lock"), &read("Cargo.lock"));
    folder
}

/// A file that is the same keeps its time, so that cargo does not compile for nothing.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
