//! Reports duplicate rules, and duplicate values of an enum, in a schema.
//!
//! `x-kubernetes-validations` is a list with the key `rule`, as declared in
//! `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/types_jsonschema.go`: server-side apply rejects duplicate
//! keys, while creating or updating a CRD in another way accepts them.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::value::{brief, same};
use super::{Finding, cel, each, junctors, shown};
use crate::apiserver::diagnostics::{OP352, OP353};
use opctl_model::{CrdLocation, Step};

pub fn check(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    each(root, &mut Vec::new(), &mut |schema, path| {
        rules(schema, path, findings);
        values(schema, path, findings);
    });
}

fn rules(schema: &JSONSchemaProps, path: &[Step], findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    let rules = schema.x_kubernetes_validations.iter().flatten().map(|rule| rule.rule.as_str());
    for rule in rules.filter(|rule| !seen.insert(*rule)).collect::<BTreeSet<_>>() {
        let rule = cel::one_line(rule);
        let message = format!("{} has the rule `{rule}` twice, so server-side apply rejects the CRD", shown(path));
        let finding = Finding::error(OP352, CrdLocation::Schema(path.to_vec()), message);
        findings.push(finding.help("remove one of them: the rules of a type also apply to each field of that type"));
    }
}

fn values(schema: &JSONSchemaProps, path: &[Step], findings: &mut Vec<Finding>) {
    let listed: Vec<_> = schema.enum_.iter().flatten().map(|value| &value.0).collect();
    let is_first = |at: usize| !listed[..at].iter().any(|before| same(before, listed[at]));
    if let Some(at) = (0..listed.len()).find(|at| !is_first(*at)) {
        let message = format!("{} lists the value {} twice", shown(path), brief(listed[at]));
        let finding = Finding::warning(OP353, CrdLocation::Schema(path.to_vec()), message);
        findings.push(
            finding.help("rename or remove one of them: serde deserializes it as the first variant of this name"),
        );
    }
    junctors(schema).for_each(|(_, inner)| values(inner, path, findings));
}
