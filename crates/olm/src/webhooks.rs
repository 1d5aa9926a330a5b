//! Webhook configurations and the conversions of CRDs → `webhookdefinitions` of the CSV.
//!
//! A webhook refers to a Service; the CSV contains the Deployment behind it and the port of its container. opctl
//! follows these references (Service → port → named port of a container), and never guesses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::deployments::{Deployments, containers};
use super::draft::{Draft, Fate};
use super::object::{Object, list, text};
use crate::diagnostics::{OP501, OP506};
use opctl_model::diagnostic::Diagnostic;

/// The webhooks of the CSV.
#[derive(Debug, Default)]
pub struct Webhooks {
    pub definitions: Vec<Value>,
    /// The Deployments that serve webhooks.
    pub deployments: BTreeSet<String>,
    /// The Services of the webhooks, which OLM replaces.
    pub services: BTreeSet<String>,
    /// The DNS names of Certificates for these Services.
    names: BTreeSet<String>,
}

impl Webhooks {
    /// `true` if a Certificate is for one of the Services.
    pub fn is_for(&self, certificate: &Object) -> bool {
        let names = certificate.list("/spec/dnsNames").iter().filter_map(Value::as_str);
        names.into_iter().any(|name| self.names.contains(name))
    }
}

/// The endpoint of a webhook.
struct Target {
    deployment: String,
    /// The indexes of the Service in the objects, and of its port.
    service: (usize, usize),
    port: i64,
    target_port: i64,
}

const GROUP: &str = "admissionregistration.k8s.io";

/// The fields that are copied from a webhook to its definition.
pub const SAME: [&str; 8] = [
    "admissionReviewVersions",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "reinvocationPolicy",
    "rules",
    "sideEffects",
    "timeoutSeconds",
];

pub fn find(draft: &mut Draft, deployments: &Deployments) -> Webhooks {
    let mut webhooks = Webhooks::default();
    let mut used: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (kind, admission) in [
        ("MutatingWebhookConfiguration", "MutatingAdmissionWebhook"),
        ("ValidatingWebhookConfiguration", "ValidatingAdmissionWebhook"),
    ] {
        let configurations: Vec<(usize, &Object)> = draft.all(GROUP, kind).collect();
        for (at, configuration) in configurations {
            draft.went(at, Fate::Csv("webhookdefinitions"));
            for (number, webhook) in configuration.list("/webhooks").iter().enumerate() {
                let pointer = format!("/webhooks/{number}");
                lost_fields(draft, configuration, &pointer, webhook);
                let Some(target) = target(draft, deployments, configuration, &format!("{pointer}/clientConfig")) else {
                    continue;
                };
                let mut definition = Map::new();
                definition.insert("type".into(), admission.into());
                definition.insert("generateName".into(), webhook["name"].clone());
                for field in SAME {
                    definition.extend(webhook.get(field).map(|value| (field.to_owned(), value.clone())));
                }
                let path = webhook.pointer("/clientConfig/service/path").cloned();
                definition.insert("webhookPath".into(), path.unwrap_or_else(|| "/".into()));
                webhooks.add(definition, &target, draft.objects, &mut used);
            }
        }
    }
    conversions(draft, deployments, &mut webhooks, &mut used);
    webhooks.definitions.sort_by(|a, b| {
        let key = |value: &Value| (text(value, "/generateName").to_owned(), text(value, "/type").to_owned());
        key(a).cmp(&key(b))
    });
    // A Service with further ports is also used for something else.
    for (service, ports) in used {
        if draft.objects[service].list("/spec/ports").len() == ports.len() {
            draft.went(service, Fate::Olm("creates a Service for the webhooks of each Deployment".into()));
        }
    }
    webhooks
}

impl Webhooks {
    fn add(
        &mut self,
        mut definition: Map<String, Value>,
        target: &Target,
        objects: &[Object],
        used: &mut BTreeMap<usize, BTreeSet<usize>>,
    ) {
        // Despite its name, this is the port of the Service that OLM creates.
        definition.insert("containerPort".into(), target.port.into());
        definition.insert("targetPort".into(), target.target_port.into());
        definition.insert("deploymentName".into(), target.deployment.clone().into());
        self.definitions.push(definition.into());
        self.deployments.insert(target.deployment.clone());
        let service = &objects[target.service.0];
        let (name, namespace) = (service.name(), service.namespace());
        self.services.insert(name.to_owned());
        self.names.extend(["svc", "svc.cluster.local"].map(|end| format!("{name}.{namespace}.{end}")));
        used.entry(target.service.0).or_default().insert(target.service.1);
    }
}

/// Reports fields that a definition cannot contain.
fn lost_fields(draft: &mut Draft, configuration: &Object, pointer: &str, webhook: &Value) {
    let name = text(webhook, "/name").to_owned();
    let mut lost = |field: &str, label: &str, help: &str| {
        let pointer = format!("{pointer}/{}", field.replace('.', "/"));
        let finding = OP501
            .warning(format!("`{field}` of the webhook `{name}` is not in the bundle"))
            .at(configuration.span(&pointer), label)
            .help(help);
        draft.findings.push(finding);
    };
    let is_set = |field: &str| webhook.get(field).is_some_and(|value| *value != json!({}) && *value != json!([]));
    if is_set("namespaceSelector") {
        let help = "select by `objectSelector`, or have the program of the operator ignore other namespaces";
        lost("namespaceSelector", "OLM selects the namespaces of the OperatorGroup", help);
    }
    if is_set("matchConditions") {
        let help = "check the conditions in the operator, and allow requests that do not match";
        lost("matchConditions", "OLM has no field for it, so the webhook is called for every object", help);
    }
    if webhook["clientConfig"].get("caBundle").is_some() {
        lost("clientConfig.caBundle", "OLM sets its own", "remove it in an overlay for OLM");
    }
    let known = |field: &&String| {
        SAME.contains(&field.as_str())
            || ["name", "clientConfig", "namespaceSelector", "matchConditions"].contains(&field.as_str())
    };
    for field in webhook.as_object().into_iter().flat_map(Map::keys).filter(|field| !known(field)) {
        lost(field, "OLM has no field for it", "remove it");
    }
}

/// The Deployment and the ports behind the Service of a `clientConfig`.
fn target(draft: &mut Draft, deployments: &Deployments, object: &Object, pointer: &str) -> Option<Target> {
    let found = followed(draft, deployments, object, pointer);
    found.map_err(|error| draft.findings.push(*error)).ok()
}

fn followed(
    draft: &Draft,
    deployments: &Deployments,
    object: &Object,
    pointer: &str,
) -> Result<Target, Box<Diagnostic>> {
    let refuse = |at: &Object, place: &str, message: String, help: &str| {
        Err(Box::new(OP506.error(message).at(at.span(place), "").help(help)))
    };
    let place = format!("{pointer}/service");
    let Some(reference) = object.value.pointer(&place) else {
        let help =
            "OLM calls webhooks of the operator itself only: serve it with a Service and a Deployment of the project";
        return refuse(object, pointer, "a webhook without a Service cannot be in a bundle".into(), help);
    };
    let (name, namespace) = (text(reference, "/name"), text(reference, "/namespace"));
    let mut services = draft.all("", "Service");
    let Some((number, service)) = services.find(|(_, it)| it.name() == name && it.namespace() == namespace) else {
        let message = format!("the manifests have no Service `{name}` in `{namespace}`, which this webhook calls");
        return refuse(object, &place, message, "list the manifest of the Service in the kustomization");
    };
    let port = reference["port"].as_i64().unwrap_or(443);
    let ports = service.list("/spec/ports");
    let Some(at) = ports.iter().position(|it| it["port"].as_i64() == Some(port)) else {
        let message = format!("{} has no port {port}, which a webhook calls", service.title());
        return refuse(
            service,
            "/spec/ports",
            message,
            "set the port in the Service, or `port` in the webhook's `clientConfig`",
        );
    };
    let selector = service.value["spec"]["selector"].as_object();
    let is_selected = |(_, deployment): &&(usize, &Object)| {
        let labels = &deployment.value["spec"]["template"]["metadata"]["labels"];
        let has = |(key, value): (&String, &Value)| labels.get(key) == Some(value);
        deployment.namespace() == namespace
            && selector.is_some_and(|selector| !selector.is_empty() && selector.iter().all(has))
    };
    let selected: Vec<&(usize, &Object)> = deployments.all.iter().filter(is_selected).collect();
    let deployment = match selected[..] {
        [(_, deployment)] => deployment,
        [] => {
            let message = format!("{} selects the Pods of no Deployment", service.title());
            return refuse(service, "/spec/selector", message, "set the labels of the Deployment's pod template");
        }
        [..] => {
            let names: Vec<String> = selected.iter().map(|(_, it)| format!("`{}`", it.name())).collect();
            let message = format!("{} selects the Pods of several Deployments: {}", service.title(), names.join(", "));
            return refuse(service, "/spec/selector", message, "add a label that only the webhook's Deployment has");
        }
    };
    let target_port = match &ports[at]["targetPort"] {
        Value::Null => Some(port),
        Value::String(name) => container_port(&deployment.value["spec"], name),
        number => number.as_i64(),
    };
    let Some(target_port) = target_port else {
        let name = text(&ports[at], "/targetPort");
        let message =
            format!("{} has no container port `{name}`, the target of {}", deployment.title(), service.title());
        let help = format!("add `name: {name}` to the port of the container");
        return refuse(service, &format!("/spec/ports/{at}/targetPort"), message, &help);
    };
    Ok(Target { deployment: deployment.name().to_owned(), service: (number, at), port, target_port })
}

fn container_port(spec: &Value, name: &str) -> Option<i64> {
    let mut ports = containers(spec).flat_map(|(_, container)| list(container, "/ports"));
    ports.find(|port| text(port, "/name") == name)?["containerPort"].as_i64()
}

/// Creates one definition for all kinds with the same conversion endpoint.
fn conversions(
    draft: &mut Draft,
    deployments: &Deployments,
    webhooks: &mut Webhooks,
    used: &mut BTreeMap<usize, BTreeSet<usize>>,
) {
    type Endpoint = (String, i64, i64, String, Vec<String>);
    let mut endpoints: BTreeMap<Endpoint, (Target, Vec<&Object>)> = BTreeMap::new();
    let crds: Vec<(usize, &Object)> = draft.all("apiextensions.k8s.io", "CustomResourceDefinition").collect();
    for (at, crd) in crds {
        if crd.text("/spec/conversion/strategy") != "Webhook" {
            continue;
        }
        let pointer = "/spec/conversion/webhook/clientConfig";
        let Some(target) = target(draft, deployments, crd, pointer) else { continue };
        draft.went(at, Fate::Csv("webhookdefinitions"));
        let path = match crd.text(&format!("{pointer}/service/path")) {
            "" => "/",
            path => path,
        };
        let versions = crd.list("/spec/conversion/webhook/conversionReviewVersions");
        let versions: Vec<String> = versions.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let key = (target.deployment.clone(), target.port, target.target_port, path.to_owned(), versions);
        endpoints.entry(key).or_insert_with(|| (target, Vec::new())).1.push(crd);
    }
    for ((_, _, _, path, versions), (target, mut crds)) in endpoints {
        crds.sort_by_key(|crd| crd.name());
        let plurals: Vec<&str> = crds.iter().map(|crd| crd.text("/spec/names/plural")).collect();
        let mut definition = Map::new();
        definition.insert("type".into(), "ConversionWebhook".into());
        definition.insert("generateName".into(), format!("c{}.kb.io", plurals.concat()).into());
        definition.insert("admissionReviewVersions".into(), versions.into());
        definition.insert("sideEffects".into(), "None".into());
        definition.insert("webhookPath".into(), path.into());
        definition.insert("conversionCRDs".into(), crds.iter().map(|crd| crd.name()).collect());
        webhooks.add(definition, &target, draft.objects, used);
    }
}
