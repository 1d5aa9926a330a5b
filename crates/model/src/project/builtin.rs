//! Kubernetes' built-in kinds that a controller can watch, from the linked k8s-openapi.
//!
//! Only stable versions, because opctl does not know whether a cluster serves an alpha or beta version. Without kinds
//! that are not stored (reviews, bindings), and without `Event`, which controllers write but do not reconcile.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource};

/// A built-in kind in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The group in `apiVersion`; `""` is the core group.
    pub api_group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    /// The module of the type, e.g. `k8s_openapi::api::apps::v1`.
    pub path: &'static str,
}

impl Builtin {
    /// The group as written on the command line: `core` for the core group.
    pub fn group(&self) -> &'static str {
        if self.api_group.is_empty() { "core" } else { self.api_group }
    }

    pub fn find(group: &str, version: &str, kind: &str) -> Option<&'static Self> {
        in_group(group).find(|builtin| builtin.version == version && builtin.kind == kind)
    }
}

/// All kinds, sorted by group.
pub fn all() -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter()
}

/// The kinds in a built-in group, as written on the command line; empty for other groups.
pub fn in_group(group: &str) -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter().filter(move |builtin| builtin.group() == group)
}

/// The kinds in these groups, as written in markers (`""` is the core group, too); `None` if one is not built-in.
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

/// `true` for built-in cluster-scoped resources, stored or not. A subresource has the scope of its resource.
pub fn is_in_no_namespace(group: &str, resource: &str) -> bool {
    let group = if group == "core" { "" } else { group };
    let plural = resource.split('/').next().unwrap_or(resource);
    let mut stored = BUILTINS.iter().filter(|builtin| builtin.api_group == group && builtin.plural == plural);
    stored.any(|builtin| !builtin.namespaced) || OTHERS_IN_NO_NAMESPACE.contains(&(group, plural))
}

/// Cluster-scoped resources that controllers do not reconcile, by group and plural.
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

/// `true` for built-in groups, and for groups that only Kubernetes may define.
pub fn is_reserved_group(group: &str) -> bool {
    group == "core" || group == "k8s.io" || group.ends_with(".k8s.io")
}

/// The full name of a built-in group given without its domain: `networking` → `networking.k8s.io`.
pub fn full_group(short: &str) -> Option<&'static str> {
    groups().find(|group| group.split_once('.').is_some_and(|(first, _)| first == short))
}

/// The groups of the kinds in this list, as written on the command line.
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
