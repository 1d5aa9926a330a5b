//! The kinds of Kubernetes itself that a controller can watch, read off the linked k8s-openapi.
//!
//! Stable versions only: whether a cluster serves an alpha or beta one is not opctl's to say. Left out is what is no
//! stored object (reviews, bindings) and `Event`, which controllers write and do not reconcile.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource};

/// One kind of Kubernetes in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// As in `apiVersion`; `""` is the core group.
    pub api_group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    /// The module of the type, e.g. `k8s_openapi::api::apps::v1`.
    pub path: &'static str,
}

impl Builtin {
    /// The group as the user says it: `core` for the core group.
    pub fn group(&self) -> &'static str {
        if self.api_group.is_empty() { "core" } else { self.api_group }
    }

    pub fn find(group: &str, version: &str, kind: &str) -> Option<&'static Self> {
        in_group(group).find(|builtin| builtin.version == version && builtin.kind == kind)
    }
}

/// All of them, by group.
pub fn all() -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter()
}

/// Everything in a group of Kubernetes, named as the user does; empty when it is no such group.
pub fn in_group(group: &str) -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter().filter(move |builtin| builtin.group() == group)
}

/// Everything in these groups, as markers name them (`""` is the core group, too); `None` if one is no group of Kubernetes.
pub fn in_groups(groups: &[impl AsRef<str>]) -> Option<Vec<&'static Builtin>> {
    let mut all = Vec::new();
    for group in groups {
        let group = if group.as_ref().is_empty() { "core" } else { group.as_ref() };
        let count = all.len();
        all.extend(in_group(group));
        if all.len() == count {
            return None;
        }
    }
    Some(all)
}

/// Whether a resource is one of Kubernetes that is in no namespace, stored or not; a subresource is where its resource is.
pub fn is_in_no_namespace(group: &str, resource: &str) -> bool {
    let group = if group == "core" { "" } else { group };
    let plural = resource.split('/').next().unwrap_or(resource);
    let mut stored = BUILTINS.iter().filter(|builtin| builtin.api_group == group && builtin.plural == plural);
    stored.any(|builtin| !builtin.namespaced) || OTHERS_IN_NO_NAMESPACE.contains(&(group, plural))
}

/// What is in no namespace, and nothing that controllers reconcile, by group and plural.
const OTHERS_IN_NO_NAMESPACE: [(&str, &str); 7] = [
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// The kinds with this plural, of all groups and versions.
pub fn with_plural(plural: &str) -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter().filter(move |builtin| builtin.plural == plural)
}

/// Whether this is a group of Kubernetes itself, or one that only Kubernetes may define.
pub fn is_reserved_group(group: &str) -> bool {
    group == "core" || group == "k8s.io" || group.ends_with(".k8s.io")
}

/// The full name of a group of Kubernetes that the user cut short: `networking` → `networking.k8s.io`.
pub fn full_group(short: &str) -> Option<&'static str> {
    groups().find(|group| group.split_once('.').is_some_and(|(first, _)| first == short))
}

/// The groups that have kinds here, as the user says them.
pub fn groups() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(Builtin::group)
}

trait Scope {
    const NAMESPACED: bool;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

const fn builtin<T: Resource<Scope: Scope>>(path: &'static str) -> Builtin {
    Builtin {
        api_group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        namespaced: <T::Scope as Scope>::NAMESPACED,
        path,
    }
}

macro_rules! builtins {
    ($($group:ident::$version:ident: $($kind:ident)+;)+) => {
        const BUILTINS: &[Builtin] = &[$($(
            builtin::<k8s_openapi::api::$group::$version::$kind>(
                concat!("k8s_openapi::api::", stringify!($group), "::", stringify!($version)),
            ),
        )+)+];
    };
}

builtins! {
    admissionregistration::v1:
        MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration;
    apps::v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet;
    autoscaling::v1: HorizontalPodAutoscaler;
    autoscaling::v2: HorizontalPodAutoscaler;
    batch::v1: CronJob Job;
    certificates::v1: CertificateSigningRequest;
    coordination::v1: Lease;
    core::v1:
        ConfigMap Endpoints LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate
        ReplicationController ResourceQuota Secret Service ServiceAccount;
    discovery::v1: EndpointSlice;
    flowcontrol::v1: FlowSchema PriorityLevelConfiguration;
    networking::v1: IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR;
    node::v1: RuntimeClass;
    policy::v1: PodDisruptionBudget;
    rbac::v1: ClusterRole ClusterRoleBinding Role RoleBinding;
    resource::v1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice;
    scheduling::v1: PriorityClass;
    storage::v1: CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_named_as_users_do() {
        let pod = Builtin::find("core", "v1", "Pod").unwrap();
        assert_eq!((pod.api_group, pod.plural, pod.path), ("", "pods", "k8s_openapi::api::core::v1"));
        assert!(!Builtin::find("networking.k8s.io", "v1", "IngressClass").unwrap().namespaced);
        assert_eq!(full_group("networking"), Some("networking.k8s.io"));
        assert_eq!(full_group("rbac"), Some("rbac.authorization.k8s.io"));
        assert_eq!(full_group("apps"), None);
    }

    #[test]
    fn knows_what_is_in_no_namespace() {
        let all = [("core", "nodes/status"), ("", "namespaces"), ("authorization.k8s.io", "subjectaccessreviews")];
        assert!(all.iter().all(|(group, resource)| is_in_no_namespace(group, resource)));
        let none = [("core", "pods"), ("apps", "nodes"), ("authorization.k8s.io", "localsubjectaccessreviews")];
        assert!(!none.iter().any(|(group, resource)| is_in_no_namespace(group, resource)));
    }
}
