//! Decides if one marker grants one request, as the API server's RBAC authorizer evaluates the role of that marker.
//!
//! Source: Kubernetes, pkg/apis/rbac/v1/evaluation_helpers.go and plugin/pkg/auth/authorizer/rbac/rbac.go.

use super::{Grantor, Home};
use opctl_model::project::builtin;
use opctl_model::{RbacRule, Reach, Request};

/// The extent to which a marker grants a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    None,
    /// In one namespace of several, or for objects with certain names if the request is for all.
    Part,
    Whole,
}

pub fn covers(rule: &RbacRule, request: &Request, home: &Home) -> Extent {
    if !matches(rule, &request.group, &request.resource, request.verb) {
        return Extent::None;
    }
    match reaches(rule, request, home) {
        Extent::Whole if !rule.resource_names.is_empty() && !has_name(request) => Extent::Part,
        extent => extent,
    }
}

/// `true` if the request has an object's name, which `resourceNames` can match; the name itself is known only at run
/// time.
fn has_name(request: &Request) -> bool {
    match request.verb {
        "deletecollection" | "list" | "watch" => false,
        // `POST …/pods/NAME/eviction`, and creation by server-side apply (apiserver, pkg/endpoints/handlers/patch.go).
        "create" => request.resource.contains('/') || request.by.contains("patch"),
        _ => true,
    }
}

/// `true` if a rule grants a verb on a resource, without regard to namespaces and names.
pub fn matches(rule: &RbacRule, group: &str, resource: &str, verb: &str) -> bool {
    let any = |list: &[String], is: &dyn Fn(&str) -> bool| list.iter().any(|word| word == "*" || is(word));
    any(&rule.verbs, &|word| word == verb)
        && any(&rule.groups, &|word| api_group(word) == group)
        && any(&rule.resources, &|word| matches_resource(word, resource))
}

/// `*/status` is that subresource of every resource; `pods/*` does not exist.
fn matches_resource(word: &str, resource: &str) -> bool {
    let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
    word == resource || subresource.is_some_and(|subresource| word.strip_prefix("*/") == Some(subresource))
}

/// The name of a group in the API: `""` for `core`.
pub fn api_group(group: &str) -> &str {
    if group == "core" { "" } else { group }
}

/// The operator's own namespace in markers.
pub const SYSTEM: &str = "system";

/// The extent to which the role of the marker covers the namespaces of the request.
fn reaches(rule: &RbacRule, request: &Request, home: &Home) -> Extent {
    // A ClusterRole covers all namespaces.
    if rule.namespace.is_none() && (!home.namespaced || home.grantor == Grantor::Roles) {
        return Extent::Whole;
    }
    if rule.namespace.is_none() && is_in_no_namespace(request, home) {
        // `*` becomes a Role, which does not grant cluster-scoped resources.
        let named = rule.groups.iter().any(|word| api_group(word) == request.group);
        return if named && rule.resources.contains(&request.resource) { Extent::Whole } else { Extent::None };
    }
    let holds_in = |wanted: &str| match rule.namespace.as_deref() {
        None if !home.namespaces.is_empty() => home.namespaces.iter().any(|name| name == wanted),
        None | Some(SYSTEM) => home.namespace.as_deref() == Some(wanted),
        Some(name) => name == wanted,
    };
    match &request.reach {
        Reach::Cluster => Extent::Part,
        Reach::Namespace(wanted) if holds_in(wanted) => Extent::Whole,
        Reach::Namespace(_) => Extent::None,
        Reach::SomeNamespace => Extent::Whole,
        // A namespaced operator gets its namespace from the environment.
        Reach::Unknown if home.namespaced => Extent::Whole,
        Reach::Unknown => Extent::Part,
    }
}

/// The `namespace=` of a marker for this request.
pub fn namespace_for<'a>(request: &'a Request, home: &Home) -> Option<&'a str> {
    match &request.reach {
        Reach::Namespace(name) if home.namespaces.contains(name) => None,
        Reach::Namespace(name) if home.namespace.as_ref() != Some(name) => Some(name),
        Reach::Namespace(_) if !home.namespaced || !home.namespaces.is_empty() => Some(SYSTEM),
        _ => None,
    }
}

/// `true` if no marker of a namespaced operator can grant the request, because it is for all namespaces.
pub fn is_out_of_reach(request: &Request, home: &Home) -> bool {
    let has_only_roles = home.namespaced && home.grantor == Grantor::Markers;
    has_only_roles && request.reach == Reach::Cluster && !is_in_no_namespace(request, home)
}

/// `true` if a marker for the request always becomes a ClusterRole, because the resource is cluster-scoped.
fn is_in_no_namespace(Request { group, resource, .. }: &Request, home: &Home) -> bool {
    let plural = resource.split('/').next().unwrap_or(resource);
    let is = |(own_group, own_plural): &(String, String)| own_group == group && own_plural == plural;
    builtin::is_in_no_namespace(group, resource) || home.cluster_kinds.iter().any(is)
}
