//! Requests to the API server that opctl derives from the source of an operator.
//!
//! Each `tests/inference/<case>.rs` has one way to send requests. All are modules of one crate, with `kinds.rs`, and
//! their requests are recorded next to them. A case with a `pub async fn run(client: kube::Client)` can also be
//! compiled and run. `SNAPSHOTS=overwrite` updates the records.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{self, Diagnostic, Span};
use opctl_model::project::Tree;
use opctl_model::{Reach, Request};
use opctl_source as source;

const CARGO: &str = "[package]\nname = \"cases\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
    [dependencies]\nfutures = \"0.3\"\nk8s-openapi = { version = \"*\", features = [\"latest\", \"schemars\"] }\n
    kube = { version = \"*\", features = [\"derive\", \"runtime\"] }\nkube-client = \"*\"\nkube-runtime = \"*\"\n
    schemars = \"*\"\nserde = \"1\"\nserde_json = \"1\"\n
    tokio = \"1\"\ntracing = \"0.1\"\nasync-trait = \"0.1\"\nanyhow = \"1\"\nhttp = \"1\"\n";

#[test]
fn every_case_asks_what_stands_beside_it() {
    let cases = cases();
    assert!(cases.len() > 60, "{} cases", cases.len());
    let mut tree = Tree::at(folder().join("nowhere"));
    tree.lay_over("Cargo.toml", CARGO);
    let modules = cases.keys().map(|case| format!("pub mod {case};\n")).collect::<String>();
    tree.lay_over("src/lib.rs", modules + "pub mod kinds;\n");
    tree.lay_over("src/kinds.rs", std::fs::read_to_string(folder().join("kinds.rs")).unwrap());
    for (case, text) in &cases {
        tree.lay_over(format!("src/{case}.rs"), text);
    }
    let found = source::read_requests(&tree, "");

    let mut differences = String::new();
    for case in cases.keys() {
        let path = format!("src/{case}.rs");
        let mut asked = String::new();
        for request in found.operator.requests.iter().filter(|request| request.span.file.path == path) {
            writeln!(asked, "{}", line(request)).unwrap();
        }
        let is_here = |told: &&Diagnostic| told.span.as_ref().is_some_and(|(span, _)| span.file.path == path);
        let told: Vec<Diagnostic> = found.diagnostics.iter().filter(is_here).cloned().collect();
        asked.push_str(&diagnostic::render(&told, false));
        let beside = folder().join(format!("{case}.txt"));
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            std::fs::write(&beside, &asked).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if asked != expected {
            writeln!(differences, "tests/inference/{case}.rs\n--- expected\n{expected}--- found\n{asked}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn the_example_asks_what_its_markers_grant() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    let found = source::read_requests(&Tree::at(root), "");
    assert!(found.diagnostics.is_empty(), "{}", diagnostic::render(&found.diagnostics, false));
    type Grants = BTreeSet<(String, String, String)>;
    // The runtime's markers only grant its own requests.
    let [granted, of_runtime] = [false, true].map(|of_runtime| {
        let mut granted = Grants::new();
        for rule in found.operator.rbac.iter().filter(|rule| rule.is_of_runtime == of_runtime) {
            let resources = |group| rule.resources.iter().map(move |resource| (group, resource));
            for (group, resource) in rule.groups.iter().flat_map(resources) {
                let group = if group == "core" { "" } else { group };
                granted.extend(rule.verbs.iter().map(|verb| (group.into(), resource.clone(), verb.clone())));
            }
        }
        granted
    });
    let asked = found.operator.requests.iter().filter(|request| !request.optional);
    let asked: Grants =
        asked.map(|request| (request.group.clone(), request.resource.clone(), request.verb.into())).collect();
    let asked: Grants = asked.difference(&of_runtime).cloned().collect();
    assert_eq!(asked, granted, "{}", found.operator.requests.iter().map(|it| line(it) + "\n").collect::<String>());
}

/// Such as `9:12 Api::list: list deployments.apps in the cluster`.
fn line(request: &Request) -> String {
    let at = |span: &Span| {
        let (line, column) = span.line_column();
        format!("{line}:{column}")
    };
    let group = if request.group.is_empty() { String::new() } else { format!(".{}", request.group) };
    let reach = match &request.reach {
        Reach::Cluster => "in the cluster".into(),
        Reach::Namespace(name) => format!("in {name}"),
        Reach::SomeNamespace => "in a namespace".into(),
        Reach::Unknown => "somewhere".to_string(),
    };
    let within = request.within.as_ref().map(|within| format!(", within {}", at(within))).unwrap_or_default();
    let optional = if request.optional { ", perhaps" } else { "" };
    let Request { verb, resource, by, .. } = request;
    format!("{} {by}: {verb} {resource}{group} {reach}{within}{optional}", at(&request.span))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inference")
}

/// The text of every case by name.
fn cases() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let cases = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let named = cases.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_string(), path));
    named
        .filter(|(name, _)| name != "kinds")
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect()
}
