//! Rules that no validator of operator-framework has: parts that OLM silently drops or installs wrong, and objects that
//! the API server would reject when OLM installs the bundle.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::super::findings::Findings;
use super::super::folder::{Bundle, PREFIX};
use super::super::{IMAGE_TYPES, image};
use super::crds::{V1, deep};
use super::manifests::at;
use super::{examples, head, place, text, texts};
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Severity, Span};
use opctl_model::names::is_dns_label;
use opctl_schema::apiserver::{CustomResourceDefinition, check_object, webhooks};

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    files(bundle, findings);
    annotations(bundle, findings);
    dockerfile(bundle, findings);
    objects(bundle, findings);
    accounts(bundle, findings);
    bindings(bundle, findings);
    for webhook in bundle.webhooks() {
        check_webhook(bundle, webhook, findings);
        if text(webhook, "type") != "ConversionWebhook" {
            webhook.items_at(&["rules"]).iter().for_each(|rule| check_webhook_rule(rule, findings));
        }
    }
    icon(bundle, findings);
    images(bundle, findings);
}

/// Default maximum size of a request to etcd, in bytes.
const OF_ETCD: usize = 1536 << 10;

fn files(bundle: &Bundle, findings: &mut Findings) {
    for manifest in &bundle.manifests {
        if let Some(second) = manifest.others.first() {
            let message =
                format!("this file has {} objects: OLM v0 reads the first one only", manifest.others.len() + 1);
            findings.error("manifest-documents", &head(second), message).help("write each object to a file of its own");
        }
        let size = manifest.node.json().to_string().len();
        if size > OF_ETCD {
            let message =
                format!("{} has {size} bytes as JSON, more than the 1.5 MiB that etcd stores", manifest.shown());
            findings.error("file-size", &head(&manifest.node), message);
        }
    }
}

fn annotations(bundle: &Bundle, findings: &mut Findings) {
    for (name, folder) in [("manifests.v1", "manifests/"), ("metadata.v1", "metadata/")] {
        if let Some(value) = bundle.annotation(name).filter(|value| value.as_text() != Some(folder)) {
            let message = format!("the annotation `{PREFIX}{name}` must be `{folder}`");
            findings.warning("annotation-folders", &value.span, message);
        }
    }
    if let Some(package) = bundle.annotation("package.v1").filter(|_| !is_dns_label(bundle.package())) {
        let message = format!("`{}` is not a name of a package: catalogs require a DNS label", bundle.package());
        findings.warning("annotation-package", &package.span, message);
    }
}

fn dockerfile(bundle: &Bundle, findings: &mut Findings) {
    let Some(file) = &bundle.dockerfile else { return };
    let mut start = 0;
    for line in file.text.split_inclusive('\n') {
        let span = Span { file: file.clone(), range: start..start + line.trim_end().len() };
        start += line.len();
        let Some((key, value)) = line.trim().strip_prefix("LABEL ").and_then(|label| label.trim().split_once('='))
        else {
            continue;
        };
        let (key, value) = (key.trim().trim_matches('"'), value.trim().trim_matches('"'));
        if !key.starts_with(PREFIX) {
            continue;
        }
        let annotation = bundle.annotations.text_at(&[key]);
        if annotation != Some(value) {
            let other = annotation.map_or("does not have it".to_owned(), |other| format!("has `{other}`"));
            let message =
                format!("the label `{key}` is `{value}`, but `{}` {other}", bundle.annotations.span.file.path);
            findings.warning("annotation-dockerfile", &span, message);
        }
    }
}

/// Checks the examples against the CRDs of the bundle.
fn objects(bundle: &Bundle, findings: &mut Findings) {
    let crds: Vec<CustomResourceDefinition> = bundle
        .crds()
        .filter(|crd| crd.api_version() == V1)
        .filter_map(|crd| serde_json::from_value(crd.node.json()).ok())
        .collect();
    for example in examples::examples(bundle) {
        let group = text(&example, "apiVersion").split_once('/').map_or("", |(group, _)| group);
        let is_its =
            |crd: &&CustomResourceDefinition| crd.spec.group == group && crd.spec.names.kind == text(&example, "kind");
        let Some(crd) = crds.iter().find(is_its) else { continue };
        for finding in check_object(crd, &example.json()) {
            let message = format!(
                "{} `{}`: {}",
                text(&example, "kind"),
                example.text_at(&["metadata", "name"]).unwrap_or_default(),
                finding.message
            );
            // Only a warning: the bundle can be installed, but its users cannot create the example.
            findings.push(Severity::Warning, "example-invalid", Some(&at(&example, &finding.path)), &message);
            findings.help(format!("`opctl explain {}` has details", finding.code));
        }
    }
}

fn accounts(bundle: &Bundle, findings: &mut Findings) {
    let with_rights = |account: &str| {
        let mut lists = ["permissions", "clusterPermissions"]
            .into_iter()
            .flat_map(|list| bundle.spec().items_at(&["install", "spec", list]));
        lists.any(|entry| text(entry, "serviceAccountName") == account)
    };
    for deployment in bundle.deployments() {
        let account = deployment.text_at(&["spec", "template", "spec", "serviceAccountName"]).unwrap_or_default();
        let has_file =
            || bundle.others().any(|manifest| manifest.kind() == "ServiceAccount" && manifest.name() == account);
        if !account.is_empty() && account != "default" && !with_rights(account) && !has_file() {
            let span = place(deployment, &["spec", "template", "spec", "serviceAccountName"]);
            let message = format!(
                "the ServiceAccount `{account}` has no permissions, so OLM does not create it, and no Pod starts"
            );
            findings.error("account-rights", &span, message).help("add it to `permissions` or `clusterPermissions`");
        }
    }
}

fn bindings(bundle: &Bundle, findings: &mut Findings) {
    for binding in bundle.others().filter(|manifest| matches!(manifest.kind(), "RoleBinding" | "ClusterRoleBinding")) {
        let node = &binding.node;
        for subject in node.items_at(&["subjects"]) {
            let namespace = text(subject, "namespace");
            if text(subject, "kind") == "ServiceAccount" && !namespace.is_empty() {
                let message = format!(
                    "{} is for an account in the namespace `{namespace}`; the operator may be installed in another one",
                    binding.shown()
                );
                let help = "use `permissions` or `clusterPermissions` of the ClusterServiceVersion";
                findings.warning("binding", &place(subject, &["namespace"]), message).help(help);
            }
        }
        let [kind, name] = ["kind", "name"].map(|key| node.text_at(&["roleRef", key]).unwrap_or_default());
        let exists = bundle.others().any(|role| role.kind() == kind && role.name() == name);
        // Roles of every cluster.
        let is_known = kind == "ClusterRole"
            && (name.starts_with("system:") || ["admin", "cluster-admin", "edit", "view"].contains(&name));
        if !exists && !is_known {
            let message = format!("{} refers to the {kind} `{name}`, which is not in the bundle", binding.shown());
            findings
                .warning("binding", &place(node, &["roleRef", "name"]), message)
                .help("add the role, or remove the binding");
        }
    }
}

/// OLM v0 does not install a bundle with such a webhook, which could keep OLM from working.
fn check_webhook_rule(rule: &Node, findings: &mut Findings) {
    let has = |list: &str, wanted: &[&str]| texts(rule, list).any(|item| wanted.contains(&item));
    let mut refuse = |list: &str, what: &str| {
        let message = format!("OLM v0 refuses webhooks for {what}");
        findings
            .error("webhook-rules", &place(rule, &[list]), message)
            .help("list the groups and resources of the operator");
    };
    if has("apiGroups", &["*"]) {
        refuse("apiGroups", "all groups");
    }
    if has("apiGroups", &["operators.coreos.com"]) {
        refuse("apiGroups", "its own objects, those of the group `operators.coreos.com`");
    }
    // The names are compared as they are, though resources are plurals.
    let configurations = ["*", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    if has("apiGroups", &["admissionregistration.k8s.io"]) && has("resources", &configurations) {
        refuse("resources", "webhook configurations");
    }
}

fn check_webhook(bundle: &Bundle, webhook: &Node, findings: &mut Findings) {
    let json = webhook.json();
    let kind = text(webhook, "type");
    if !["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"].contains(&kind) {
        let help = "the types are `ValidatingAdmissionWebhook`, `MutatingAdmissionWebhook` and `ConversionWebhook`";
        findings
            .error("webhook-invalid", &place(webhook, &["type"]), format!("unknown webhook type `{kind}`"))
            .help(help);
        return;
    }
    // The client configuration that OLM creates.
    let service = json!({"name": "webhook-service", "namespace": "system", "path": json["webhookPath"], "port": json.get("containerPort").cloned().unwrap_or(443.into())});
    let client = json!({"service": without_nulls(service)});
    let found = if kind == "ConversionWebhook" {
        webhooks::conversion(
            &json!({"webhook": {"clientConfig": client, "conversionReviewVersions": json["admissionReviewVersions"]}}),
        )
    } else {
        let mut object = json.clone();
        object["name"] = json["generateName"].clone();
        object["clientConfig"] = client;
        webhooks::webhook(&without_nulls(object))
    };
    for (path, diagnostic) in found {
        let path = match path.strip_prefix("webhook.").unwrap_or(&path) {
            "name" => "generateName".to_owned(),
            "conversionReviewVersions" => "admissionReviewVersions".to_owned(),
            path if path.starts_with("clientConfig.service.path") => "webhookPath".to_owned(),
            path if path.starts_with("clientConfig.service.port") => "containerPort".to_owned(),
            path => path.to_owned(),
        };
        findings.push(diagnostic.severity, "webhook-invalid", Some(&deep(webhook, &path)), &diagnostic.message);
        for help in diagnostic.help {
            findings.help(help);
        }
    }
    port(bundle, webhook, findings);
}

fn without_nulls(mut object: Json) -> Json {
    if let Some(map) = object.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    object
}

/// Checks the port of the Pods, to which the Service created by OLM leads.
fn port(bundle: &Bundle, webhook: &Node, findings: &mut Findings) {
    let name = text(webhook, "deploymentName");
    let Some(deployment) = bundle.deployments().iter().find(|deployment| text(deployment, "name") == name) else {
        let message = format!("the webhook is in the Deployment `{name}`, which the bundle does not have");
        findings.error("webhook-port", &place(webhook, &["deploymentName"]), message);
        return;
    };
    let containers = deployment.items_at(&["spec", "template", "spec", "containers"]);
    let ports: Vec<&Node> = containers.iter().flat_map(|container| container.items_at(&["ports"])).collect();
    let number = |node: &Node| match &node.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    let container_port = webhook.get("containerPort").and_then(number).unwrap_or(443);
    let Some(target) = webhook.get("targetPort").filter(|target| !target.is_null()) else {
        let is_open = ports.iter().any(|port| port.get("containerPort").and_then(number) == Some(container_port));
        if !is_open {
            let message = format!(
                "without `targetPort`, OLM forwards requests to port {container_port}, which no container declares"
            );
            findings
                .warning("webhook-port", &place(webhook, &["generateName"]), message)
                .help("set `targetPort` to the port of the webhook server, e.g. 9443");
        }
        return;
    };
    let is_open = match target.as_text() {
        Some(name) => ports.iter().any(|port| text(port, "name") == name),
        None => ports.iter().any(|port| port.get("containerPort").and_then(number) == number(target)),
    };
    if !is_open {
        let shown = target.as_text().map_or_else(|| target.json().to_string(), str::to_owned);
        let message = format!("no container of `{name}` declares the port `{shown}`");
        let span = place(webhook, &["targetPort"]);
        if target.as_text().is_some() {
            findings.error("webhook-port", &span, message).help("add the port with this name to the container");
        } else {
            findings.warning("webhook-port", &span, message);
        }
    }
}

fn icon(bundle: &Bundle, findings: &mut Findings) {
    for icon in bundle.spec().items_at(&["icon"]) {
        let (data, media_type) = (text(icon, "base64data"), text(icon, "mediatype"));
        if data.is_empty() || media_type.is_empty() {
            continue;
        }
        let span = place(icon, &["mediatype"]);
        let compact: String = data.chars().filter(|c| !c.is_whitespace()).collect();
        let Ok(bytes) = STANDARD.decode(compact) else {
            findings.warning("icon-type", &place(icon, &["base64data"]), "the data of the icon is not base64");
            continue;
        };
        let is_it = IMAGE_TYPES.into_iter().find(|(name, _)| *name == media_type).map(|(_, is_it)| is_it);
        if is_it.is_some_and(|is_it| !is_it(&bytes)) {
            findings.warning("icon-type", &span, format!("the data of the icon is not of the type `{media_type}`"));
        }
    }
}

fn images(bundle: &Bundle, findings: &mut Findings) {
    let key = "features.operators.openshift.io/disconnected";
    if bundle.csv_annotation(key).and_then(Node::as_text) != Some("true") {
        return;
    }
    let pods = bundle.deployments().iter().filter_map(|deployment| deployment.at(&["spec", "template", "spec"]));
    let containers = pods.flat_map(|pod| pod.items_at(&["initContainers"]).iter().chain(pod.items_at(&["containers"])));
    for user in containers.chain(bundle.spec().items_at(&["relatedImages"])) {
        let image = text(user, "image");
        if !image.is_empty() && !image::is_pinned(image) {
            let message = format!(
                "the operator supports disconnected clusters, whose mirrors require digests, but `{image}` has no digest"
            );
            findings
                .warning("image-pinned", &place(user, &["image"]), message)
                .help("`opctl generate bundle --use-image-digests` pins images");
        }
    }
}
