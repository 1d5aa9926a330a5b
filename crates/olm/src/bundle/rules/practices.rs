//! Good practices. Source: `good_practices.go` of operator-framework/api.

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::super::semver;
use super::{head, place, text, texts};
use opctl_kustomize::yaml::Node;

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let deployments = place(csv, &["spec", "install", "spec", "deployments"]);
    if bundle.spec().at(&["install", "spec", "deployments"]).is_none_or(Node::is_null) {
        findings.error("practice-deployment", &deployments, "the ClusterServiceVersion has no Deployment");
    }
    for container in bundle.deployments().iter().flat_map(|it| it.items_at(&["spec", "template", "spec", "containers"]))
    {
        let requests = container.at(&["resources", "requests"]);
        let missing: Vec<&str> =
            ["cpu", "memory"].into_iter().filter(|name| requests.is_none_or(|it| it.get(name).is_none())).collect();
        if !missing.is_empty() {
            let message =
                format!("the container `{}` does not request {}", text(container, "name"), missing.join(" and "));
            findings
                .warning("practice-requests", &head(container), message)
                .help("quotas may refuse its Pods: set `resources.requests`");
        }
    }
    for list in ["owned", "required"] {
        for crd in bundle.spec().items_at(&["customresourcedefinitions", list]) {
            if text(crd, "description").is_empty() {
                let message = format!("the {list} CRD `{}` has no description", text(crd, "name"));
                findings.warning("practice-description", &place(crd, &["name"]), message);
            }
        }
    }
    channels(bundle, findings);
    rights(bundle, findings);
    name(bundle, findings);
}

fn channels(bundle: &Bundle, findings: &mut Findings) {
    for annotation in ["channels.v1", "channel.default.v1"].into_iter().filter_map(|name| bundle.annotation(name)) {
        for channel in annotation.as_text().unwrap_or_default().split(',').map(str::trim) {
            if !channel.is_empty() && !["candidate", "fast", "stable"].iter().any(|start| channel.starts_with(start)) {
                let message =
                    format!("the name of the channel `{channel}` does not begin with `candidate`, `fast` or `stable`");
                findings
                    .warning("practice-channel", &annotation.span, message)
                    .help("https://olm.operatorframework.io/docs/best-practices/channel-naming");
            }
        }
    }
}

fn rights(bundle: &Bundle, findings: &mut Findings) {
    for list in ["permissions", "clusterPermissions"] {
        for rule in
            bundle.spec().items_at(&["install", "spec", list]).iter().flat_map(|entry| entry.items_at(&["rules"]))
        {
            let has = |key: &str, words: &[&str]| texts(rule, key).any(|word| words.contains(&word));
            if has("apiGroups", &["apiextensions.k8s.io"])
                && has("resources", &["customresourcedefinitions", "*", "[*]"])
                && has("verbs", &["create", "patch", "*", "[*]"])
            {
                findings
                    .warning(
                        "practice-crd-rights",
                        &place(rule, &["resources"]),
                        "the operator is permitted to create CRDs",
                    )
                    .help("OLM installs CRDs: add them to the bundle, or declare them as required");
            }
        }
    }
}

fn name(bundle: &Bundle, findings: &mut Findings) {
    let (name, span) = (bundle.csv().name(), place(&bundle.csv().node, &["metadata", "name"]));
    // The version is at the end, at any offset.
    let ends_with_version = name.char_indices().any(|(at, _)| semver::parse(&name[at..]).is_ok());
    if !ends_with_version {
        let message = format!("the name `{name}` does not end with a version");
        findings
            .warning("practice-name", &span, message)
            .help("use `<package>.v<version>`, e.g. `memcached-operator.v0.0.1`");
    }
    if name.split(".v").count() != 2 {
        let message = format!("the name `{name}` is not `<package>.v<version>`");
        findings.warning("practice-name", &span, message).help("for example `memcached-operator.v0.0.1`");
    }
}
