//! Reports references in rendered objects to objects that are not rendered.
//!
//! Objects that may come from elsewhere are ignored or reported as warnings. Kubernetes' built-in objects are known.

mod pods;
mod roles;
mod services;
mod webhooks;

use serde_json::json;

use crate::diagnostics::OP447;
use crate::fields::pod_spec;
use crate::object::{Id, Object};
use crate::yaml::{Node, Value};
use opctl_model::diagnostic::{Code, Diagnostic, Severity};
use opctl_model::names::nearest;
use opctl_model::project::builtin;
use opctl_model::selector::LabelSelector;

/// The objects to check, and the objects that they may refer to.
pub struct Names<'a> {
    /// The objects whose references are checked.
    objects: Vec<&'a Object>,
    /// The objects that may be referenced: `objects`, and those deployed beside them.
    all: Vec<&'a Object>,
    /// The CRDs in `all`.
    crds: Vec<&'a Object>,
    /// The objects may be deployed with another prefix, so any name that an object ever had matches.
    is_lenient: bool,
    pub problems: Vec<Diagnostic>,
}

/// The pod template of a workload, or a pod.
struct Pods<'a> {
    object: &'a Object,
    namespace: String,
    labels: Option<&'a Node>,
    spec: &'a Node,
}

/// A reference by name, and the object that it must resolve to.
struct Reference<'a> {
    code: &'static Code,
    severity: Severity,
    group: &'a str,
    kind: &'a str,
    /// `None` for a cluster-scoped object.
    namespace: Option<&'a str>,
    /// The name in the reference.
    name: &'a Node,
    /// The referrer, as a phrase for messages.
    by: String,
    /// kustomize updates this field when it renames the object.
    is_followed: bool,
}

impl<'a> Names<'a> {
    /// Checks the references in `objects`. `beside` are further objects, under any prefix.
    pub fn of(objects: &'a [Object], beside: Option<&'a [Object]>) -> Self {
        let all: Vec<&Object> = objects.iter().chain(beside.unwrap_or_default()).collect();
        let is_crd = |object: &&Object| object.is("apiextensions.k8s.io", "CustomResourceDefinition");
        let crds = all.iter().copied().filter(is_crd).collect();
        Self { objects: objects.iter().collect(), all, crds, is_lenient: beside.is_some(), problems: Vec::new() }
    }

    pub fn check(mut self) -> Vec<Diagnostic> {
        for object in self.objects.clone() {
            let id = object.id();
            match (id.group.as_str(), id.kind.as_str()) {
                ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => self.binding(object),
                ("", "Service") => self.service(object),
                ("monitoring.coreos.com", "ServiceMonitor") => self.service_monitor(object),
                ("monitoring.coreos.com", "PodMonitor") => self.pod_monitor(object),
                ("networking.k8s.io", "NetworkPolicy") => self.network_policy(object),
                ("networking.k8s.io", "Ingress") => self.ingress(object),
                ("policy", "PodDisruptionBudget") => self.disruption_budget(object),
                ("autoscaling", "HorizontalPodAutoscaler") => self.autoscaler(object),
                ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
                    self.webhooks(object);
                }
                ("apiextensions.k8s.io", "CustomResourceDefinition") => self.conversion(object),
                ("apiregistration.k8s.io", "APIService") => self.api_service(object),
                ("cert-manager.io", "Certificate") => self.certificate(object),
                ("cert-manager.io", "Issuer") => self.issuer(object),
                _ => {}
            }
            if matches!(id.group.as_str(), "" | "apps" | "batch")
                && let Some(pods) = pods(object)
            {
                self.pods(&pods);
            }
            self.version(object);
            self.builtin(object);
        }
        self.problems
    }

    /// Reports the reference if no object has the name.
    fn look_up(&mut self, reference: Reference) {
        let Some(name) = reference.name.as_text().filter(|name| !name.is_empty() && !name.contains("$(")) else {
            return;
        };
        if self.find(reference.group, reference.kind, reference.namespace, name).is_some() {
            return;
        }
        let of_kind = self.all.iter().filter(|object| object.is(reference.group, reference.kind));
        let elsewhere = of_kind.clone().map(|object| object.id()).find(|id| id.name == name);
        let names: Vec<String> = of_kind.map(|object| self.written_name(object, reference.is_followed)).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let message = format!("{} names the {} `{name}`, which is not here", reference.by, reference.kind);
        let problem = Diagnostic { severity: reference.severity, ..reference.code.error(message) };
        let problem = problem.at(reference.name.span.clone(), "");
        self.problems.push(match (elsewhere, near, reference.namespace) {
            (Some(other), _, Some(namespace)) => {
                problem.help(format!("it is in the namespace `{}`, not in `{namespace}`", effective(&other.namespace)))
            }
            (_, Some(near), _) => problem.help(format!("did you mean `{near}`?")),
            _ if names.is_empty() => problem.help(format!("add the {} to what kustomize renders", reference.kind)),
            _ => problem.help(format!("there is: `{}`", names.join("`, `"))),
        });
    }

    /// The name by which a file must refer to the object.
    fn written_name(&self, object: &Object, is_followed: bool) -> String {
        if is_followed || self.is_lenient { object.first_id().name } else { object.id().name }
    }

    fn find(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<&'a Object> {
        let fits = |id: &Id| {
            id.group == group
                && id.kind == kind
                && id.name == name
                && namespace.is_none_or(|namespace| effective(&id.namespace) == effective(namespace) || self.is_lenient)
        };
        let found = |object: &&&Object| {
            object.is(group, kind) && fits(&object.id()) || self.is_lenient && object.past.iter().any(fits)
        };
        self.all.iter().find(found).copied()
    }

    /// `true` if an object here is the namespace, or is or was in it.
    fn owns_namespace(&self, namespace: &str) -> bool {
        let lives = |id: Id| !id.is_cluster_scoped() && effective(&id.namespace) == effective(namespace);
        let is = |id: Id| id.kind == "Namespace" && id.group.is_empty() && id.name == namespace;
        self.all.iter().any(|object| object.ids().any(|id| lives(id.clone()) || is(id)))
    }

    /// The pods and pod templates in a namespace.
    fn pods_in(&self, namespace: &str) -> Vec<Pods<'a>> {
        let in_it = |pods: &Pods| self.is_lenient || effective(&pods.namespace) == effective(namespace);
        self.all.iter().filter_map(|object| pods(object)).filter(in_it).collect()
    }

    /// Reports unknown kinds and versions in Kubernetes' own groups. Only stable versions are known.
    fn builtin(&mut self, object: &Object) {
        let id = object.id();
        let group = if id.group.is_empty() { "core" } else { &id.group };
        let is_stable = id.version.strip_prefix('v').is_some_and(|number| number.parse::<u8>().is_ok());
        let versions: Vec<&str> =
            builtin::in_group(group).filter(|known| known.kind == id.kind).map(|known| known.version).collect();
        if versions.contains(&id.version.as_str()) {
            return;
        }
        let place = |key: &str| object.node.get(key).unwrap_or(&object.node).span.clone();
        if !versions.is_empty() {
            if is_stable || id.version.starts_with(versions[0]) {
                let message = format!("Kubernetes has no version `{}` of `{}`", id.version, id.kind);
                let problem = OP447.error(message).at(place("apiVersion"), "");
                self.problems.push(problem.help(format!("there is: `{}`", versions.join("`, `"))));
            }
            return;
        }
        // The list lacks some kinds, such as reviews, so only likely misspellings are reported.
        let kinds = builtin::in_group(group).map(|known| known.kind);
        if let Some(near) = nearest(&id.kind, kinds).filter(|_| is_stable) {
            let message = format!("Kubernetes has no kind `{}` in `{group}`", id.kind);
            let problem = OP447.error(message).at(place("kind"), "");
            self.problems.push(problem.help(format!("did you mean `{near}`?")));
        }
    }

    /// Reports an object whose version the CRD of its kind does not serve.
    fn version(&mut self, object: &Object) {
        let id = object.id();
        let text = |object: &'a Object, path: &[&str]| object.node.text_at(path).unwrap_or_default();
        let of_group = self.crds.iter().copied().filter(|crd| text(crd, &["spec", "group"]) == id.group);
        let crds: Vec<&'a Object> = of_group.collect();
        if crds.is_empty() {
            return;
        }
        let Some(crd) = crds.iter().find(|crd| text(crd, &["spec", "names", "kind"]) == id.kind) else {
            let kinds: Vec<&str> = crds.iter().map(|crd| text(crd, &["spec", "names", "kind"])).collect();
            let place = object.node.get("kind").unwrap_or(&object.node);
            let message = format!("no CRD here defines the kind `{}` of `{}`", id.kind, id.group);
            let problem = OP447.error(message).at(place.span.clone(), "");
            self.problems.push(problem.help(match nearest(&id.kind, kinds.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is: `{}`", kinds.join("`, `")),
            }));
            return;
        };
        let versions = crd.node.items_at(&["spec", "versions"]);
        let served = versions.iter().filter(|version| version.get("served").is_none_or(Node::is_true));
        let names: Vec<&str> = served.filter_map(|version| version.text_at(&["name"])).collect();
        if names.is_empty() || names.contains(&id.version.as_str()) {
            return;
        }
        let place = object.node.get("apiVersion").unwrap_or(&object.node);
        let message = format!("the CRD of `{}` has no served version `{}`", id.kind, id.version);
        let problem = OP447.error(message).at(place.span.clone(), "");
        self.problems.push(problem.help(format!("write `{}/{}`", id.group, names.join("`, or `"))));
    }
}

/// The empty namespace is `default`.
fn effective(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

fn pods(object: &Object) -> Option<Pods<'_>> {
    let id = object.id();
    if !matches!(id.group.as_str(), "" | "apps" | "batch") {
        return None;
    }
    let path = pod_spec(&id.kind)?;
    let above = &path[..path.len() - 1];
    let labels = object.node.at(above).and_then(|template| template.at(&["metadata", "labels"]));
    Some(Pods { object, namespace: id.namespace, labels, spec: object.node.at(path)? })
}

impl<'a> Pods<'a> {
    /// All containers, including init containers.
    fn containers(&self) -> impl Iterator<Item = &'a Node> + use<'a> {
        let spec = self.spec;
        ["containers", "initContainers"].into_iter().flat_map(move |field| spec.items_at(&[field]))
    }

    fn port_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let ports = self.containers().flat_map(|container| container.items_at(&["ports"]));
        ports.filter_map(|port| port.text_at(&["name"]))
    }
}

/// Evaluates a selector: `matchLabels` and `matchExpressions`, or the plain labels of a Service.
fn selects(selector: &Node, labels: Option<&Node>) -> bool {
    let is_plain = selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none();
    let selector = if is_plain { json!({ "matchLabels": selector.json() }) } else { selector.json() };
    LabelSelector::of(&selector).selects_labels(&labels.map(Node::json).unwrap_or_default())
}

/// `true` if a selector has any requirement.
fn is_restrictive(selector: &Node) -> bool {
    match (selector.get("matchLabels"), selector.get("matchExpressions")) {
        (None, None) => !selector.entries().is_empty(),
        (labels, expressions) => {
            labels.is_some_and(|labels| !labels.entries().is_empty())
                || expressions.is_some_and(|expressions| !expressions.items().is_empty())
        }
    }
}

/// The node at which problems of a selector are reported: its first label, or the selector.
fn first_label(selector: &Node) -> &Node {
    let expressions = || selector.items_at(&["matchExpressions"]).first();
    match selector.get("matchLabels").map_or_else(|| selector.entries().first(), |labels| labels.entries().first()) {
        Some(entry) if !matches!(entry.value.value, Value::List(_)) => &entry.value,
        _ => expressions().unwrap_or(selector),
    }
}

/// A phrase with the label that differs between a selector and its closest candidate.
fn hindrance<'a>(selector: &Node, candidates: impl Iterator<Item = Option<&'a Node>>) -> Option<String> {
    let is_plain = selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none();
    let reference = if is_plain { selector.entries() } else { selector.get("matchLabels")?.entries() };
    let missed = |labels: Option<&Node>| {
        let missed = reference.iter().filter(|entry| {
            labels.and_then(|labels| labels.get(&entry.key)).map(Node::json) != Some(entry.value.json())
        });
        missed.collect::<Vec<_>>()
    };
    let (missed, labels) = candidates.map(|labels| (missed(labels), labels)).min_by_key(|(missed, _)| missed.len())?;
    let entry = missed.first()?;
    let said = match &entry.value.value {
        Value::Text(text) => text.clone(),
        _ => entry.value.json().to_string(),
    };
    Some(match labels.and_then(|labels| labels.text_at(&[&entry.key])) {
        Some(found) => format!("the nearest has `{}: {found}`, not `{said}`", entry.key),
        None => format!("the nearest has no label `{}`", entry.key),
    })
}
