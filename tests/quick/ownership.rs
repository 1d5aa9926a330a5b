//! The kinds that belong to a crate itself: small crates, and the verdicts of opctl.
//!
//! A case is a file `tests/ownership/NAME.rs` with the crate's files, each below a line `//- PATH`. A line
//! `kind NAME GROUP [ARGUMENT…]` is replaced by the type of a kind, with each argument in `#[kube(…)]`. A folder
//! without a `Cargo.toml` gets one. `SNAPSHOTS=overwrite cargo test --test quick ownership` records the verdicts next
//! to the case; review them before committing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_source::{self as source, Source};
use snapbox::{Assert, Data};

use crate::oracle::manifest;

#[test]
fn kinds_of_other_projects_are_told_from_own_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ownership");
    let mut cases: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|it| it == "rs"));
    cases.sort();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    let mut problems = String::new();
    for case in cases {
        let tree = read_case(&std::fs::read_to_string(&case).unwrap());
        let verdicts = verdicts(&source::read(&tree, ""));
        let expected = Data::read_from(&case.with_extension("txt"), None).raw();
        let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(verdicts), expected);
        if let Err(difference) = result {
            writeln!(problems, "{}:\n{difference}", case.display()).unwrap();
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

/// `check` also treats a kind of another project as external: its requests and its scope are known.
#[test]
fn requests_for_kinds_of_other_projects_are_known() {
    let text = "kind Widget acme.io namespaced
kind Issuer cert-manager.io
pub async fn run(client: kube::Client) -> kube::Result<()> {
    kube::Api::<Issuer>::all(client).get(\"a\").await.map(drop)
}";
    let source = source::read_requests(&read_case(text), "");
    let asked: Vec<_> = source.operator.requests.iter().map(|it| (it.verb, &*it.group, &*it.resource)).collect();
    assert_eq!(asked, [("get", "cert-manager.io", "issuers")]);
    assert_eq!(source.operator.apis.len(), 1);
}

fn read_case(text: &str) -> Tree {
    let mut tree = Tree::at("nowhere");
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("//- ") {
            files.push((path, String::new()));
            continue;
        }
        if files.is_empty() {
            files.push(("src/lib.rs", String::new()));
        }
        let (_, file) = files.last_mut().unwrap();
        match line.trim_start().strip_prefix("kind ") {
            Some(words) => *file += &kind(words),
            None => writeln!(file, "{line}").unwrap(),
        }
    }
    if !files.iter().any(|(path, _)| *path == "Cargo.toml") {
        tree.lay_over("Cargo.toml", manifest("oracle"));
    }
    for (path, text) in files {
        tree.lay_over(path, text);
    }
    tree
}

fn kind(words: &str) -> String {
    let mut words = words.split_whitespace();
    let (name, group) = (words.next().unwrap(), words.next().unwrap());
    let arguments: String = words.map(|argument| format!(", {argument}")).collect();
    let derives = "serde::Deserialize, serde::Serialize, schemars::JsonSchema";
    let status = match arguments.contains("status") {
        true => format!("#[derive(Clone, Debug, {derives})]\npub struct {name}Status {{}}\n"),
        false => String::new(),
    };
    let version = if arguments.contains("version=") { "" } else { ", version = \"v1\"" };
    format!(
        "#[derive(kube::CustomResource, Clone, Debug, {derives})]\n\
         #[kube(group = \"{group}\", kind = \"{name}\"{version}{arguments})]\n\
         pub struct {name}Spec {{\n    pub size: u8,\n}}\n{status}"
    )
}

fn verdicts(source: &Source) -> String {
    let operator = &source.operator;
    let own: BTreeSet<_> = operator.apis.iter().map(|api| (&api.group, &api.kind)).collect();
    let externals: BTreeSet<_> = operator.externals.iter().map(|it| (&it.group, &it.kind)).collect();
    let mut text = String::new();
    for (verdict, kinds) in [("own", own), ("external", externals)] {
        for (group, kind) in kinds {
            writeln!(text, "{verdict}: {kind} of {group}").unwrap();
        }
    }
    if !source.diagnostics.is_empty() {
        writeln!(text, "\n{}", diagnostic::render(&source.diagnostics, false)).unwrap();
    }
    text
}
