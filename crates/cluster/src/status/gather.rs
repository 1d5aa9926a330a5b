//! Sends all requests to the cluster in parallel, with a kubectl process for each.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use super::Project;
use crate::connection::{self, ConnectionError, VERSION, VIEW};
use crate::{FailureCause, Kubectl, KubectlError, is_kind, items, list, name};
use opctl_model::threads;

/// The state of a cluster, as far as it concerns a project.
#[derive(Debug, Default)]
pub struct Facts {
    /// Its context and server.
    pub cluster: String,
    /// The objects that the project would apply.
    pub installed: Answer,
    /// Pods, Leases and EndpointSlices in the operator's namespace.
    pub around: Answer,
    /// The custom resources of each CRD of the project.
    pub kinds: Vec<(String, Answer)>,
    /// Warnings about any object.
    pub events: Answer,
    /// Objects that look like those of the project, but are not in it.
    pub others: Answer,
}

/// The result of a request.
#[derive(Debug, Default)]
pub struct Answer {
    pub objects: Vec<Value>,
    /// The reason why the objects may be incomplete.
    pub error: Option<KubectlError>,
}

/// The timeout of each request.
const TIMEOUT: &str = "--request-timeout=10s";

/// The kinds to compare, with kubectl's names.
const COMPARED: [(&str, &str); 9] = [
    ("CustomResourceDefinition", "customresourcedefinitions.apiextensions.k8s.io"),
    ("ClusterRole", "clusterroles.rbac.authorization.k8s.io"),
    ("ClusterRoleBinding", "clusterrolebindings.rbac.authorization.k8s.io"),
    ("Role", "roles.rbac.authorization.k8s.io"),
    ("RoleBinding", "rolebindings.rbac.authorization.k8s.io"),
    ("Deployment", "deployments.apps"),
    ("Service", "services"),
    ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations.admissionregistration.k8s.io"),
    ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
];

impl Facts {
    /// Sends all requests in parallel.
    pub fn gather(project: &Project, kubectl: &Kubectl) -> Result<Self, ConnectionError> {
        let namespace =
            project.of("Deployment").find_map(|it| it["metadata"]["namespace"].as_str()).unwrap_or("default");
        let crds: Vec<&Value> = project.of("CustomResourceDefinition").collect();
        let (mut facts, view, version, names) = thread::scope(|scope| {
            let view = threads::spawn(scope, || kubectl.output(&VIEW, ""));
            let version = threads::spawn(scope, || kubectl.output(&VERSION, ""));
            let installed = threads::spawn(scope, || installed(project, kubectl));
            let around = threads::spawn(scope, || {
                let get = ["get", "pods,leases.coordination.k8s.io,endpointslices.discovery.k8s.io", "-n", namespace];
                Answer::to(kubectl, &[&get[..], &["-o", "json", TIMEOUT]].concat(), "")
            });
            let kinds = crds.iter().map(|crd| threads::spawn(scope, || objects(crd, kubectl)));
            let kinds: Vec<_> = kinds.collect();
            let events = threads::spawn(scope, || {
                Answer::to_raw(kubectl, "/api/v1/events?fieldSelector=type%3DWarning&limit=500")
            });
            let names = all_names(namespace, kubectl);
            let kinds = crds.iter().map(|crd| name(crd).to_owned()).zip(kinds.into_iter().map(threads::join));
            let facts = Self {
                cluster: String::new(),
                installed: threads::join(installed),
                around: threads::join(around),
                kinds: kinds.collect(),
                events: threads::join(events),
                others: Answer::default(),
            };
            (facts, threads::join(view), threads::join(version), names)
        });
        let has_context = view.is_ok();
        let cluster = connection::describe(kubectl, view)?;
        connection::check_answer(version, has_context)?;
        let kinds = facts.kinds.iter_mut().map(|(_, answer)| answer);
        let mut answers = [&mut facts.installed, &mut facts.around, &mut facts.events].into_iter().chain(kinds);
        let failure = answers.find_map(|answer| answer.error.take_if(|error| !is_partial(error)));
        drop(answers);
        if let Some(error) = failure {
            return Err(ConnectionError::Failed { purpose: "read the cluster", error });
        }
        let (names, error) = names;
        let mut others = others(project, &names, namespace, kubectl);
        others.error = others.error.or(error);
        let cluster = cluster.unwrap_or_else(|| "the default cluster of kubectl".into());
        Ok(Self { cluster, others, ..facts })
    }

    /// An installed object, or the reason why it cannot be read.
    pub fn installed(&self, wanted: &Value) -> Result<Option<&Value>, String> {
        let namespace = |object: &Value| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let is_it = |object: &&Value| {
            object["kind"] == wanted["kind"] && name(object) == name(wanted) && namespace(object) == namespace(wanted)
        };
        match (
            self.installed.objects.iter().find(is_it),
            self.installed.denied(wanted["kind"].as_str().unwrap_or_default()),
        ) {
            (None, Some(why)) => Err(why),
            (found, _) => Ok(found),
        }
    }
}

/// `true` if other objects may have been read.
fn is_partial(error: &KubectlError) -> bool {
    matches!(error.cause(), FailureCause::Forbidden(_) | FailureCause::Other)
}

impl Answer {
    fn to(kubectl: &Kubectl, arguments: &[&str], stdin: &str) -> Self {
        match kubectl.run_to_the_end(arguments, stdin) {
            Ok((output, error)) => Self { objects: items(&output.stdout), error },
            Err(error) => Self { objects: Vec::new(), error: Some(error) },
        }
    }

    fn to_raw(kubectl: &Kubectl, path: &str) -> Self {
        Self::to(kubectl, &["get", "--raw", path, TIMEOUT], "")
    }

    /// The reason why objects of a kind could not be read; `None` if they were.
    pub fn denied(&self, kind: &str) -> Option<String> {
        let error = self.error.as_ref()?;
        let FailureCause::Forbidden(denials) = error.cause() else { return Some(error.reason()) };
        let resource = COMPARED.iter().chain(&AROUND).find(|(it, _)| *it == kind).map(|(_, resource)| *resource);
        denials.iter().find(|denial| resource.is_none_or(|it| it == denial.resource)).map(ToString::to_string)
    }

    pub fn of(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| is_kind(object, kind))
    }
}

/// The kinds in the namespace of the operator.
const AROUND: [(&str, &str); 3] =
    [("Pod", "pods"), ("Lease", "leases.coordination.k8s.io"), ("EndpointSlice", "endpointslices.discovery.k8s.io")];

fn installed(project: &Project, kubectl: &Kubectl) -> Answer {
    let compared = |object: &&Value| COMPARED.iter().any(|(kind, _)| is_kind(object, kind));
    let reference = |object: &Value| {
        json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": { "name": name(object), "namespace": object["metadata"]["namespace"] },
        })
    };
    let references: Vec<Value> = project.objects.iter().filter(compared).map(reference).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": references }).to_string();
    Answer::to(
        kubectl,
        &["get", "-f", "-", "--ignore-not-found", "--show-managed-fields", "-o", "json", TIMEOUT],
        &list,
    )
}

/// The objects of a CRD, in the storage version if it is served.
fn objects(crd: &Value, kubectl: &Kubectl) -> Answer {
    let served = list(&crd["spec"]["versions"]).iter().filter(|version| version["served"] == true);
    let Some(version) = served.max_by_key(|version| version["storage"] == true) else { return Answer::default() };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    // From the API server's cache, in a single request.
    Answer::to_raw(kubectl, &format!("/apis/{group}/{}/{plural}?resourceVersion=0", text(&version["name"])))
}

/// The names of all objects of the compared kinds, in the namespace or cluster-scoped, as
/// `clusterrole.rbac.authorization.k8s.io/admin`. Lacks kinds that the user may not list; then there is an error as
/// well.
fn all_names(namespace: &str, kubectl: &Kubectl) -> (Vec<String>, Option<KubectlError>) {
    let resources: Vec<&str> = COMPARED.iter().map(|(_, resource)| *resource).collect();
    // A short table; other formats transfer whole objects.
    let get = ["get", &resources.join(","), "-n", namespace, "--no-headers", "--ignore-not-found", TIMEOUT];
    match kubectl.run_to_the_end(&get, "") {
        Ok((output, error)) => {
            let names = output.stdout.lines().filter_map(|line| line.split_whitespace().next().map(String::from));
            (names.collect(), error)
        }
        Err(error) => (Vec::new(), Some(error)),
    }
}

/// The objects that an earlier release of the project may have applied.
fn others(project: &Project, names: &[String], namespace: &str, kubectl: &Kubectl) -> Answer {
    let is_known = |kind: &str, name: &str| {
        project.objects.iter().any(|object| {
            let of_kind = object["kind"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(kind));
            of_kind && object["metadata"]["name"] == name
        })
    };
    let prefix = format!("{}-", project.name);
    let is_candidate = |full: &&String| {
        let Some((resource, name)) = full.split_once('/') else { return false };
        let kind = resource.split('.').next().unwrap_or_default();
        let is_like_ours = match kind {
            "customresourcedefinition" => name.split_once('.').is_some_and(|(_, group)| project.has_group(group)),
            _ => !project.name.is_empty() && name.starts_with(&prefix),
        };
        is_like_ours && !is_known(kind, name)
    };
    let candidates: BTreeSet<&str> = names.iter().filter(is_candidate).map(String::as_str).collect();
    if candidates.is_empty() {
        return Answer::default();
    }
    let get = ["get", "--ignore-not-found", "-n", namespace, "-o", "json", TIMEOUT];
    Answer::to(kubectl, &[&get[..], &Vec::from_iter(candidates)].concat(), "")
}
