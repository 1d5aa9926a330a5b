//! Checks CRDs and webhooks as an API server does: reports what it would reject, warn about, or accept but ignore. Pure
//! functions, without a cluster.
//!
//! Follows Kubernetes 1.36 and 1.37, `k8s.io/apiextensions-apiserver`: `pkg/apis/apiextensions/validation`,
//! `pkg/apiserver/schema` and `pkg/registry/customresourcedefinition`. Each file here is a topic of it.

mod cel;
mod columns;
mod defaults;
pub mod diagnostics;
mod duplicates;
mod formats;
mod lists;
mod names;
mod naming;
mod object;
mod sample;
mod size;
mod structural;
mod typed;
mod undecodable;
mod value;
pub mod webhooks;

use std::sync::LazyLock;

pub use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

pub use naming::{Claim, NameConflict, Role, SHORT_NAMES, check_together, refused_names, settle};
pub use object::{ObjectFinding, ObjectStep, check_metadata, check_object};
pub(crate) use typed::is_same_rule;
pub use typed::{cel_syntax, deployment_spec, object as decode_object, policy_rule};
pub use undecodable::{Comparison, Problem, Unchecked, Undecodable, check_decoding, undecodable};
pub use value::Field;

use crate::apiserver::diagnostics::OP306;
use opctl_model::diagnostic::{Code, Severity};
use opctl_model::{CrdLocation, Step};

/// A finding about a CRD. For an error, the API server rejects the CRD.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub severity: Severity,
    pub code: &'static Code,
    pub message: String,
    /// The affected version; `None` for all versions.
    pub version: Option<String>,
    pub location: CrdLocation,
    pub help: Vec<String>,
}

impl Finding {
    fn error(code: &'static Code, location: CrdLocation, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), version: None, location, help: Vec::new() }
    }

    fn warning(code: &'static Code, location: CrdLocation, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, location, message) }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// All findings: about the whole CRD first, then by version.
pub fn check(crd: &CustomResourceDefinition) -> Vec<Finding> {
    let mut findings = names::check(crd);
    findings.extend(size::check(crd));
    for version in &crd.spec.versions {
        let found = of_version(version);
        findings.extend(found.into_iter().map(|finding| Finding { version: Some(version.name.clone()), ..finding }));
    }
    findings
}

fn of_version(version: &CustomResourceDefinitionVersion) -> Vec<Finding> {
    let mut findings = names::of_version(version);
    let schema = version.schema.as_ref().and_then(|validation| validation.open_api_v3_schema.as_ref());
    let Some(root) = schema else {
        findings.push(
            Finding::error(OP306, CrdLocation::Argument("schema", 0), "the API server wants a schema, and this kind has none")
                .help("remove `schema = \"disabled\"`; to keep every field as it comes, use `serde_json::Value` with `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`"),
        );
        return findings;
    };
    let has_status = version.subresources.as_ref().is_some_and(|subresources| subresources.status.is_some());
    structural::check(root, has_status, &mut findings);
    lists::check(root, &mut findings);
    duplicates::check(root, &mut findings);
    formats::check(root, &mut findings);
    columns::check(version, root, &mut findings);
    // The API server checks these only if the schema is valid.
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        defaults::check(root, &mut findings);
    }
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        cel::check(root, &mut findings);
    }
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        defaults::check_rules(root, &mut findings);
    }
    findings
}

/// Calls `visit` with every schema that describes a value, from the outside in; excludes those in `anyOf`, `allOf`,
/// `oneOf` and `not`.
fn each<'a>(schema: &'a JSONSchemaProps, path: &mut Vec<Step>, visit: &mut impl FnMut(&'a JSONSchemaProps, &[Step])) {
    visit(schema, path);
    for (step, inner) in inside(schema) {
        path.push(step);
        each(inner, path, visit);
        path.pop();
    }
}

/// The schemas of the direct children of a value.
fn inside(schema: &JSONSchemaProps) -> impl Iterator<Item = (Step, &JSONSchemaProps)> {
    let properties = schema.properties.iter().flatten();
    let properties = properties.map(|(name, property)| (Step::Property(name.clone()), property));
    let items = items(schema).map(|items| (Step::Items, items));
    let values = values(schema).map(|values| (Step::Values, values));
    items.into_iter().chain(properties).chain(values)
}

/// The schemas that restrict a value further, with their keyword.
fn junctors(schema: &JSONSchemaProps) -> impl Iterator<Item = (&'static str, &JSONSchemaProps)> {
    let lists = [("allOf", &schema.all_of), ("anyOf", &schema.any_of), ("oneOf", &schema.one_of)];
    let lists = lists.into_iter().flat_map(|(word, list)| list.iter().flatten().map(move |schema| (word, schema)));
    lists.chain(schema.not.as_deref().map(|schema| ("not", schema)))
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => Some(items),
        _ => None,
    }
}

fn values(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Some(values),
        _ => None,
    }
}

fn property<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    schema.properties.as_ref()?.get(name)
}

/// The schema for values that the API server keeps although no schema describes them.
static ANYTHING: LazyLock<JSONSchemaProps> = LazyLock::new(|| JSONSchemaProps {
    x_kubernetes_preserve_unknown_fields: Some(true),
    ..JSONSchemaProps::default()
});

/// The schema for stored values one step further in.
fn stored_at<'a>(schema: &'a JSONSchemaProps, step: &Step) -> Option<&'a JSONSchemaProps> {
    let described = match step {
        Step::Property(name) => property(schema, name).or_else(|| values(schema)),
        Step::Items => items(schema),
        Step::Values => values(schema),
    };
    let keeps_all = schema.x_kubernetes_preserve_unknown_fields == Some(true)
        || schema.additional_properties == Some(JSONSchemaPropsOrBool::Bool(true));
    described.or_else(|| keeps_all.then_some(&*ANYTHING))
}

fn text(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

fn is_empty<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_none_or(Vec::is_empty)
}

/// A path for messages: `spec.list[].name`, `spec.map.*`.
fn shown(path: &[Step]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            Step::Property(name) if shown.is_empty() => shown.push_str(name),
            Step::Property(name) => shown.extend([".", name]),
            Step::Items => shown.push_str("[]"),
            Step::Values => shown.push_str(".*"),
        }
    }
    if shown.is_empty() { "the kind".into() } else { format!("`{shown}`") }
}
