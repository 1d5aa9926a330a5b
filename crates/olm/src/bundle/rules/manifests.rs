//! Kinds, metadata and sizes of manifests. Source: `internal/registry/validate.go` of operator-sdk, `bundle.go` of
//! operator-framework/api, `pkg/lib/bundle/supported_resources.go` of operator-registry.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::findings::Findings;
use super::super::folder::{Bundle, CSV, Manifest};
use super::place;
use opctl_kustomize::yaml::Node;
use opctl_schema::apiserver::{ObjectStep, check_metadata, decode_object};

/// Supported kinds, in any group.
pub const SUPPORTED: [&str; 22] = [
    CSV,
    "CustomResourceDefinition",
    "Secret",
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "ServiceAccount",
    "Service",
    "Role",
    "RoleBinding",
    "PrometheusRule",
    "ServiceMonitor",
    "PodMonitor",
    "PodDisruptionBudget",
    "PriorityClass",
    "VerticalPodAutoscaler",
    "NetworkPolicy",
    "ConsoleYAMLSample",
    "ConsoleQuickStart",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
];

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    for manifest in bundle.others() {
        kind(manifest, findings);
    }
    let accounts: Vec<&str> = bundle
        .deployments()
        .iter()
        .filter_map(|it| it.text_at(&["spec", "template", "spec", "serviceAccountName"]))
        .collect();
    for account in bundle.others().filter(|it| it.kind() == "ServiceAccount" && it.api_version() == "v1") {
        if accounts.contains(&account.name()) {
            let message = format!("OLM creates the ServiceAccount `{}` of the Deployment itself", account.name());
            findings
                .error("service-account", &place(&account.node, &["metadata", "name"]), message)
                .help("remove this manifest");
        }
    }
    size(bundle, findings);
}

fn kind(manifest: &Manifest, findings: &mut Findings) {
    let node = &manifest.node;
    if !SUPPORTED.contains(&manifest.kind()) {
        let message = format!("OLM does not support the kind `{}` in bundles", manifest.kind());
        findings
            .error("object-kind", &place(node, &["kind"]), message)
            .help("remove it, and have the operator create it, or document it");
        return;
    }
    let namespace = node.text_at(&["metadata", "namespace"]).unwrap_or_default();
    if !namespace.is_empty() {
        let message = format!(
            "{} has the namespace `{namespace}`; OLM installs it in the namespace of the operator",
            manifest.shown()
        );
        findings
            .error("object-namespace", &place(node, &["metadata", "namespace"]), message)
            .help("remove `namespace`");
    }
    if manifest.name().is_empty() && node.text_at(&["metadata", "generateName"]).unwrap_or_default().is_empty() {
        findings.error("object-metadata", &place(node, &["metadata", "name"]), "this object has no name");
    }
    if manifest.api_version().is_empty() {
        findings.error("object-decode", &place(node, &["apiVersion"]), "this object has no `apiVersion`");
    }
    if let Err(problem) = decode_object(&node.json()) {
        let message = format!("this is not a {}: {problem}", manifest.kind());
        findings.error("object-decode", &place(node, &["kind"]), message);
    }
    for finding in check_metadata(&node.json()) {
        let message = format!("{}: {}", manifest.shown(), finding.message);
        findings.push(finding.severity, "object-metadata", Some(&at(node, &finding.path)), &message);
        for help in finding.help {
            findings.help(help);
        }
    }
}

/// The position of a value, or of its nearest parent.
pub fn at(node: &Node, path: &[ObjectStep]) -> opctl_model::diagnostic::Span {
    let (mut here, mut span) = (node, super::head(node));
    for step in path {
        let next = match step {
            ObjectStep::Key(key) => here.get(key).map(|value| (value, place(here, &[key]))),
            ObjectStep::Index(index) => here.items().get(*index).map(|item| (item, super::head(item))),
        };
        let Some((value, value_span)) = next else { break };
        (here, span) = (value, value_span);
    }
    span
}

const MOST: usize = 1 << 20;

/// OLM v0 unpacks a bundle into one ConfigMap, with each file compressed separately.
fn size(bundle: &Bundle, findings: &mut Findings) {
    let mut sizes: Vec<(usize, &Manifest)> =
        bundle.manifests.iter().map(|manifest| (compressed(manifest.file().text.as_bytes()), manifest)).collect();
    sizes.sort_by_key(|(size, manifest)| (std::cmp::Reverse(*size), manifest.file().path.clone()));
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    let largest: Vec<String> =
        sizes.iter().take(3).map(|(size, manifest)| format!("`{}` {} KiB", manifest.file().path, size >> 10)).collect();
    let help = format!("the largest files, compressed: {}", largest.join(", "));
    if total > MOST {
        let message =
            format!("the compressed manifests have {} KiB, more than the 1024 KiB of a ConfigMap", total >> 10);
        findings.error_without_place("bundle-size", message).help(help);
    } else if total * 100 > MOST * 85 {
        let message =
            format!("the compressed manifests have {} KiB, close to the 1024 KiB of a ConfigMap", total >> 10);
        findings.warning_without_place("bundle-size", message).help(help);
    }
}

fn compressed(bytes: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    STANDARD.encode(done.expect("a vector takes everything")).len()
}
