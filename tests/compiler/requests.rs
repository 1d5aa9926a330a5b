//! Requests to the API server: all cases of `tests/requests` are compiled into one crate with kube, and run with a
//! service that records requests (`tests/requests/recorder.rs`). They must equal the declared ones. Recorded requests
//! of `tests/inference` must be among those that opctl derives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::OnceLock;

use opctl_model::project::Tree;
use opctl_model::{Reach, Request};
use opctl_source as source;

use crate::asked::{said_of, split};
use crate::common;
use crate::recorder::{Case, Who, cases, write_recorder};

#[test]
fn cases_ask_what_they_say() {
    let cases = cases();
    let recorded = recorded(&cases);
    let mut differences = String::new();
    for (name, case) in &cases {
        let asked = recorded.get(name).cloned().unwrap_or_default();
        let said: BTreeSet<String> = case.asks(Who::ThisRun).cloned().collect();
        for permission in asked.difference(&said) {
            writeln!(differences, "{name}: it asks, and does not say so: {permission}").unwrap();
        }
        for permission in said.difference(&asked) {
            writeln!(differences, "{name}: it does not ask: {permission}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// opctl derives all recorded requests of `tests/inference`. It may derive more, since a run takes only one path.
#[test]
fn no_request_of_an_inference_goes_unnoticed() {
    let cases = cases();
    let recorded = recorded(&cases);
    let recorded: BTreeMap<&str, &BTreeSet<String>> =
        recorded.iter().filter_map(|(case, asked)| Some((case.strip_prefix("inference/")?, asked))).collect();
    let found = source::read_requests(&Tree::at(write_recorder(&cases)), "");
    let mut unnoticed = String::new();
    for (case, asked) in &recorded {
        let path = format!("src/{case}.rs");
        for permission in *asked {
            let (permission, namespace) = split(permission);
            let is_it = |request: &&Request| {
                let covers = match &request.reach {
                    Reach::Cluster | Reach::Unknown => true,
                    Reach::Namespace(name) => namespace == Some(name),
                    Reach::SomeNamespace => namespace.is_some(),
                };
                request.span.file.path == path && said_of(request) == permission && covers
            };
            if found.operator.requests.iter().find(is_it).is_none() {
                writeln!(unnoticed, "tests/inference/{case}.rs: {permission} {namespace:?}").unwrap();
            }
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed}");
    assert!(recorded.len() > 40, "{:?}", recorded.keys());
}

/// The recorded requests of all cases.
fn recorded(cases: &BTreeMap<String, Case>) -> &'static BTreeMap<String, BTreeSet<String>> {
    static RECORDED: OnceLock<BTreeMap<String, BTreeSet<String>>> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let folder = write_recorder(cases);
        let mut recorded: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut cargo = common::cargo(&folder, &["run", "--quiet"]);
        // A case reads its namespace from the environment.
        cargo.env("NAMESPACE", "here");
        for line in common::output(cargo).lines() {
            let (case, permission) = line.split_once('\t').unwrap();
            recorded.entry(case.into()).or_default().insert(permission.into());
        }
        recorded
    })
}
