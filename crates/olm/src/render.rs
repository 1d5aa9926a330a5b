//! A bundle → the objects that OLM creates from it, with plain names, as `operator-controller` (OLM v1) renders them.
//!
//! The inverse of [`generate`](super::generate). Content that OLM would reject is an error; see also
//! [`bundle::check_installable`](super::bundle::check_installable).
//!
//! The differences from operator-controller are deliberate: names of roles have another hash, names of at most 63
//! characters are never one longer, a missing `containerPort` is 443 as in OLM v0, Pods do not get the examples of the CSV as an
//! annotation, a common name of more than 64 characters is shortened, and a VerticalPodAutoscaler is namespaced.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::CERTIFICATES;
use super::bundle::Bundle;
use super::files::is_namespaced;
use super::object::{list, text};

/// A bundle and its installation settings.
#[derive(Clone, Copy, Debug)]
pub struct Installation<'a> {
    pub bundle: &'a Bundle,
    /// The namespace of the operator.
    pub namespace: &'a str,
    /// The watched namespaces; empty for all.
    pub watched: &'a BTreeSet<String>,
}

/// The reason why a bundle cannot be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RenderError {
    pub message: String,
    pub help: String,
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, RenderError> {
    Err(RenderError { message: message.into(), help: help.into() })
}

/// The objects in order of creation, without the Namespace.
///
/// # Errors
///
/// If the bundle does not support these namespaces, lacks a CRD that it owns, or has an object that OLM does not install.
pub fn render(installation: &Installation) -> Result<Vec<Value>, RenderError> {
    let Installation { bundle, namespace, watched } = *installation;
    let csv = bundle.csv().node.json();
    let rendering = Rendering { csv: &csv, namespace, watched, annotations: annotations(bundle, &csv)? };
    rendering.check_mode()?;
    let mut objects = rendering.permissions();
    let files: Vec<Value> = bundle.objects().filter(|object| object["kind"] != "ClusterServiceVersion").collect();
    rendering.check_owned(&files)?;
    for object in &files {
        objects.push(rendering.file(object)?);
    }
    for deployment in list(&csv, "/spec/install/spec/deployments") {
        objects.push(rendering.deployment(deployment));
    }
    objects.extend(rendering.webhooks()?);
    objects.sort_by_cached_key(|object| {
        let [kind, namespace, name] =
            ["/kind", "/metadata/namespace", "/metadata/name"].map(|field| text(object, field).to_owned());
        (rank(&kind), kind, name, namespace)
    });
    // Equal permissions of an account are the same role.
    objects.dedup();
    Ok(objects)
}

const PROPERTIES: &str = "olm.properties";

/// The annotations of the CSV, which OLM copies to the Pods. The properties in `metadata` are added to `olm.properties`.
fn annotations(bundle: &Bundle, csv: &Value) -> Result<Map<String, Value>, RenderError> {
    let mut annotations = csv["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    // The examples are for consoles only, and are the largest part.
    annotations.remove("alm-examples");
    let Some(more) = &bundle.properties else { return Ok(annotations) };
    let mut properties: Vec<Value> = match annotations.get(PROPERTIES).and_then(Value::as_str) {
        None => Vec::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(properties) => properties,
            Err(error) => {
                let message = format!("the annotation `{PROPERTIES}` of the CSV is not a JSON list: {error}");
                return refuse(message, "move the properties to `metadata/properties.yaml`");
            }
        },
    };
    properties.extend(more.items().iter().map(|property| property.json()));
    annotations.insert(PROPERTIES.into(), Value::from(properties).to_string().into());
    Ok(annotations)
}

/// The position in the order of creation: dependencies first.
fn rank(kind: &str) -> usize {
    const FIRST: [&str; 10] = [
        "CustomResourceDefinition",
        "PriorityClass",
        "ServiceAccount",
        "Secret",
        "ConfigMap",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Service",
    ];
    const LAST: [&str; 3] = ["Deployment", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    let last = || LAST.iter().position(|other| *other == kind).map(|at| 20 + at);
    FIRST.iter().position(|other| *other == kind).or_else(last).unwrap_or(15)
}

struct Rendering<'a> {
    csv: &'a Value,
    namespace: &'a str,
    watched: &'a BTreeSet<String>,
    /// The annotations of all Pods.
    annotations: Map<String, Value>,
}

const RBAC: &str = "rbac.authorization.k8s.io";

impl Rendering<'_> {
    fn definitions(&self) -> &[Value] {
        list(self.csv, "/spec/webhookdefinitions")
    }

    /// Checks that the CSV supports the namespaces.
    fn check_mode(&self) -> Result<(), RenderError> {
        let mode = match self.watched.len() {
            0 => "AllNamespaces",
            1 if self.watched.contains(self.namespace) => "OwnNamespace",
            1 => "SingleNamespace",
            _ => "MultiNamespace",
        };
        let modes = list(self.csv, "/spec/installModes");
        let is_supported = |mode: &str| modes.iter().any(|it| it["type"] == mode && it["supported"] == true);
        let lacks_own =
            mode == "MultiNamespace" && self.watched.contains(self.namespace) && !is_supported("OwnNamespace");
        if lacks_own {
            let message =
                "the bundle does not support the install mode OwnNamespace, so it cannot watch its own namespace";
            return refuse(message, "leave out the namespace of the operator in `--watch-namespace`");
        }
        if is_supported(mode) {
            return Ok(());
        }
        let supported: Vec<&str> =
            modes.iter().filter(|it| it["supported"] == true).map(|it| text(it, "/type")).collect();
        let help = match is_supported("AllNamespaces") {
            true => "leave out `--watch-namespace`".to_owned(),
            false => "`--watch-namespace NAMESPACE` chooses the namespaces".to_owned(),
        };
        refuse(format!("the bundle supports the install mode {}, and not {mode}", supported.join(", ")), help)
    }

    fn check_owned(&self, files: &[Value]) -> Result<(), RenderError> {
        let owned = list(self.csv, "/spec/customresourcedefinitions/owned").iter().map(|owned| text(owned, "/name"));
        for name in owned {
            let is_it = |file: &Value| file["kind"] == "CustomResourceDefinition" && file["metadata"]["name"] == name;
            if !files.iter().any(is_it) {
                let message = format!("the CSV owns `{name}`, and the bundle does not have this CRD");
                return refuse(
                    message,
                    "add the CRD to `manifests`, or remove it from `customresourcedefinitions.owned`",
                );
            }
        }
        Ok(())
    }

    fn permissions(&self) -> Vec<Value> {
        let of = |field: &str| list(self.csv, &format!("/spec/install/spec/{field}"));
        let (permissions, cluster) = (of("permissions"), of("clusterPermissions"));
        let accounts: BTreeSet<&str> = permissions.iter().chain(cluster).map(account).collect();
        let mut objects: Vec<Value> = accounts
            .into_iter()
            .filter(|account| *account != DEFAULT_ACCOUNT)
            .map(|account| {
                json!({
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": { "name": account, "namespace": self.namespace },
                })
            })
            .collect();
        for permission in permissions {
            let account = account(permission);
            let mut rules = list(permission, "/rules").to_vec();
            if self.watched.is_empty() {
                rules
                    .push(json!({ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"] }));
                objects.extend(self.grant("ClusterRole", None, account, rules));
            } else {
                for namespace in self.watched {
                    objects.extend(self.grant("Role", Some(namespace), account, rules.clone()));
                }
            }
        }
        for permission in cluster {
            let rules = list(permission, "/rules").to_vec();
            objects.extend(self.grant("ClusterRole", None, account(permission), rules));
        }
        objects
    }

    /// A role and its binding.
    fn grant(&self, kind: &str, namespace: Option<&String>, account: &str, rules: Vec<Value>) -> [Value; 2] {
        let name = self.name(account, &rules.clone().into());
        let mut metadata = json!({ "name": name });
        if let Some(namespace) = namespace {
            metadata["namespace"] = namespace.clone().into();
        }
        let api_version = format!("{RBAC}/v1");
        let role = json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "rules": rules });
        let binding = json!({
            "apiVersion": api_version,
            "kind": format!("{kind}Binding"),
            "metadata": metadata,
            "roleRef": { "apiGroup": RBAC, "kind": kind, "name": name },
            "subjects": [{ "kind": "ServiceAccount", "name": account, "namespace": self.namespace }],
        });
        [role, binding]
    }

    /// `<csv>-<account>-<hash>`.
    fn name(&self, account: &str, rules: &Value) -> String {
        joined(&format!("{}-{account}", text(self.csv, "/metadata/name")), &checksum(&format!("{account}\n{rules}")))
    }

    fn file(&self, object: &Value) -> Result<Value, RenderError> {
        let kind = text(object, "/kind");
        let Some(is_namespaced) = is_namespaced(kind) else {
            let message = format!(
                "OLM does not install objects of the kind {kind}, such as `{}`",
                text(object, "/metadata/name")
            );
            return refuse(message, "remove its file from the bundle");
        };
        let mut object = object.clone();
        if is_namespaced {
            object["metadata"]["namespace"] = self.namespace.into();
        }
        if kind == "CustomResourceDefinition" {
            self.convert(&mut object);
        }
        Ok(object)
    }

    /// Sets the conversion webhook of the CRD.
    fn convert(&self, crd: &mut Value) {
        let converts = |definition: &&Value| {
            definition["type"] == "ConversionWebhook"
                && list(definition, "/conversionCRDs").contains(&crd["metadata"]["name"])
        };
        let Some(definition) = self.definitions().iter().find(converts) else { return };
        inject(crd, self.namespace, definition);
        let path = definition.get("webhookPath").cloned().unwrap_or_else(|| "/".into());
        crd["spec"]["conversion"] = json!({
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": { "service": {
                    "name": service(definition),
                    "namespace": self.namespace,
                    "path": path,
                    "port": port(definition),
                } },
                "conversionReviewVersions": definition["admissionReviewVersions"],
            },
        });
    }

    fn deployment(&self, item: &Value) -> Value {
        let mut spec = item["spec"].clone();
        spec["revisionHistoryLimit"] = 1.into();
        let template = &mut spec["template"]["metadata"];
        if !template.is_object() {
            *template = json!({});
        }
        let mut annotations = self.annotations.clone();
        annotations.extend(template["annotations"].as_object().cloned().unwrap_or_default());
        let watched: Vec<&str> = self.watched.iter().map(String::as_str).collect();
        annotations.insert("olm.targetNamespaces".into(), watched.join(",").into());
        annotations.insert("olm.operatorNamespace".into(), self.namespace.into());
        template["annotations"] = annotations.into();
        let name = text(item, "/name");
        if let Some(definition) =
            self.definitions().iter().find(|definition| text(definition, "/deploymentName") == name)
        {
            mount(&mut spec["template"]["spec"], &certificate(definition));
        }
        let mut metadata = json!({ "name": name, "namespace": self.namespace });
        if let Some(labels) = item.get("label") {
            metadata["labels"] = labels.clone();
        }
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec })
    }

    /// The webhook configurations, Services, and certificates of cert-manager.
    fn webhooks(&self) -> Result<Vec<Value>, RenderError> {
        let mut objects = Vec::new();
        let mut services: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for definition in self.definitions() {
            services.entry(text(definition, "/deploymentName")).or_default().push(definition);
            let kind = match text(definition, "/type") {
                "ConversionWebhook" => continue,
                "MutatingAdmissionWebhook" => "MutatingWebhookConfiguration",
                "ValidatingAdmissionWebhook" => "ValidatingWebhookConfiguration",
                other => {
                    let help = "it is ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook";
                    return refuse(format!("unknown webhook type `{other}`"), help);
                }
            };
            objects.push(self.configuration(kind, definition));
        }
        for (deployment, definitions) in services {
            let items = list(self.csv, "/spec/install/spec/deployments");
            let Some(item) = items.iter().find(|item| text(item, "/name") == deployment) else {
                let message =
                    format!("a webhook is served by the Deployment `{deployment}`, which the CSV does not have");
                return refuse(message, "set `deploymentName` in `webhookdefinitions` to the name of a Deployment");
            };
            let name = service(definitions[0]);
            let mut ports: Vec<(i64, Value)> = definitions.iter().map(|it| (port(it), target_port(it))).collect();
            ports.sort_by_key(|(port, target)| (*port, target.as_i64(), target.to_string()));
            ports.dedup();
            let ports: Vec<Value> = ports
                .into_iter()
                .map(|(port, target)| json!({ "name": port.to_string(), "port": port, "targetPort": target }))
                .collect();
            objects.push(json!({
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": { "name": name, "namespace": self.namespace },
                "spec": { "ports": ports, "selector": item["spec"]["selector"]["matchLabels"] },
            }));
            objects.extend(self.certificate(&name, &certificate(definitions[0])));
        }
        Ok(objects)
    }

    fn configuration(&self, kind: &str, definition: &Value) -> Value {
        let name = text(definition, "/generateName");
        let mut server = json!({ "name": service(definition), "namespace": self.namespace, "port": port(definition) });
        if let Some(path) = definition.get("webhookPath") {
            server["path"] = path.clone();
        }
        let mut webhook = Map::new();
        webhook.insert("name".into(), name.into());
        webhook.insert("clientConfig".into(), json!({ "service": server }));
        let of_other_kind = |field: &str| field == "reinvocationPolicy" && kind != "MutatingWebhookConfiguration";
        for field in super::webhooks::SAME.into_iter().filter(|field| !of_other_kind(field)) {
            webhook.extend(definition.get(field).map(|value| (field.to_owned(), value.clone())));
        }
        if !self.watched.is_empty() {
            let expression = json!({ "key": "kubernetes.io/metadata.name", "operator": "In", "values": self.watched });
            webhook.insert("namespaceSelector".into(), json!({ "matchExpressions": [expression] }));
        }
        let mut configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": { "name": name },
            "webhooks": [webhook],
        });
        inject(&mut configuration, self.namespace, definition);
        configuration
    }

    /// A self-signed certificate, with its Issuer. It is renewed after two years, as that of OLM v0.
    fn certificate(&self, service: &str, name: &str) -> [Value; 2] {
        let issuer = joined(name, "selfsigned-issuer");
        let names = ["", ".svc", ".svc.cluster.local"].map(|end| format!("{service}.{}{end}", self.namespace));
        // Without a common name, a self-signed certificate has no issuer, and OpenSSL does not verify it.
        let common = names.first().filter(|name| name.len() <= 64).map_or(service, String::as_str);
        [
            json!({
                "apiVersion": "cert-manager.io/v1",
                "kind": "Issuer",
                "metadata": { "name": issuer, "namespace": self.namespace },
                "spec": { "selfSigned": {} },
            }),
            json!({
                "apiVersion": "cert-manager.io/v1",
                "kind": "Certificate",
                "metadata": { "name": name, "namespace": self.namespace },
                "spec": {
                    "commonName": common,
                    "dnsNames": names,
                    "duration": "17520h0m0s",
                    "issuerRef": { "kind": "Issuer", "name": issuer },
                    "privateKey": { "algorithm": "ECDSA", "rotationPolicy": "Always", "size": 256 },
                    "renewBefore": "24h0m0s",
                    "secretName": name,
                    "usages": ["server auth"],
                },
            }),
        ]
    }
}

/// Makes cert-manager inject the CA into an object.
fn inject(object: &mut Value, namespace: &str, definition: &Value) {
    let metadata = &mut object["metadata"];
    if !metadata["annotations"].is_object() {
        metadata["annotations"] = json!({});
    }
    metadata["annotations"]["cert-manager.io/inject-ca-from"] =
        format!("{namespace}/{}", certificate(definition)).into();
}

/// The account of permissions that name none, which every namespace has.
const DEFAULT_ACCOUNT: &str = "default";

/// The account of an entry in `permissions` or `clusterPermissions`.
fn account(permission: &Value) -> &str {
    Some(text(permission, "/serviceAccountName")).filter(|name| !name.is_empty()).unwrap_or(DEFAULT_ACCOUNT)
}

/// `BASE-END`, with a base that is cut so that the name is valid for Services and labels.
fn joined(base: &str, end: &str) -> String {
    const LONGEST: usize = 63;
    let longest = LONGEST.saturating_sub(end.len() + 1);
    format!("{}-{end}", base.get(..longest).unwrap_or(base).trim_end_matches('.'))
}

/// The name of the Service for the webhooks of a Deployment.
fn service(definition: &Value) -> String {
    joined(&text(definition, "/deploymentName").replace('.', "-"), "service")
}

/// The name of the certificate for this Service, and of its Secret.
fn certificate(definition: &Value) -> String {
    joined(&service(definition), "cert")
}

/// The port of the Service.
fn port(definition: &Value) -> i64 {
    definition["containerPort"].as_i64().filter(|port| *port > 0).unwrap_or(443)
}

/// The port of the container, or its name.
fn target_port(definition: &Value) -> Value {
    definition.get("targetPort").filter(|port| !port.is_null()).cloned().unwrap_or_else(|| port(definition).into())
}

/// The volumes with the certificate, the folders where operators expect it, and the names of its files.
const MOUNTS: [(&str, &str, &str, &str); 2] = [
    ("webhook-cert", CERTIFICATES, "tls.crt", "tls.key"),
    ("apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
];

/// The volumes of a Pod that OLM replaces: those with the names of its own, and those that a container mounts in their folders.
pub(super) fn replaced_volumes(pod: &Value) -> BTreeSet<String> {
    let mounts = list(pod, "/containers").iter().flat_map(|container| list(container, "/volumeMounts"));
    let is_replaced = |mount: &&Value| MOUNTS.iter().any(|(_, folder, ..)| text(mount, "/mountPath") == *folder);
    let names = mounts.filter(is_replaced).map(|mount| text(mount, "/name"));
    names.chain(MOUNTS.map(|(name, ..)| name)).map(String::from).collect()
}

/// Mounts the certificate in all containers but the init containers.
fn mount(pod: &mut Value, secret: &str) {
    let replaced = replaced_volumes(pod);
    let volumes = MOUNTS.map(|(name, _, certificate, key)| {
        let items = json!([{ "key": "tls.crt", "path": certificate }, { "key": "tls.key", "path": key }]);
        json!({ "name": name, "secret": { "secretName": secret, "items": items } })
    });
    replace(pod, "volumes", &replaced, &volumes);
    let mounts = MOUNTS.map(|(name, folder, ..)| json!({ "name": name, "mountPath": folder }));
    for container in pod["containers"].as_array_mut().into_iter().flatten() {
        replace(container, "volumeMounts", &replaced, &mounts);
    }
}

/// Adds items to a list, and removes those with the given names.
fn replace(object: &mut Value, key: &str, names: &BTreeSet<String>, items: &[Value]) {
    let kept = list(object, &format!("/{key}")).iter().filter(|item| !names.contains(text(item, "/name")));
    object[key] = kept.chain(items).cloned().collect();
}

/// FNV-1a, as letters and digits: names must be distinct, but need no cryptographic hash.
pub(super) fn checksum(text: &str) -> String {
    let mut hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut letters = String::new();
    while hash > 0 {
        let digit = u32::try_from(hash % 36).expect("it is less than 36");
        letters.push(char::from_digit(digit, 36).expect("it is a digit of this base"));
        hash /= 36;
    }
    letters
}
