//! A bundle → the objects that OLM creates from it, with plain names, as `operator-controller` (OLM v1) renders them.
//!
//! The inverse of [`generate`](super::generate). Content that OLM would reject is an error.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::CERTIFICATES;
use super::deployments::containers_mut;
use super::files::is_namespaced;
use super::object::{list, text};

/// A bundle and its installation settings.
#[derive(Clone, Copy, Debug)]
pub struct Installation<'a> {
    /// The objects in `manifests/`.
    pub manifests: &'a [Value],
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
/// If the bundle has no CSV, does not support these namespaces, or has an object that OLM does not install.
pub fn render(installation: &Installation) -> Result<Vec<Value>, RenderError> {
    let is_csv = |object: &&Value| object["kind"] == "ClusterServiceVersion";
    let csv = match installation.manifests.iter().filter(is_csv).collect::<Vec<_>>()[..] {
        [csv] => csv,
        [] => return refuse("the bundle has no ClusterServiceVersion", "`opctl generate bundle` makes one"),
        [..] => return refuse("the bundle has several ClusterServiceVersions", "keep one of them"),
    };
    let rendering = Rendering { csv, namespace: installation.namespace, watched: installation.watched };
    rendering.check_mode()?;
    let mut objects = rendering.permissions();
    for object in installation.manifests.iter().filter(|object| !is_csv(object)) {
        objects.push(rendering.file(object)?);
    }
    for deployment in list(csv, "/spec/install/spec/deployments") {
        objects.push(rendering.deployment(deployment));
    }
    objects.extend(rendering.webhooks()?);
    objects.sort_by_key(|object| {
        (rank(text(object, "/kind")), text(object, "/kind").to_owned(), text(object, "/metadata/name").to_owned())
    });
    Ok(objects)
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

    fn permissions(&self) -> Vec<Value> {
        let of = |field: &str| list(self.csv, &format!("/spec/install/spec/{field}"));
        let (permissions, cluster) = (of("permissions"), of("clusterPermissions"));
        let accounts: BTreeSet<&str> =
            permissions.iter().chain(cluster).map(|it| text(it, "/serviceAccountName")).collect();
        let mut objects: Vec<Value> = accounts
            .into_iter()
            .filter(|account| *account != "default" && !account.is_empty())
            .map(|account| {
                json!({
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": { "name": account, "namespace": self.namespace },
                })
            })
            .collect();
        for permission in permissions.iter().filter(|permission| !list(permission, "/rules").is_empty()) {
            let account = text(permission, "/serviceAccountName");
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
        for permission in cluster.iter().filter(|permission| !list(permission, "/rules").is_empty()) {
            let rules = list(permission, "/rules").to_vec();
            objects.extend(self.grant("ClusterRole", None, text(permission, "/serviceAccountName"), rules));
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

    /// `<csv>-<account>-<hash>`, truncated to the maximum length of a label value.
    fn name(&self, account: &str, rules: &Value) -> String {
        let hash = checksum(&format!("{account}\n{rules}"));
        let base = format!("{}-{account}", text(self.csv, "/metadata/name"));
        let end = 63 - hash.len() - 1;
        let base = if base.len() > end { &base[..end] } else { &base };
        format!("{}-{hash}", base.trim_end_matches(['-', '.']))
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
        inject(crd, self.namespace, &service(definition));
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
        let mut annotations = self.csv["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        let own = template["annotations"].as_object().cloned().unwrap_or_default();
        annotations.extend(own);
        let watched: Vec<&str> = self.watched.iter().map(String::as_str).collect();
        annotations.insert("olm.targetNamespaces".into(), watched.join(",").into());
        annotations.insert("olm.operatorNamespace".into(), self.namespace.into());
        // The examples are for consoles only, and are the largest part.
        annotations.remove("alm-examples");
        template["annotations"] = annotations.into();
        let name = text(item, "/name");
        if let Some(definition) =
            self.definitions().iter().find(|definition| text(definition, "/deploymentName") == name)
        {
            mount(&mut spec, &secret(definition));
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
                    return refuse(format!("there is no type `{other}` of webhooks"), help);
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
            let ports: BTreeMap<i64, i64> = definitions.iter().map(|it| (port(it), target_port(it))).collect();
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
            objects.extend(self.certificate(&name, &secret(definitions[0])));
        }
        Ok(objects)
    }

    fn configuration(&self, kind: &str, definition: &Value) -> Value {
        let name = text(definition, "/generateName");
        let path = definition.get("webhookPath").cloned().unwrap_or_else(|| "/".into());
        let mut webhook = Map::new();
        webhook.insert("name".into(), name.into());
        webhook.insert(
            "clientConfig".into(),
            json!({ "service": {
                "name": service(definition),
                "namespace": self.namespace,
                "path": path,
                "port": port(definition),
            } }),
        );
        for field in super::webhooks::SAME {
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
        inject(&mut configuration, self.namespace, &service(definition));
        configuration
    }

    /// A self-signed certificate, with its Issuer.
    fn certificate(&self, service: &str, secret: &str) -> [Value; 2] {
        let issuer = format!("{service}-selfsigned-issuer");
        let names = ["", ".cluster.local"].map(|end| format!("{service}.{}.svc{end}", self.namespace));
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
                "metadata": { "name": format!("{service}-cert"), "namespace": self.namespace },
                "spec": {
                    "dnsNames": names,
                    "issuerRef": { "kind": "Issuer", "name": issuer },
                    "privateKey": { "algorithm": "ECDSA", "rotationPolicy": "Always", "size": 256 },
                    "secretName": secret,
                    "usages": ["server auth"],
                },
            }),
        ]
    }
}

/// Makes cert-manager inject the CA into an object.
fn inject(object: &mut Value, namespace: &str, service: &str) {
    let metadata = &mut object["metadata"];
    if !metadata["annotations"].is_object() {
        metadata["annotations"] = json!({});
    }
    metadata["annotations"]["cert-manager.io/inject-ca-from"] = format!("{namespace}/{service}-cert").into();
}

/// The name of the Service for the webhooks of a Deployment.
fn service(definition: &Value) -> String {
    format!("{}-service", text(definition, "/deploymentName").replace('.', "-"))
}

fn secret(definition: &Value) -> String {
    format!("{}-cert", service(definition))
}

/// The port of the Service.
fn port(definition: &Value) -> i64 {
    definition["containerPort"].as_i64().unwrap_or(443)
}

/// The port of the container.
fn target_port(definition: &Value) -> i64 {
    definition["targetPort"].as_i64().unwrap_or_else(|| port(definition))
}

/// Mounts the certificate in the folders where operators expect it.
fn mount(spec: &mut Value, secret: &str) {
    let folders = [
        ("apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
        ("webhook-cert", CERTIFICATES, "tls.crt", "tls.key"),
    ];
    for (name, path, certificate, key) in folders {
        let volume = json!({
            "name": name,
            "secret": {
                "secretName": secret,
                "defaultMode": 420,
                "items": [{ "key": "tls.crt", "path": certificate }, { "key": "tls.key", "path": key }],
            },
        });
        for container in containers_mut(spec) {
            replace(
                container,
                "volumeMounts",
                |it| text(it, "/mountPath") == path,
                json!({ "name": name, "mountPath": path }),
            );
        }
        if let Some(pod) = spec.pointer_mut("/template/spec") {
            replace(pod, "volumes", |it| text(it, "/name") == name, volume);
        }
    }
}

/// Adds an item to a list, and removes the items that it replaces.
fn replace(object: &mut Value, key: &str, is_replaced: impl Fn(&Value) -> bool, item: Value) {
    if !object[key].is_array() {
        object[key] = json!([]);
    }
    if let Some(items) = object[key].as_array_mut() {
        items.retain(|item| !is_replaced(item));
        items.push(item);
    }
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
