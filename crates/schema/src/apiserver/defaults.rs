//! Checks defaults: each must fit its schema, contain no fields that the API server would drop, and follow the CEL
//! rules.
//!
//! Source: `pkg/apiserver/schema/defaulting/validation.go` and `pkg/apiserver/schema/pruning`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::cel::{self, Verdict};
use super::value::Rule;
use super::{Finding, each, items, object, property, shown, value, values};
use crate::apiserver::diagnostics::{OP326, OP327};
use opctl_model::diagnostic::Severity;
use opctl_model::{CrdLocation, Step};

pub fn check(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    each(root, &mut Vec::new(), &mut |schema, path| {
        let Some(default) = &schema.default else { return };
        let at = shown(path);
        let location = CrdLocation::Schema(path.to_vec());
        let finding = if let Some(field) = dropped(&default.0, Some(schema), "") {
            let message = format!(
                "the default of {at} has the field `{field}`, which its schema has not: the API server would drop it"
            );
            Finding::error(OP327, location, message)
                .help("is the field skipped or renamed for one direction only? Both must have one name")
        } else if let Some(mismatch) =
            value::check(&default.0, schema).into_iter().find(|mismatch| mismatch.rule != Rule::Unknown)
        {
            let inside =
                if mismatch.path.is_empty() { String::new() } else { format!("{}: ", object::shown(&mismatch.path)) };
            let problem = mismatch.problem;
            Finding::error(
                OP326,
                location,
                format!("the default of {at} does not fit its own schema: {inside}{problem}"),
            )
            .help("change the default or what restricts the field")
        } else {
            return;
        };
        findings.push(Finding { severity: severity(path), ..finding });
    });
}

/// Requires that all rules of the schema compile.
pub fn check_rules(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    each(root, &mut Vec::new(), &mut |schema, path| {
        let Some(default) = &schema.default else { return };
        for broken in cel::evaluate_default(schema, &default.0) {
            let problem = match broken.verdict {
                Verdict::Refused(message) | Verdict::Failed(message) => message,
                Verdict::Unknown(_) => continue,
            };
            let inside =
                if broken.path.is_empty() { String::new() } else { format!("{}: ", object::shown(&broken.path)) };
            let message = format!("the default of {} breaks a rule: {inside}{problem}", shown(path));
            let finding = Finding::error(OP326, CrdLocation::Schema(path.to_vec()), message)
                .help(format!("change the default, or the rule: `{}`", cel::one_line(&broken.rule.rule)));
            findings.push(Finding { severity: severity(path), ..finding });
        }
    });
}

/// The API server does not check values of maps. It sets such a default, and then rejects the object.
fn severity(path: &[Step]) -> Severity {
    if path.contains(&Step::Values) { Severity::Warning } else { Severity::Error }
}

/// The first field of a value that is missing in the schema, as `a.b`.
fn dropped(value: &Value, schema: Option<&JSONSchemaProps>, at: &str) -> Option<String> {
    let preserves = schema.is_some_and(|schema| schema.x_kubernetes_preserve_unknown_fields == Some(true));
    let is_embedded = schema.is_some_and(|schema| schema.x_kubernetes_embedded_resource == Some(true));
    match value {
        Value::Object(map) => map.iter().find_map(|(name, value)| {
            if is_embedded && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                return None;
            }
            let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let known = schema.and_then(|schema| property(schema, name));
            match schema.filter(|schema| schema.additional_properties.is_some()) {
                _ if known.is_some() => dropped(value, known, &at),
                Some(schema) => dropped(value, values(schema), &at),
                None if preserves => None,
                None => Some(at),
            }
        }),
        Value::Array(_) if preserves && schema.and_then(items).is_none() => None,
        Value::Array(list) => list.iter().find_map(|value| dropped(value, schema.and_then(items), at)),
        _ => None,
    }
}
