//! The configuration: `tests/scorecard/config.yaml` of a bundle.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostics::OP520;
use crate::fields::fold;
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile};

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub service_account: Option<String>,
    /// Stages run in order.
    pub stages: Vec<Stage>,
}

#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Runs the tests of the stage in parallel.
    pub parallel: bool,
    pub tests: Vec<Test>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    pub image: String,
    pub entrypoint: Vec<String>,
    pub labels: BTreeMap<String, String>,
    /// The folder of the Pod that is copied after the test.
    pub storage: Option<String>,
}

const ROOT: [&str; 6] = ["apiVersion", "kind", "metadata", "serviceaccount", "storage", "stages"];
const STAGE: [&str; 2] = ["parallel", "tests"];
const TEST: [&str; 5] = ["image", "entrypoint", "labels", "storage", "uniqueID"];

/// Parses a configuration strictly: unknown fields, which operator-sdk ignores, are errors. As in Go, the case of the
/// keys does not matter: `apiversion` was common.
pub fn parse(file: &Arc<SourceFile>) -> Result<Config, Vec<Diagnostic>> {
    let documents =
        yaml::documents(file, Dialect::Kubectl).map_err(|problem| vec![Diagnostic { code: OP520, ..*problem }])?;
    let mut problems = Vec::new();
    let Some(mut root) = documents.into_iter().next() else {
        return Err(vec![OP520.error(format!("`{}` is empty", file.path))]);
    };
    fold(&mut root, &ROOT.join("|"));
    fold(&mut root, &format!("stages.*.{}", STAGE.join("|")));
    fold(&mut root, &format!("stages.*.tests.*.{}", TEST.join("|")));
    let root = &root;
    for (key, wanted) in [("apiVersion", "scorecard.operatorframework.io/v1alpha3"), ("kind", "Configuration")] {
        if root.text_at(&[key]) != Some(wanted) {
            let node = root.get(key).unwrap_or(root);
            problems.push(problem(node, format!("the configuration of scorecard has `{key}: {wanted}`")));
        }
    }
    known(root, &ROOT, &mut problems);
    let storage = storage(root);
    let stages = root.items_at(&["stages"]).iter().map(|stage| {
        known(stage, &STAGE, &mut problems);
        let tests =
            stage.items_at(&["tests"]).iter().map(|test| read_test(test, storage.as_deref(), &mut problems)).collect();
        Stage { parallel: stage.get("parallel").is_some_and(Node::is_true), tests }
    });
    let stages = stages.collect();
    let service_account = root.text_at(&["serviceaccount"]).filter(|name| !name.is_empty()).map(str::to_owned);
    if problems.is_empty() { Ok(Config { service_account, stages }) } else { Err(problems) }
}

fn read_test(test: &Node, storage_of_all: Option<&str>, problems: &mut Vec<Diagnostic>) -> Test {
    known(test, &TEST, problems);
    let image = test.text_at(&["image"]).unwrap_or_default().to_owned();
    if image.is_empty() {
        problems.push(problem(test, "this test has no image".into()));
    }
    let texts = |node: &Node| node.items().iter().filter_map(|item| item.as_text().map(str::to_owned)).collect();
    let entrypoint: Vec<String> = test.get("entrypoint").map(texts).unwrap_or_default();
    let label = |entry: &yaml::Entry| Some((entry.key.clone(), entry.value.as_text()?.to_owned()));
    let labels = test.get("labels").map(Node::entries).unwrap_or_default().iter().filter_map(label).collect();
    let storage = storage(test).or_else(|| storage_of_all.map(str::to_owned));
    Test { image, entrypoint, labels, storage }
}

fn storage(node: &Node) -> Option<String> {
    node.text_at(&["storage", "spec", "mountPath", "path"]).filter(|path| !path.is_empty()).map(str::to_owned)
}

fn known(node: &Node, keys: &[&str], problems: &mut Vec<Diagnostic>) {
    for entry in node.entries().iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
        let message = format!("scorecard has no setting `{}` here", entry.key);
        problems.push(
            OP520.error(message).at(entry.key_span.clone(), "").help(format!("the settings are: {}", keys.join(", "))),
        );
    }
}

fn problem(node: &Node, message: String) -> Diagnostic {
    OP520
        .error(message)
        .at(node.entries().first().map_or_else(|| node.span.clone(), |entry| entry.key_span.clone()), "")
}
