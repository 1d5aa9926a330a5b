//! Manifests that may harm a cluster. Source: `object.go` of operator-framework/api (`operator-verify
//! --object_validate`).

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::{place, texts};
use opctl_kustomize::yaml::{Node, Value};

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    for manifest in bundle.others() {
        let node = &manifest.node;
        match manifest.kind() {
            "PodDisruptionBudget" => disruption(node, findings),
            "PriorityClass" if node.get("globalDefault").is_some_and(Node::is_true) => {
                let message = "an operator must not make its PriorityClass the default of the cluster";
                findings
                    .error("object-priority", &place(node, &["globalDefault"]), message)
                    .help("remove `globalDefault`");
            }
            "Role" | "ClusterRole" => node.items_at(&["rules"]).iter().for_each(|rule| rights(rule, findings)),
            _ => {}
        }
    }
}

fn disruption(budget: &Node, findings: &mut Findings) {
    let is = |key: &str, texts: &[&str]| {
        budget.at(&["spec", key]).and_then(Node::as_text).is_some_and(|text| texts.contains(&text))
    };
    let is_zero = matches!(budget.at(&["spec", "maxUnavailable"]).map(|node| &node.value), Some(Value::Number(number)) if number.as_i64() == Some(0));
    if is_zero || is("maxUnavailable", &["0%"]) {
        let span = place(budget, &["spec", "maxUnavailable"]);
        findings.error("object-disruption", &span, "with `maxUnavailable` 0, no node of these Pods can be drained");
    }
    if is("minAvailable", &["100%"]) {
        let span = place(budget, &["spec", "minAvailable"]);
        findings.error("object-disruption", &span, "with `minAvailable` 100%, no node of these Pods can be drained");
    }
}

const DEFAULTS: [&str; 8] =
    ["privileged", "restricted", "anyuid", "hostaccess", "hostmount-anyuid", "hostnetwork", "node-exporter", "nonroot"];

fn rights(rule: &Node, findings: &mut Findings) {
    let has = |key: &str, words: &[&str]| texts(rule, key).any(|word| words.contains(&word));
    if has("apiGroups", &["policy"])
        && has("resources", &["poddisruptionbudgets"])
        && has("verbs", &["*", "create", "update", "patch"])
    {
        let message = "the role permits changes of PodDisruptionBudgets, which may stop nodes from being drained";
        findings.warning("object-rights", &place(rule, &["resources"]), message);
    }
    if has("apiGroups", &["security.openshift.io"])
        && has("resources", &["securitycontextconstraints"])
        && has("verbs", &["*", "delete", "update", "patch"])
        && has("resourceNames", &DEFAULTS)
    {
        let message = "the role permits changes of the default SecurityContextConstraints of OpenShift";
        findings.error("object-rights", &place(rule, &["resourceNames"]), message);
    }
}
