//! Ansible modules that send requests to the API server, with the verbs of these requests.
//!
//! Derived from the code of kubernetes.core 6: a module gets an object before it changes it, patches existing objects,
//! and polls with `get` while it waits.

/// The requests of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// Creates, changes or deletes objects of its definition.
    Apply,
    /// The verbs on the kind in its arguments.
    OnKind(&'static [&'static str]),
    /// The verbs on a subresource of the kind in its arguments; it also gets the objects.
    OnSubresource(&'static str, &'static [&'static str]),
    /// The same requests for any arguments: group, resource, verbs.
    Fixed(&'static [(&'static str, &'static str, &'static [&'static str])]),
    /// Requests that cannot be derived from its arguments.
    Opaque,
    /// Runs a program.
    Command,
    /// Writes a status: that of the run's object, for which the controller has permission, or that of an object in its
    /// arguments.
    Status,
    /// A module of operator-sdk that has no effect here, with the reason.
    WithoutEffect(&'static str),
    /// A module that today's releases no longer have, with what replaces it: a run with it fails.
    Removed(&'static str),
}
impl Module {
    /// Its arguments may contain credentials for the API server.
    pub fn has_credentials(self) -> bool {
        !matches!(self, Command | WithoutEffect(_) | Removed(_) | Fixed([]))
    }
}
use Module::{Apply, Command, Fixed, OnKind, OnSubresource, Opaque, Removed, Status, WithoutEffect};

const CORE: &[&str] = &["kubernetes.core", "community.kubernetes", "community.okd", "redhat.openshift"];
const SDK: &[&str] = &["operator_sdk.util"];
const BUILTIN: &[&str] = &["ansible.builtin", "ansible.legacy"];

const MODULES: &[(&[&str], &str, Module)] = &[
    (CORE, "k8s", Apply),
    (CORE, "k8s_info", OnKind(&["get", "list"])),
    (CORE, "k8s_facts", Removed("kubernetes.core.k8s_info")),
    (CORE, "k8s_raw", Removed("kubernetes.core.k8s")),
    (CORE, "openshift_raw", Removed("kubernetes.core.k8s")),
    (CORE, "openshift_scale", Removed("kubernetes.core.k8s_scale")),
    (CORE, "k8s_json_patch", OnKind(&["get", "patch"])),
    (CORE, "k8s_scale", OnSubresource("scale", &["get", "patch"])),
    // From Kubernetes 1.35 on, a WebSocket needs `create`.
    (CORE, "k8s_exec", Fixed(&[("", "pods", &["get"]), ("", "pods/exec", &["create", "get"])])),
    (CORE, "k8s_cp", Fixed(&[("", "pods", &["get"]), ("", "pods/exec", &["create", "get"])])),
    (CORE, "k8s_log", Fixed(&[("", "pods", &["get", "list"]), ("", "pods/log", &["get"])])),
    (CORE, "k8s_taint", Fixed(&[("", "nodes", &["get", "patch"])])),
    (
        CORE,
        "k8s_drain",
        Fixed(&[
            ("", "nodes", &["get", "patch"]),
            ("", "pods", &["delete", "get", "list"]),
            ("", "pods/eviction", &["create"]),
            ("apps", "daemonsets", &["get"]),
        ]),
    ),
    (CORE, "k8s_service", Fixed(&[("", "services", &["create", "delete", "get", "list", "patch", "watch"])])),
    (CORE, "k8s_rollback", Opaque),
    (CORE, "k8s_cluster_info", Fixed(&[])),
    (CORE, "k8s_config_resource_name", Fixed(&[])),
    (CORE, "helm_info", Fixed(&[("", "secrets", &["get", "list"])])),
    (CORE, "helm_template", Fixed(&[])),
    (CORE, "helm_repository", Fixed(&[])),
    (CORE, "helm_plugin", Fixed(&[])),
    (CORE, "helm_plugin_info", Fixed(&[])),
    (CORE, "helm_pull", Fixed(&[])),
    (CORE, "helm_registry_auth", Fixed(&[])),
    (CORE, "helm", Opaque),
    (CORE, "openshift_process", Opaque),
    (CORE, "openshift_route", Opaque),
    (SDK, "k8s_status", Status),
    (SDK, "requeue_after", Fixed(&[])),
    (SDK, "osdk_metric", WithoutEffect("the operator has metrics of its own, and a run cannot add to them")),
    (BUILTIN, "include", Removed("ansible.builtin.include_tasks")),
    (BUILTIN, "command", Command),
    (BUILTIN, "shell", Command),
    (BUILTIN, "script", Command),
    (BUILTIN, "raw", Command),
];

/// The module that a task calls, by its name with or without collection. An unknown module of these collections is
/// `Opaque`.
pub fn module(name: &str) -> Option<Module> {
    let (collection, short) = name.rsplit_once('.').map_or((None, name), |(collection, name)| (Some(collection), name));
    let is_it = |collections: &[&str]| collection.is_none_or(|collection| collections.contains(&collection));
    let known = MODULES.iter().find(|(collections, name, _)| *name == short && is_it(collections));
    match known {
        Some((.., module)) => Some(*module),
        None => collection.filter(|collection| CORE.contains(collection)).map(|_| Opaque),
    }
}

/// The verbs of `kubernetes.core.k8s` with a state; `None` if the state is computed. `list`, `patch` and `watch` are
/// for the controller, which watches applied objects and adds its owner reference.
pub fn verbs_of_state(state: Option<&str>) -> &'static [&'static str] {
    match state {
        Some("absent") => &["delete", "get"],
        Some("patched") => &["get", "list", "patch", "watch"],
        Some(_) => &["create", "get", "list", "patch", "watch"],
        None => &["create", "delete", "get", "list", "patch", "watch"],
    }
}
