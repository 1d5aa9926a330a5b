//! The modules of Ansible that make requests to the API server, and the verbs of these.
//!
//! They were read from the code of kubernetes.core 6: a module gets an object before it changes it, patches what exists, and polls with
//! `get` while it waits.

/// What a module does with a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// Creates, changes or deletes the objects of its definition.
    Apply,
    /// These verbs, on the kind of its arguments.
    OnKind(&'static [&'static str]),
    /// These verbs, on the subresource of the kind of its arguments, whose objects it gets.
    OnSubresource(&'static str, &'static [&'static str]),
    /// Always these: group, resource, verbs.
    Fixed(&'static [(&'static str, &'static str, &'static [&'static str])]),
    /// It makes requests that its arguments do not show.
    Opaque,
    /// It runs a program.
    Command,
    /// It writes the status of the object that the run is for, whose controller may do that, or of another one that it names.
    Status,
    /// It belongs to operator-sdk, and does nothing here, for this reason.
    WithoutEffect(&'static str),
}
use Module::{Apply, Command, Fixed, OnKind, OnSubresource, Opaque, Status, WithoutEffect};

const CORE: &[&str] = &["kubernetes.core", "community.kubernetes", "community.okd", "redhat.openshift"];
const SDK: &[&str] = &["operator_sdk.util"];
const BUILTIN: &[&str] = &["ansible.builtin", "ansible.legacy"];

const MODULES: &[(&[&str], &str, Module)] = &[
    (CORE, "k8s", Apply),
    (CORE, "k8s_info", OnKind(&["get", "list"])),
    (CORE, "k8s_facts", OnKind(&["get", "list"])),
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
    (BUILTIN, "command", Command),
    (BUILTIN, "shell", Command),
    (BUILTIN, "script", Command),
    (BUILTIN, "raw", Command),
];

/// The module that a task calls, by its name with or without its collection; one of these collections that is not known is `Opaque`.
pub fn module(name: &str) -> Option<Module> {
    let (collection, short) = name.rsplit_once('.').map_or((None, name), |(collection, name)| (Some(collection), name));
    let is_it = |collections: &[&str]| collection.is_none_or(|collection| collections.contains(&collection));
    let known = MODULES.iter().find(|(collections, name, _)| *name == short && is_it(collections));
    match known {
        Some((.., module)) => Some(*module),
        None => collection.filter(|collection| CORE.contains(collection)).map(|_| Opaque),
    }
}

/// The verbs of `kubernetes.core.k8s` with a state; `None`: it is computed. The controller watches what is applied, and puts its owner
/// reference on it.
pub fn verbs_of_state(state: Option<&str>) -> &'static [&'static str] {
    match state {
        Some("absent") => &["delete", "get"],
        Some("patched") => &["get", "list", "patch", "watch"],
        Some(_) => &["create", "get", "list", "patch", "watch"],
        None => &["create", "delete", "get", "list", "patch", "watch"],
    }
}
