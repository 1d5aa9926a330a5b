//! The files of a bundle other than the CSV: further objects, the labels of the image, and the scorecard configuration.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::deployments::Deployments;
use super::draft::{Draft, Fate};
use super::object::Object;
use crate::diagnostics::{OP500, OP501, OP502, OP504, OP508};
use opctl_model::diagnostic::Span;
use opctl_model::yaml;

/// The kinds that OLM installs from files, besides CRDs, roles and bindings; `true` for namespaced ones, and `true` if
/// every cluster has the kind. From `pkg/lib/bundle/supported_resources.go` of operator-registry.
const KINDS: [(&str, bool, bool); 16] = [
    ("ConfigMap", true, true),
    ("ConsoleCLIDownload", false, false),
    ("ConsoleLink", false, false),
    ("ConsolePlugin", false, false),
    ("ConsoleQuickStart", false, false),
    ("ConsoleYAMLSample", false, false),
    ("NetworkPolicy", true, true),
    ("PodDisruptionBudget", true, true),
    ("PodMonitor", true, false),
    ("PriorityClass", false, true),
    ("PrometheusRule", true, false),
    ("Secret", true, true),
    ("Service", true, true),
    ("ServiceAccount", true, true),
    ("ServiceMonitor", true, false),
    ("VerticalPodAutoscaler", true, false),
];

/// `true` for namespaced kinds; `None` if a bundle cannot contain the kind.
pub fn is_namespaced(kind: &str) -> Option<bool> {
    match kind {
        "CustomResourceDefinition" | "ClusterRole" | "ClusterRoleBinding" => Some(false),
        "Role" | "RoleBinding" => Some(true),
        kind => KINDS.iter().find(|(known, ..)| *known == kind).map(|(_, is_namespaced, _)| *is_namespaced),
    }
}

const GROUPS: [&str; 7] = [
    "",
    "autoscaling.k8s.io",
    "console.openshift.io",
    "monitoring.coreos.com",
    "networking.k8s.io",
    "policy",
    "scheduling.k8s.io",
];

/// Writes all remaining objects to files, or reports them.
pub fn others(draft: &mut Draft, deployments: &Deployments) {
    for (at, object) in draft.objects.iter().enumerate() {
        if object.is("apiextensions.k8s.io", "CustomResourceDefinition") {
            let mut crd = object.value.clone();
            without_injection(&mut crd);
            draft.keep(at, crd);
            continue;
        }
        if draft.is_settled(at) || is_passed_over(object) || is_sample(draft, object) {
            continue;
        }
        if object.is("", "Namespace") && object.name() == deployments.namespace {
            draft.went(at, Fate::Csv("annotation operatorframework.io/suggested-namespace-template"));
            continue;
        }
        let kind = object.kind();
        let known = KINDS.iter().find(|(known, ..)| *known == kind).filter(|_| GROUPS.contains(&object.group()));
        let Some((_, is_namespaced, is_everywhere)) = known else {
            let finding = OP500
                .warning(format!("{} is not in the bundle", object.title()))
                .at(object.name_span(), "OLM does not install objects of this kind")
                .help(instead(object));
            draft.drop(at, finding);
            continue;
        };
        if *is_namespaced && !object.namespace().is_empty() && object.namespace() != deployments.namespace {
            let finding = OP502
                .warning(format!("{} is not in the bundle", object.title()))
                .at(object.span("/metadata/namespace"), "OLM creates objects in the operator's namespace only")
                .help("have the users of the bundle apply it beside the bundle");
            draft.drop(at, finding);
            continue;
        }
        may_be_refused(draft, object, *is_everywhere);
        let mut value = object.value.clone();
        if kind == "ServiceMonitor" {
            without_authority(draft, object, &mut value);
        }
        draft.keep(at, value);
    }
    fixed_namespaces(draft, deployments);
}

/// A file with one object. It has no `---`: OLM's tools would read the text before it as the object.
pub fn document(header: &str, value: &Value) -> String {
    yaml::documents(header, &[value]).replacen("\n---\n", "\n", 1)
}

/// A file with several objects.
pub fn documents(header: &str, values: &[Value]) -> String {
    yaml::documents(header, values)
}

/// The objects in the text of a file.
///
/// # Errors
///
/// If it is not YAML.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    yaml::read_all(text).map_err(|error| error.to_string())
}

/// `true` for the input of the bundle, which it does not contain.
pub fn is_passed_over(object: &Object) -> bool {
    object.is("operators.coreos.com", "ClusterServiceVersion")
        || object.is("scorecard.operatorframework.io", "Configuration")
}

/// `true` if the operator defines the kind of the object.
pub fn is_sample(draft: &Draft, object: &Object) -> bool {
    draft
        .all("apiextensions.k8s.io", "CustomResourceDefinition")
        .any(|(_, crd)| crd.text("/spec/group") == object.group() && crd.text("/spec/names/kind") == object.kind())
}

/// OLM writes the certificate of the conversion webhook to the CRD. With the annotation, cert-manager would look for a
/// missing Certificate.
fn without_injection(crd: &mut Value) {
    let Some(metadata) = crd["metadata"].as_object_mut() else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.retain(|key, _| !key.starts_with("cert-manager.io/inject-"));
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Removes the CA of a monitor: the Secret of a Certificate is not in the bundle.
fn without_authority(draft: &mut Draft, monitor: &Object, value: &mut Value) {
    let Some(endpoints) = value.pointer_mut("/spec/endpoints").and_then(Value::as_array_mut) else { return };
    for (number, endpoint) in endpoints.iter_mut().enumerate() {
        let Some(secret) = endpoint.pointer("/tlsConfig/ca/secret/name").and_then(Value::as_str) else { continue };
        let is_issued = draft
            .all("cert-manager.io", "Certificate")
            .any(|(_, certificate)| certificate.text("/spec/secretName") == secret);
        if !is_issued {
            continue;
        }
        let at = monitor.span(&format!("/spec/endpoints/{number}/tlsConfig"));
        endpoint["tlsConfig"] = json!({ "insecureSkipVerify": true });
        let finding = OP501
            .warning(format!("the authority of {} is not in the bundle", monitor.title()))
            .at(at, "in a Secret of cert-manager")
            .help("the operator signs the certificate of its metrics itself, and Prometheus does not verify it");
        draft.findings.push(finding);
    }
}

fn instead(object: &Object) -> &'static str {
    match object.kind() {
        "Namespace" => "the users of the bundle choose the namespace of the operator; create others beside the bundle",
        "Job" | "CronJob" | "StatefulSet" | "DaemonSet" | "Pod" => {
            "have the operator create it when it starts, or make it a Deployment"
        }
        "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding" => {
            "write the rules in the CRD (`x-kubernetes-validations`), or as a webhook"
        }
        "Certificate" | "Issuer" | "ClusterIssuer" => {
            "OLM issues certificates of webhooks only; create others beside the bundle"
        }
        "APIService" => {
            "declare the API in `spec.apiservicedefinitions.owned` of the base CSV; OLM v1 refuses such bundles"
        }
        _ => "have the operator create it, or have the users of the bundle apply it beside the bundle",
    }
}

fn may_be_refused(draft: &mut Draft, object: &Object, is_everywhere: bool) {
    let kind = object.kind();
    let finding = if kind == "NetworkPolicy" {
        OP504
            .warning(format!("{} may be refused", object.title()))
            .at(object.name_span(), "OLM takes NetworkPolicies since 2025, and some catalogs do not")
            .help("leave it out in the overlay for OLM if the bundle is for such a catalog")
    } else if !is_everywhere {
        OP504
            .warning(format!("{} cannot be installed in every cluster", object.title()))
            .at(object.name_span(), format!("without the CRD of {kind}, OLM does not install the bundle"))
            .help("leave it out in the overlay for OLM, or document in `spec.description` of the CSV what the bundle requires")
    } else {
        return;
    };
    draft.findings.push(finding);
}

/// Reports strings with the namespace of the operator, since the user of the bundle chooses another one.
fn fixed_namespaces(draft: &mut Draft, deployments: &Deployments) {
    let namespace = &deployments.namespace;
    let mut found: Vec<Span> = Vec::new();
    for (at, object) in draft.objects.iter().enumerate() {
        let is_file = draft.is_settled(at) && is_namespaced(object.kind()).is_some() && object.group() != RBAC;
        let part = match object.kind() {
            "Deployment" => "/spec/template/spec",
            "CustomResourceDefinition" | "Namespace" => continue,
            _ if is_file && !draft.is_replaced(at) => "",
            _ => continue,
        };
        let mut pointers = Vec::new();
        texts(object.value.pointer(part).unwrap_or(&Value::Null), part, &mut |pointer, text| {
            if pointer != "/metadata/namespace" && has_word(text, namespace) {
                pointers.push(pointer.to_owned());
            }
        });
        found.extend(pointers.iter().map(|pointer| object.span(pointer)));
    }
    found.dedup();
    for span in found {
        let finding = OP508.warning(format!("the namespace `{namespace}` is hard-coded"))
            .at(span, "the users of the bundle choose the namespace")
            .help("in a Deployment, take it from a variable with `fieldRef: {fieldPath: metadata.namespace}`: `$(VARIABLE)` in arguments")
            .help(format!("or require the namespace `{namespace}`, and document it in `spec.description` of the CSV"));
        draft.findings.push(finding);
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// Calls the function with all strings in a value and their JSON pointers.
fn texts(value: &Value, pointer: &str, see: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => see(pointer, text),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(item, &format!("{pointer}/{at}"), see))
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                texts(value, &format!("{pointer}/{}", super::object::escape(key)), see);
            }
        }
        _ => {}
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !word.is_empty()
        && text
            .match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// The labels of the bundle image.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    pub package: &'a str,
    /// Comma-separated.
    pub channels: &'a str,
    pub default_channel: Option<&'a str>,
}

const PREFIX: &str = "operators.operatorframework.io.";

impl Labels<'_> {
    fn own(&self) -> BTreeMap<String, String> {
        let mut own: BTreeMap<String, String> = [
            ("bundle.mediatype.v1", "registry+v1"),
            ("bundle.manifests.v1", "manifests/"),
            ("bundle.metadata.v1", "metadata/"),
            ("bundle.package.v1", self.package),
            ("bundle.channels.v1", self.channels),
            ("metrics.mediatype.v1", "metrics+v1"),
            ("metrics.builder", "opctl"),
            ("metrics.project_layout", "opctl/v1"),
            ("test.mediatype.v1", "scorecard+v1"),
            ("test.config.v1", "tests/scorecard/"),
        ]
        .map(|(key, value)| (format!("{PREFIX}{key}"), value.to_owned()))
        .into();
        let default =
            self.default_channel.map(|channel| (format!("{PREFIX}bundle.channel.default.v1"), channel.to_owned()));
        own.extend(default);
        own
    }

    /// The labels, and those that others have added.
    fn with(&self, existing: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
        let added = existing.filter(|(key, _)| !key.starts_with(PREFIX));
        added.chain(self.own()).collect()
    }
}

/// `metadata/annotations.yaml`. `existing` is the file on disk, whose other keys are kept.
pub fn metadata(labels: &Labels, existing: &Value) -> Value {
    let existing = existing["annotations"].as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = labels.with(existing.map(|(key, value)| (key.clone(), text(value))));
    json!({ "annotations": all })
}

/// The Dockerfile of the bundle in a folder. `existing` is the file on disk, whose other labels are kept.
pub fn dockerfile(labels: &Labels, folder: &str, header: &str, existing: &str) -> String {
    let lines = existing.lines().filter_map(|line| line.strip_prefix("LABEL ")?.split_once('='));
    let unquoted = |text: &str| text.trim().trim_matches('"').to_owned();
    let all = labels.with(lines.map(|(key, value)| (unquoted(key), unquoted(value))));
    let mut text = format!("{header}\nFROM scratch\n\n");
    for (key, value) in all {
        let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "+-_./,:=".contains(c)) && !value.is_empty();
        let value = if is_plain { value } else { format!("{value:?}") };
        text.push_str(&format!("LABEL {key}={value}\n"));
    }
    for part in ["manifests", "metadata", "tests/scorecard"] {
        text.push_str(&format!("{}COPY {folder}/{part} /{part}/\n", if part == "manifests" { "\n" } else { "" }));
    }
    text
}

/// `tests/scorecard/config.yaml` with the tests of scorecard.
pub fn scorecard() -> Value {
    let tests = [
        ("basic", "basic-check-spec"),
        ("olm", "olm-bundle-validation"),
        ("olm", "olm-crds-have-validation"),
        ("olm", "olm-crds-have-resources"),
        ("olm", "olm-spec-descriptors"),
        ("olm", "olm-status-descriptors"),
    ];
    let test = |(suite, name): (&str, &str)| {
        json!({
            "image": SCORECARD,
            "entrypoint": ["scorecard-test", name],
            "labels": { "suite": suite, "test": format!("{name}-test") },
        })
    };
    json!({
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": { "name": "config" },
        "stages": [{ "parallel": true, "tests": tests.map(test) }],
    })
}

/// The operator-sdk image with these tests.
const SCORECARD: &str = "quay.io/operator-framework/scorecard-test:v1.42.3";
