//! The Deployments of the operator, as OLM creates them: with OLM's certificates, and watching the namespaces of the
//! OperatorGroup.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::CERTIFICATES;
use super::draft::{Draft, Fate};
use super::object::{Object, list, text};
use super::webhooks::Webhooks;
use crate::diagnostics::{OP500, OP501, OP505};

/// The Deployments, with their common settings.
#[derive(Debug, Default)]
pub struct Deployments<'a> {
    /// Each with its index in the objects.
    pub all: Vec<(usize, &'a Object)>,
    /// The namespace in the input, which OLM changes.
    pub namespace: String,
    /// The service accounts that they use.
    pub accounts: BTreeSet<String>,
    /// The namespaces in `WATCH_NAMESPACE`.
    pub watched: BTreeSet<String>,
}

const CONTAINERS: [&str; 2] = ["initContainers", "containers"];

/// The containers of a DeploymentSpec, with their JSON pointers.
pub fn containers(spec: &Value) -> impl Iterator<Item = (String, &Value)> {
    CONTAINERS.into_iter().flat_map(move |list| {
        let containers = super::object::list(spec, &format!("/template/spec/{list}"));
        containers.iter().enumerate().map(move |(at, container)| (format!("/template/spec/{list}/{at}"), container))
    })
}

pub fn containers_mut(spec: &mut Value) -> Vec<&mut Value> {
    let Some(Value::Object(pod)) = spec.pointer_mut("/template/spec") else { return Vec::new() };
    let lists = pod.iter_mut().filter(|(key, _)| CONTAINERS.contains(&key.as_str()));
    lists.filter_map(|(_, list)| list.as_array_mut()).flatten().collect()
}

/// All Deployments. They must be in one namespace, because OLM installs an operator in one.
pub fn find<'a>(draft: &mut Draft<'a>) -> Deployments<'a> {
    let mut found = Deployments { all: draft.all("apps", "Deployment").collect(), ..Deployments::default() };
    let Some((_, first)) = found.all.first() else {
        let error = OP505
            .error("no Deployment found, so the bundle would not install an operator")
            .help("list the manifests of the operator in the kustomization, e.g. `../manager`");
        draft.findings.push(error);
        return found;
    };
    found.namespace = first.namespace().to_owned();
    for (_, deployment) in &found.all {
        if deployment.namespace() != found.namespace {
            let message =
                format!("the Deployments are in two namespaces: {} and {}", first.title(), deployment.title());
            let error = OP505
                .error(message)
                .at(deployment.span("/metadata/namespace"), "OLM installs an operator in one namespace")
                .help("set `namespace` in the kustomization");
            draft.findings.push(error);
        }
        let account = deployment.text("/spec/template/spec/serviceAccountName");
        found.accounts.insert(if account.is_empty() { "default" } else { account }.to_owned());
        for (_, container) in containers(&deployment.value["spec"]) {
            let variables = list(container, "/env").iter();
            let watched = variables.filter(|variable| text(variable, "/name") == WATCH_NAMESPACE);
            let namespaces = watched.flat_map(|variable| text(variable, "/value").split(','));
            found.watched.extend(namespaces.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    found
}

/// The action of OLM that replaces certificates, and permissions to issue them.
pub const ISSUES: &str = "issues the certificates of webhooks";

const WATCH_NAMESPACE: &str = "WATCH_NAMESPACE";

/// A Certificate of cert-manager. OLM does not create its Secret.
struct Issued<'a> {
    at: usize,
    object: &'a Object,
    secret: &'a str,
    /// The component that issues a replacement.
    instead: Option<Fate>,
}

/// The items of `install.spec.deployments`.
pub fn specs(draft: &mut Draft, deployments: &Deployments, webhooks: &Webhooks) -> Vec<Value> {
    let certificates = draft.all("cert-manager.io", "Certificate");
    let issued =
        certificates.map(|(at, object)| Issued { at, object, secret: object.text("/spec/secretName"), instead: None });
    let mut issued: Vec<Issued> = issued.collect();
    let mut items = Vec::new();
    for (at, deployment) in &deployments.all {
        draft.went(*at, Fate::Csv("deployments"));
        if deployment.value["metadata"]["annotations"].as_object().is_some_and(|all| !all.is_empty()) {
            let finding = OP501
                .warning(format!("`annotations` of {} are not in the bundle", deployment.title()))
                .at(deployment.span("/metadata/annotations"), "OLM creates the Deployment with its labels only")
                .help("set annotations in the pod template, `spec.template.metadata.annotations`, or in the base CSV");
            draft.findings.push(finding);
        }
        let mut spec = deployment.value["spec"].clone();
        watch_targets(&mut spec);
        let serves = webhooks.deployments.contains(deployment.name());
        remove_certificates(draft, deployment, &mut spec, serves.then_some(webhooks), &mut issued);
        if serves {
            use_certificates(&mut spec, &webhooks.services);
        }
        let mut item = json!({ "name": deployment.name(), "spec": spec });
        if let Some(labels) = deployment.value["metadata"].get("labels") {
            item["label"] = labels.clone();
        }
        items.push(item);
    }
    settle_certificates(draft, &mut issued);
    items
}

/// Reads the namespaces from the OperatorGroup, which OLM writes to an annotation of the Pods.
fn watch_targets(spec: &mut Value) {
    for container in containers_mut(spec) {
        for variable in items(container, "env").filter(|variable| text(variable, "/name") == WATCH_NAMESPACE) {
            *variable = json!({
                "name": WATCH_NAMESPACE,
                "valueFrom": { "fieldRef": { "fieldPath": "metadata.annotations['olm.targetNamespaces']" } },
            });
        }
    }
}

/// Removes the volumes of Secrets that cert-manager would issue: OLM issues and mounts webhook certificates itself.
fn remove_certificates(
    draft: &mut Draft,
    deployment: &Object,
    spec: &mut Value,
    webhooks: Option<&Webhooks>,
    issued: &mut [Issued],
) {
    let Some(volumes) = spec.pointer_mut("/template/spec/volumes").and_then(Value::as_array_mut) else { return };
    let mut removed: BTreeMap<String, usize> = BTreeMap::new();
    volumes.retain(|volume| {
        let of = issued.iter().position(|issued| {
            issued.secret == text(volume, "/secret/secretName") && issued.object.namespace() == deployment.namespace()
        });
        of.is_none_or(|of| {
            removed.insert(text(volume, "/name").to_owned(), of);
            false
        })
    });
    let is_empty = volumes.is_empty();
    if is_empty && let Some(pod) = spec.pointer_mut("/template/spec").and_then(Value::as_object_mut) {
        pod.remove("volumes");
    }
    let only_one = removed.values().collect::<BTreeSet<_>>().len() == 1;
    for container in containers_mut(spec) {
        let Some(mounts) = container.get_mut("volumeMounts").and_then(Value::as_array_mut) else { continue };
        let mut gone: Vec<(String, usize)> = Vec::new();
        mounts.retain(|mount| {
            let of = removed.get(text(mount, "/name"));
            gone.extend(of.map(|of| (text(mount, "/mountPath").to_owned(), *of)));
            of.is_none()
        });
        if mounts.is_empty()
            && let Some(container) = container.as_object_mut()
        {
            container.remove("volumeMounts");
        }
        for (path, of) in gone {
            let certificate = &mut issued[of];
            if webhooks.is_some_and(|webhooks| only_one || webhooks.is_for(certificate.object)) {
                certificate.instead = Some(Fate::Olm(ISSUES.into()));
                replace_path(container, &path);
            } else if remove_metrics_certificate(container, &path) {
                certificate.instead = Some(Fate::Operator("issues the certificate of its metrics"));
            } else {
                let finding = OP500.warning(format!("{} is not in the bundle", certificate.object.title()))
                    .at(certificate.object.name_span(), format!("{} mounts its Secret at `{path}`", deployment.title()))
                    .help("OLM issues certificates of webhooks only, so the volume was removed: have the program do without it")
                    .help("or mount a Secret that the users of the bundle create");
                draft.drop(certificate.at, finding);
            }
        }
    }
}

/// Replaces the path of the certificate by OLM's.
fn replace_path(container: &mut Value, path: &str) {
    let replace = |text: &mut Value| {
        if let Some(replaced) = text.as_str().and_then(|text| replaced(text, path)) {
            *text = replaced.into();
        }
    };
    for list in ["args", "command"] {
        items(container, list).for_each(replace);
    }
    items(container, "env").filter_map(|variable| variable.get_mut("value")).for_each(replace);
}

/// The items of a list, if it exists.
fn items<'v>(container: &'v mut Value, list: &str) -> impl Iterator<Item = &'v mut Value> {
    container.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Replaces the path in a text by OLM's folder, if it occurs as a whole path.
fn replaced(text: &str, path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let at = text.find(path)?;
    let (before, after) = (&text[..at], &text[at + path.len()..]);
    let is_whole = (before.is_empty() || before.ends_with(['=', ',', ' ']))
        && (after.is_empty() || after.starts_with(['/', ',', ' ']));
    is_whole.then(|| format!("{before}{CERTIFICATES}{after}"))
}

const WEBHOOK_SERVICE: &str = "WEBHOOK_SERVICE";

/// `true` if an argument or variable of a container configures opctl-runtime to issue a certificate.
pub fn issue_certificates(specs: &[Value]) -> bool {
    let argument = |text: &Value| text.as_str().is_some_and(|text| text.starts_with("--webhook-service"));
    specs.iter().flat_map(|item| containers(&item["spec"])).any(|(_, container)| {
        let lists = ["/args", "/command"].into_iter().flat_map(|path| list(container, path));
        list(container, "/env").iter().any(|variable| text(variable, "/name") == WEBHOOK_SERVICE)
            || lists.into_iter().any(argument)
    })
}

/// Sets the variables of opctl-runtime: with `WEBHOOK_SERVICE`, the operator would issue a certificate and write it to
/// the webhook configurations, which OLM manages.
fn use_certificates(spec: &mut Value, services: &BTreeSet<String>) {
    for container in containers_mut(spec) {
        let Some(variables) = container.get_mut("env").and_then(Value::as_array_mut) else { continue };
        let has_folder = variables.iter().any(|variable| text(variable, "/name") == "WEBHOOK_CERT_DIR");
        for variable in variables.iter_mut() {
            if text(variable, "/name") == WEBHOOK_SERVICE && services.contains(text(variable, "/value")) {
                *variable = match has_folder {
                    true => Value::Null,
                    false => json!({ "name": "WEBHOOK_CERT_DIR", "value": CERTIFICATES }),
                };
            }
        }
        variables.retain(|variable| !variable.is_null());
    }
}

/// Makes opctl-runtime issue the certificate for its metrics itself.
fn remove_metrics_certificate(container: &mut Value, path: &str) -> bool {
    let Some(variables) = container.get_mut("env").and_then(Value::as_array_mut) else { return false };
    let count = variables.len();
    variables.retain(|variable| text(variable, "/name") != "METRICS_CERT_PATH" || text(variable, "/value") != path);
    variables.len() < count
}

/// Records the fates of cert-manager's objects: an Issuer shares that of its Certificates, and the Certificate of a CA
/// shares that of the Issuer using it.
fn settle_certificates(draft: &mut Draft, issued: &mut [Issued]) {
    let issuers: Vec<(usize, &Object)> = draft.all("cert-manager.io", "Issuer").collect();
    let is_of = |certificate: &Issued, path: &str, issuer: &Object, other: &str| {
        certificate.object.text(path) == issuer.text(other) && certificate.object.namespace() == issuer.namespace()
    };
    // Each round settles the Issuers of one level of CAs.
    for _ in &issuers {
        for (at, issuer) in &issuers {
            let is_by = |certificate: &&Issued| is_of(certificate, "/spec/issuerRef/name", issuer, "/metadata/name");
            let fates: Option<Vec<Fate>> =
                issued.iter().filter(is_by).map(|certificate| certificate.instead.clone()).collect();
            // Webhook certificates take precedence over that of the metrics.
            let Some(fate) = fates.and_then(|fates| fates.into_iter().min()) else { continue };
            let own = |certificate: &&mut Issued| is_of(certificate, "/spec/secretName", issuer, "/spec/ca/secretName");
            issued.iter_mut().filter(own).for_each(|certificate| certificate.instead = Some(fate.clone()));
            draft.went(*at, fate);
        }
    }
    for certificate in issued {
        certificate.instead.take().into_iter().for_each(|fate| draft.went(certificate.at, fate));
    }
}
