//! Bundles that OLM v1 rejects. Source: `internal/operator-controller/rukpak` of operator-controller.

use std::collections::{BTreeMap, BTreeSet};

use super::super::findings::Findings;
use super::super::folder::{Bundle, Manifest};
use super::{head, place, text, texts};
use crate::render::replaced_volumes;
use opctl_kustomize::yaml::Node;
use opctl_model::names::is_dns_subdomain;

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let is_wide =
        |mode: &&Node| text(mode, "type") == "AllNamespaces" && mode.get("supported").is_some_and(Node::is_true);
    if bundle.spec().items_at(&["installModes"]).iter().find(is_wide).is_none() {
        let span = place(csv, &["spec", "installModes"]);
        findings
            .error("v1-install-mode", &span, "OLM v1 installs operators for all namespaces only")
            .help("support the install mode `AllNamespaces`");
    }
    dependencies(bundle, findings);
    if let Some(service) = bundle.spec().items_at(&["apiservicedefinitions", "owned"]).first() {
        findings.error("v1-api-service", &head(service), "OLM v1 does not install APIServices");
    }
    installable(bundle, findings);
    for webhook in bundle.webhooks().iter().filter(|webhook| webhook.get("containerPort").is_none_or(Node::is_null)) {
        findings
            .error(
                "v1-webhook-port",
                &head(webhook),
                "OLM v1 does not set the default of `containerPort`, so the API server rejects the webhook",
            )
            .help("set `containerPort: 443`");
    }
}

/// The conditions under which operator-controller renders a bundle, and what an API server then rejects.
pub fn installable(bundle: &Bundle, findings: &mut Findings) {
    if bundle.package().is_empty() {
        findings.error("v1-package", &head(&bundle.annotations), "the name of the package is empty");
    }
    let mut names = BTreeSet::new();
    for deployment in bundle.deployments() {
        let (name, span) = (text(deployment, "name"), place(deployment, &["name"]));
        if !is_dns_subdomain(name) {
            findings.error(
                "v1-deployment",
                &span,
                format!("`{name}` is not a name of a Deployment: use a DNS subdomain"),
            );
        }
        if !names.insert(name) {
            findings.error("v1-deployment", &span, format!("there are two Deployments `{name}`"));
        }
    }
    let mut crds = BTreeSet::new();
    for crd in bundle.crds() {
        if !crds.insert(crd.name()) {
            findings.error(
                "v1-crd",
                &place(&crd.node, &["metadata", "name"]),
                format!("there are two CRDs `{}`", crd.name()),
            );
        }
    }
    webhooks(bundle, &names, findings);
    ports(bundle, findings);
    for deployment in bundle.deployments() {
        certificates(bundle, deployment, findings);
    }
}

/// Reports ports of a Service with two targets.
fn ports(bundle: &Bundle, findings: &mut Findings) {
    let mut targets = BTreeMap::new();
    for webhook in bundle.webhooks() {
        let json = webhook.json();
        let port = json["containerPort"].as_i64().unwrap_or(443);
        let target = json.get("targetPort").filter(|target| !target.is_null()).cloned().unwrap_or_else(|| port.into());
        let deployment = text(webhook, "deploymentName").to_owned();
        let first = targets.entry((deployment, port)).or_insert_with(|| target.clone());
        if *first != target {
            let message =
                format!("another webhook forwards the port {port} of the Service to {first}, this one to {target}");
            findings
                .error("v1-webhook-port", &place(webhook, &["targetPort"]), message)
                .help("use another `containerPort` for one of them");
        }
    }
}

/// Reports volumes that OLM removes although an init container mounts them.
fn certificates(bundle: &Bundle, deployment: &Node, findings: &mut Findings) {
    let serves = |webhook: &Node| text(webhook, "deploymentName") == text(deployment, "name");
    let Some(pod) = deployment.at(&["spec", "template", "spec"]).filter(|_| bundle.webhooks().iter().any(serves))
    else {
        return;
    };
    let replaced = replaced_volumes(&pod.json());
    let containers = pod.items_at(&["initContainers"]).iter();
    for mount in containers.flat_map(|container| container.items_at(&["volumeMounts"])) {
        let name = text(mount, "name");
        if replaced.contains(name) && !["webhook-cert", "apiservice-cert"].contains(&name) {
            let message =
                format!("an init container mounts the volume `{name}`, which OLM replaces by its certificates");
            findings.error("v1-certificates", &place(mount, &["name"]), message).help(
                "have the init container mount a volume that no container mounts in a folder of OLM's certificates",
            );
        }
    }
}

fn dependencies(bundle: &Bundle, findings: &mut Findings) {
    const HELP: &str = "OLM v1 does not resolve dependencies: document what must be installed before the operator";
    for dependency in bundle.dependencies.iter().flat_map(Node::items) {
        if ["olm.gvk", "olm.package", "olm.constraint"].contains(&text(dependency, "type")) {
            let message =
                format!("OLM v1 refuses bundles with dependencies, such as this `{}`", text(dependency, "type"));
            findings.error("v1-dependency", &head(dependency), message).help(HELP);
        }
    }
    for property in bundle.properties.iter().flat_map(Node::items) {
        if ["olm.gvk.required", "olm.package.required", "olm.constraint"].contains(&text(property, "type")) {
            let message = format!("OLM v1 refuses bundles with the property `{}`", text(property, "type"));
            findings.error("v1-dependency", &head(property), message).help(HELP);
        }
    }
    for list in ["customresourcedefinitions", "apiservicedefinitions"] {
        if let Some(required) = bundle.spec().items_at(&[list, "required"]).first() {
            findings.error("v1-dependency", &head(required), "OLM v1 refuses bundles that require APIs").help(HELP);
        }
    }
}

fn webhooks(bundle: &Bundle, deployments: &BTreeSet<&str>, findings: &mut Findings) {
    let owned: BTreeSet<&str> = bundle.owned().iter().map(|owned| text(owned, "name")).collect();
    let mut names = BTreeSet::new();
    let mut converted: BTreeMap<&str, &str> = BTreeMap::new();
    for webhook in bundle.webhooks() {
        let (kind, name) = (text(webhook, "type"), text(webhook, "generateName"));
        let deployment = text(webhook, "deploymentName");
        if !deployments.contains(deployment) {
            let message =
                format!("the webhook `{name}` is in the Deployment `{deployment}`, which the bundle does not have");
            findings.error("v1-webhook-deployment", &place(webhook, &["deploymentName"]), message);
        }
        let span = place(webhook, &["generateName"]);
        if !is_dns_subdomain(name) {
            findings.error(
                "v1-webhook-name",
                &span,
                format!("`{name}` is not a name of a webhook: use a DNS subdomain"),
            );
        }
        if !names.insert((kind, name)) {
            findings.error("v1-webhook-name", &span, format!("two webhooks of type `{kind}` have the name `{name}`"));
        }
        let is_admission = kind != "ConversionWebhook";
        for rule in webhook.items_at(&["rules"]).iter().filter(|_| is_admission) {
            rules(rule, findings);
        }
        for crd in webhook.items_at(&["conversionCRDs"]) {
            let of = crd.as_text().unwrap_or_default();
            let preserves = |crd: &Manifest| {
                crd.name() == of && crd.node.at(&["spec", "preserveUnknownFields"]).is_some_and(Node::is_true)
            };
            if bundle.crds().any(preserves) {
                let message =
                    format!("the CRD `{of}` has `preserveUnknownFields: true`, so no webhook can convert its objects");
                findings.error("v1-conversion", &crd.span, message);
            }
            if !owned.contains(of) {
                let message = format!("the webhook `{name}` converts `{of}`, which the operator does not own");
                findings.error("v1-conversion", &crd.span, message);
            }
            if let Some(other) = converted.insert(of, name) {
                findings.error("v1-conversion", &crd.span, format!("the webhook `{other}` converts `{of}`, too"));
            }
        }
    }
}

fn rules(rule: &Node, findings: &mut Findings) {
    let span = place(rule, &["apiGroups"]);
    let groups: Vec<&str> = texts(rule, "apiGroups").collect();
    let is_configuration = |it: &str| {
        let resource = it.split('/').next().unwrap_or_default().to_ascii_lowercase();
        resource == "*"
            || matches!(
                resource.trim_end_matches('s'),
                "mutatingwebhookconfiguration" | "validatingwebhookconfiguration"
            )
    };
    if groups.contains(&"*") {
        findings.error("v1-webhook-rules", &span, "OLM refuses webhooks for all groups").help("list the groups");
    }
    if groups.contains(&"olm.operatorframework.io") {
        findings.error("v1-webhook-rules", &span, "OLM refuses webhooks for its own objects");
    }
    if groups.contains(&"admissionregistration.k8s.io") && texts(rule, "resources").any(is_configuration) {
        findings.error(
            "v1-webhook-rules",
            &place(rule, &["resources"]),
            "OLM refuses webhooks for webhook configurations",
        );
    }
}
