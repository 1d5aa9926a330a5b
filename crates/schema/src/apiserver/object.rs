//! CustomResourceDefinition + object → the response of an API server to creating the object with strict field
//! validation, as kubectl requests it.
//!
//! Source: `pkg/registry/customresource` (`strategy.go`, `validator.go`) and `customresource_handler.go` of
//! k8s.io/apiextensions-apiserver. The steps are those of the API server, in its order: [`decode`], [`metadata`], the
//! schema ([`super::value`]), [`embedded`], [`lists`], CEL rules. The API server stops at the first step that fails;
//! this code continues, as long as one error does not cause the next.

mod decode;
mod embedded;
mod lists;
mod metadata;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};
use serde_json::{Map, Value};

use super::cel::{self, Verdict};
use super::value::{self, Rule, brief};
use crate::apiserver::diagnostics::{OP450, OP451, OP453, OP454, OP455, OP458, OP459, OP460, OP461, OP462};
use opctl_model::diagnostic::{Code, Severity};
use opctl_model::names::nearest;

/// A finding about an object. For an error, the API server rejects the object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectFinding {
    pub severity: Severity,
    pub code: &'static Code,
    pub message: String,
    /// The path in the object as given. The path of a missing field is included; then only its parents exist.
    pub path: Vec<ObjectStep>,
    pub help: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectStep {
    Key(String),
    Index(usize),
}

impl ObjectFinding {
    fn error(code: &'static Code, path: &[ObjectStep], message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), path: path.to_vec(), help: Vec::new() }
    }

    fn warning(code: &'static Code, path: &[ObjectStep], message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, path, message) }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `object` is meant to be of the kind that `crd` defines.
pub fn check_object(crd: &CustomResourceDefinition, object: &Value) -> Vec<ObjectFinding> {
    let mut findings = Vec::new();
    let Value::Object(fields) = object else {
        return vec![ObjectFinding::error(OP450, &[], "this is not a Kubernetes object")];
    };
    let version = match version(crd, fields) {
        Ok(version) => version,
        Err(finding) => return vec![finding],
    };
    metadata::check(fields.get("metadata"), metadata::Of::Kind(&crd.spec.scope), &mut Vec::new(), &mut findings);
    let Some(root) = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()) else {
        return findings;
    };
    store(version, root, object.clone(), true, &mut findings);
    findings
}

/// Checks the metadata of an object of any kind, except that namespaces are not checked.
pub fn check_metadata(object: &Value) -> Vec<ObjectFinding> {
    let mut findings = Vec::new();
    metadata::check(object.get("metadata"), metadata::Of::Embedded, &mut Vec::new(), &mut findings);
    findings
}

/// The object as the API server stores it, given valid metadata. Reports findings about its fields.
fn store(
    version: &CustomResourceDefinitionVersion,
    root: &JSONSchemaProps,
    mut object: Value,
    is_created: bool,
    findings: &mut Vec<ObjectFinding>,
) -> Value {
    decode::whole_numbers(&mut object);
    decode::default(&mut object, root);
    decode::prune(&mut object, root, findings);
    decode::prune_nulls(&mut object, Some(root));
    let subresources = version.subresources.as_ref();
    if is_created
        && subresources.is_some_and(|subresources| subresources.status.is_some())
        && let Some(fields) = object.as_object_mut()
        && fields.remove("status").is_some_and(|status| !status.is_null())
    {
        let path = [ObjectStep::Key("status".to_owned())];
        let message = "the API server drops the `status` of an object that is created";
        findings.push(ObjectFinding::warning(OP458, &path, message).help("remove it: the operator writes the status"));
    }
    let mismatches = value::check(&object, root);
    let hides_cel = mismatches.iter().any(|mismatch| mismatch.rule.hides_cel());
    findings.extend(mismatches.into_iter().map(of_mismatch));
    embedded::check(&object, Some(root), &mut Vec::new(), findings);
    lists::check(&object, root, &mut Vec::new(), findings);
    if let Some(scale) = subresources.and_then(|subresources| subresources.scale.as_ref()) {
        replicas(&object, &scale.spec_replicas_path, findings);
    }
    if !hides_cel {
        findings.extend(cel::evaluate_all(root, &object).into_iter().map(of_rule));
    }
    object
}

/// The reason why the API server rejects, or may reject, an object.
#[derive(Debug, PartialEq)]
pub struct Rejection {
    pub path: Vec<ObjectStep>,
    pub message: String,
}

/// The object as the API server stores it, given valid metadata, for a client without strict field validation that may
/// write the status.
pub fn stored(
    version: &CustomResourceDefinitionVersion,
    root: &JSONSchemaProps,
    object: &Value,
) -> (Value, Vec<Rejection>) {
    let mut findings = Vec::new();
    let stored = store(version, root, object.clone(), false, &mut findings);
    // Unknown fields are dropped.
    findings.retain(|finding| finding.code != OP451);
    (stored, findings.into_iter().map(|ObjectFinding { path, message, .. }| Rejection { path, message }).collect())
}

fn of_rule(broken: cel::Broken) -> ObjectFinding {
    let place = shown(&broken.path);
    let is_refused = matches!(broken.verdict, Verdict::Refused(_));
    let finding = match broken.verdict {
        Verdict::Refused(message) => ObjectFinding::error(OP460, &broken.path, format!("{place}: {message}")),
        Verdict::Failed(problem) => {
            let message = format!("{place}: a rule cannot be evaluated, and so refuses the object: {problem}");
            ObjectFinding::error(OP461, &broken.path, message)
        }
        Verdict::Unknown(what) => {
            let message = format!("{place}: a rule cannot be evaluated here: {what}");
            ObjectFinding::warning(OP462, &broken.path, message)
        }
    };
    let finding = finding.help(format!("the rule is `{}`", cel::one_line(&broken.rule.rule)));
    match broken.rule.message.as_deref().map(str::trim).filter(|message| !message.is_empty() && !is_refused) {
        Some(message) => finding.help(format!("it says: {message}")),
        None => finding,
    }
}

/// The version in `apiVersion`, if it is served.
fn version<'a>(
    crd: &'a CustomResourceDefinition,
    fields: &Map<String, Value>,
) -> Result<&'a CustomResourceDefinitionVersion, ObjectFinding> {
    let (group, kind) = (&crd.spec.group, &crd.spec.names.kind);
    let said = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let served: Vec<&CustomResourceDefinitionVersion> =
        crd.spec.versions.iter().filter(|version| version.served).collect();
    let all: Vec<String> = served.iter().map(|version| format!("{group}/{}", version.name)).collect();
    let refuse = |name: &str, message: String, near: Option<&str>| {
        let finding = ObjectFinding::error(OP450, &[ObjectStep::Key(name.to_owned())], message);
        Err(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!("the kind `{kind}` is served as {}", all.join(", "))),
        })
    };
    if said("kind") != kind {
        return refuse("kind", format!("no kind `{}` in the group `{group}`", said("kind")), Some(kind));
    }
    let api_version = said("apiVersion");
    match served.iter().zip(&all).find(|(_, name)| *name == api_version) {
        Some((version, _)) => Ok(version),
        None => {
            let message = format!("the kind `{kind}` is not served as `{api_version}`");
            refuse("apiVersion", message, nearest(api_version, all.iter().map(String::as_str)))
        }
    }
}

fn of_mismatch(mismatch: value::Mismatch) -> ObjectFinding {
    let code = match mismatch.rule {
        Rule::Type => OP453,
        Rule::Required => OP454,
        Rule::Enum | Rule::TooLong | Rule::Other => OP455,
        Rule::Unknown => {
            let message = format!("{}: {} cannot be checked here", shown(&mismatch.path), mismatch.problem);
            return ObjectFinding::warning(OP459, &mismatch.path, message).help("the API server checks it");
        }
    };
    ObjectFinding::error(code, &mismatch.path, format!("{}: {}", shown(&mismatch.path), mismatch.problem))
}

/// Source: `ValidateScaleSpec`.
fn replicas(object: &Value, path: &str, findings: &mut Vec<ObjectFinding>) {
    let names: Vec<&str> = path.trim_start_matches('.').split('.').collect();
    let Some(value) = names.iter().try_fold(object, |value, name| value.get(name)) else { return };
    if !value.as_i64().is_some_and(|replicas| (0..=i64::from(i32::MAX)).contains(&replicas)) {
        let steps: Vec<ObjectStep> = names.iter().map(|name| ObjectStep::Key((*name).to_owned())).collect();
        let message = format!("{}: {} is not a valid number of replicas", shown(&steps), brief(value));
        findings.push(ObjectFinding::error(OP455, &steps, message).help("`scale` of the kind points to this field"));
    }
}

/// A path for messages: `spec.list[0].labels["a.b"]` in backticks, or a phrase for the whole object.
pub fn shown(path: &[ObjectStep]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            ObjectStep::Index(index) => shown.push_str(&format!("[{index}]")),
            ObjectStep::Key(name) if name.chars().any(|c| !(c.is_alphanumeric() || "-_".contains(c))) => {
                shown.push_str(&format!("[{name:?}]"));
            }
            ObjectStep::Key(name) if shown.is_empty() => shown.push_str(name),
            ObjectStep::Key(name) => shown.extend([".", name]),
        }
    }
    if shown.is_empty() { "the object".to_owned() } else { format!("`{shown}`") }
}
