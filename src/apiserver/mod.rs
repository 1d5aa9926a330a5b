//! CustomResourceDefinition → what an API server says to it: what it would refuse, warn of, or quietly not do. Pure; no
//! cluster is asked.
//!
//! Follows Kubernetes 1.37, `k8s.io/apiextensions-apiserver`: `pkg/apis/apiextensions/validation`,
//! `pkg/apiserver/schema` and `pkg/registry/customresourcedefinition`. Each file here is a topic of it.

mod formats;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};

use crate::diagnostic::Severity;
use crate::model::{Place, Step};

/// Something that the API server says to a CRD. An error: it refuses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub severity: Severity,
    pub code: &'static str,
    pub message: String,
    /// The version that it is about; `None`: all of them.
    pub version: Option<String>,
    pub place: Place,
    pub help: Vec<String>,
}

impl Finding {
    fn error(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), version: None, place, help: Vec::new() }
    }

    fn warning(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message) }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Everything that there is to say, in the order of versions and, within one, of the schema.
pub fn check(crd: &CustomResourceDefinition) -> Vec<Finding> {
    let mut findings = Vec::new();
    for version in &crd.spec.versions {
        let about_version =
            of_version(version).into_iter().map(|finding| Finding { version: Some(version.name.clone()), ..finding });
        findings.extend(about_version);
    }
    findings
}

fn of_version(version: &CustomResourceDefinitionVersion) -> Vec<Finding> {
    let mut findings = Vec::new();
    let schema = version.schema.as_ref().and_then(|validation| validation.open_api_v3_schema.as_ref());
    if let Some(root) = schema {
        formats::check(root, &mut findings);
    }
    findings
}

/// Calls `visit` with every schema that a value can be at, from the outside in. What stands in `anyOf`, `allOf`, `oneOf`
/// and `not` is not among them.
fn each<'a>(schema: &'a JSONSchemaProps, path: &mut Vec<Step>, visit: &mut impl FnMut(&'a JSONSchemaProps, &[Step])) {
    visit(schema, path);
    let mut inside = |step: Step, schema: &'a JSONSchemaProps| {
        path.push(step);
        each(schema, path, visit);
        path.pop();
    };
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        inside(Step::Items, items);
    }
    for (name, property) in schema.properties.iter().flatten() {
        inside(Step::Property(name.clone()), property);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        inside(Step::Values, values);
    }
}
