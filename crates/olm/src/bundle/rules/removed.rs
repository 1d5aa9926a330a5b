//! APIs that Kubernetes has removed. Source: `removed_apis.go` of operator-framework/api.

use std::collections::BTreeSet;

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::super::semver::{self, Version};
use super::crds::V1BETA1;
use super::{place, text, texts};
use opctl_model::diagnostic::{Severity, Span};

/// Removed APIs: the minor version of Kubernetes that removed them, `apiVersion`, and kinds.
const REMOVED: &[(u64, &str, &[&str])] = &[
    (22, "apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"]),
    (22, "scheduling.k8s.io/v1beta1", &["PriorityClass"]),
    (22, "rbac.authorization.k8s.io/v1beta1", &["Role", "ClusterRoleBinding", "RoleBinding", "ClusterRole"]),
    (22, "apiregistration.k8s.io/v1beta1", &["APIService"]),
    (22, "authentication.k8s.io/v1beta1", &["TokenReview"]),
    (
        22,
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
    ),
    (22, "admissionregistration.k8s.io/v1beta1", &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]),
    (22, "coordination.k8s.io/v1beta1", &["Lease"]),
    (22, "extensions/v1beta1", &["Ingress"]),
    (22, "networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    (22, "storage.k8s.io/v1beta1", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
    (22, "certificates.k8s.io/v1beta1", &["CertificateSigningRequest"]),
    (25, "batch/v1beta1", &["CronJob"]),
    (25, "discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    (25, "events.k8s.io/v1beta1", &["Event"]),
    (25, "autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    (25, "policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"]),
    (25, "node.k8s.io/v1beta1", &["RuntimeClass"]),
    (26, "autoscaling/v2beta2", &["HorizontalPodAutoscaler"]),
];

/// The minor version of Kubernetes 1 that removed a kind.
fn removal(api_version: &str, kind: &str) -> Option<u64> {
    let row = REMOVED.iter().find(|(_, version, kinds)| *version == api_version && kinds.contains(&kind));
    row.map(|(minor, ..)| *minor)
}

/// `kubernetes` is the target version of the bundle, from `--optional-values k8s-version=…`.
pub fn check(bundle: &Bundle, kubernetes: Option<&str>, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let mut versions = Vec::new();
    if let Some(text) = kubernetes {
        match semver::parse_tolerant(text) {
            Ok(version) => versions.push(version),
            Err(problem) => {
                let message = format!("the option `k8s-version` has no version: {problem}");
                findings
                    .error_without_place("removed-api-option", message)
                    .help("write e.g. `--optional-values k8s-version=1.30`");
            }
        }
    }
    let oldest = text(bundle.spec(), "minKubeVersion");
    if !oldest.is_empty() {
        match semver::parse_tolerant(oldest) {
            Ok(version) => versions.push(version),
            Err(problem) => {
                let span = place(csv, &["spec", "minKubeVersion"]);
                findings.error("removed-api-option", &span, format!("removed APIs cannot be determined: {problem}"));
            }
        }
    }
    let mut report = |minor: u64, span: &Span, what: &str| {
        let removal = Version::new(1, minor, 0);
        let is_used = versions.iter().any(|version| version.cmp_precedence(&removal).is_ge());
        let severity = if is_used { Severity::Error } else { Severity::Warning };
        let message = format!("Kubernetes 1.{minor} removed {what}");
        findings.push(severity, "removed-api", Some(span), &message);
        findings.help(format!("migrate: https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-{minor}"));
    };
    for manifest in &bundle.manifests {
        if let Some(minor) = removal(manifest.api_version(), manifest.kind()) {
            let what = format!("the kind `{}` of `{}`", manifest.kind(), manifest.api_version());
            report(minor, &place(&manifest.node, &["apiVersion"]), &what);
        }
    }
    let mut resources = BTreeSet::new();
    for list in ["owned", "required"] {
        for crd in bundle.spec().items_at(&["customresourcedefinitions", list]) {
            for resource in crd.items_at(&["resources"]) {
                let (version, kind) = (text(resource, "version"), text(resource, "kind"));
                resources.insert(format!("{}s", kind.to_lowercase()));
                if let Some(minor) = removal(version, kind).filter(|minor| *minor == 25) {
                    report(minor, &place(resource, &["version"]), &format!("the kind `{kind}` of `{version}`"));
                }
            }
        }
    }
    let removed = "podsecuritypolicies";
    for list in ["clusterPermissions", "permissions"] {
        for rule in
            bundle.spec().items_at(&["install", "spec", list]).iter().flat_map(|entry| entry.items_at(&["rules"]))
        {
            let names_it = texts(rule, "apiGroups").any(|group| group == "policy")
                && texts(rule, "resources").any(|it| it == removed);
            if names_it && !resources.contains(removed) {
                let message = format!("Kubernetes 1.25 removed the resource `{removed}`, which a role permits");
                findings.warning("removed-api", &place(rule, &["resources"]), message).help("remove it from the role");
            }
        }
    }
}

/// `true` if a manifest uses an API that Kubernetes 1.22 removed.
pub fn uses_removed_in_1_22(bundle: &Bundle) -> bool {
    bundle.manifests.iter().any(|manifest| {
        removal(manifest.api_version(), manifest.kind()) == Some(22)
            || manifest.is_crd() && manifest.api_version() == V1BETA1
    })
}
