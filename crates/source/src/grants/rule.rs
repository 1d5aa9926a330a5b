//! Whether one marker grants one request, as the API server's RBAC authorizer evaluates the role that it becomes.
//!
//! Source: Kubernetes, pkg/apis/rbac/v1/evaluation_helpers.go and plugin/pkg/auth/authorizer/rbac/rbac.go.

use super::{Grantor, Home};
use opctl_model::project::builtin;
use opctl_model::{RbacRule, Reach, Request};

/// How much of a request a marker grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    None,
    /// In one namespace of several, or for objects of certain names where all are meant.
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

/// Whether the request is about one object, which names of a rule can match; whether it is that one is known only at run time.
fn has_name(request: &Request) -> bool {
    match request.verb {
        "deletecollection" | "list" | "watch" => false,
        // `POST …/pods/NAME/eviction`, and what server-side apply creates (apiserver, pkg/endpoints/handlers/patch.go).
        "create" => request.resource.contains('/') || request.by.contains("patch"),
        _ => true,
    }
}

/// Whether a rule grants a verb on a resource, wherever and whatever its names.
pub fn matches(rule: &RbacRule, group: &str, resource: &str, verb: &str) -> bool {
    let any = |list: &[String], is: &dyn Fn(&str) -> bool| list.iter().any(|word| word == "*" || is(word));
    any(&rule.verbs, &|word| word == verb)
        && any(&rule.groups, &|word| api_group(word) == group)
        && any(&rule.resources, &|word| matches_resource(word, resource))
}

/// `*/status` is that subresource of everything; there is no `pods/*`.
fn matches_resource(word: &str, resource: &str) -> bool {
    let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
    word == resource || subresource.is_some_and(|subresource| word.strip_prefix("*/") == Some(subresource))
}

/// The core group as the API server calls it.
pub fn api_group(group: &str) -> &str {
    if group == "core" { "" } else { group }
}

/// The operator's own namespace, as markers say it.
pub const SYSTEM: &str = "system";

/// Whether the role that the marker becomes holds where the request goes.
fn reaches(rule: &RbacRule, request: &Request, home: &Home) -> Extent {
    // A ClusterRole.
    if rule.namespace.is_none() && (!home.namespaced || home.grantor == Grantor::Roles) {
        return Extent::Whole;
    }
    if rule.namespace.is_none() && is_in_no_namespace(request, home) {
        // `*` becomes a Role.
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
        // An operator that has only Roles gets its namespace from the environment.
        Reach::Unknown if home.namespaced => Extent::Whole,
        Reach::Unknown => Extent::Part,
    }
}

/// The namespace that a marker for this request names.
pub fn namespace_for<'a>(request: &'a Request, home: &Home) -> Option<&'a str> {
    match &request.reach {
        Reach::Namespace(name) if home.namespaces.contains(name) => None,
        Reach::Namespace(name) if home.namespace.as_ref() != Some(name) => Some(name),
        Reach::Namespace(_) if !home.namespaced || !home.namespaces.is_empty() => Some(SYSTEM),
        _ => None,
    }
}

/// Whether no marker of such an operator can grant it: what is asked for in all namespaces, where there are but Roles.
pub fn is_out_of_reach(request: &Request, home: &Home) -> bool {
    let has_only_roles = home.namespaced && home.grantor == Grantor::Markers;
    has_only_roles && request.reach == Reach::Cluster && !is_in_no_namespace(request, home)
}

/// Whether its marker becomes a ClusterRole in any project.
fn is_in_no_namespace(Request { group, resource, .. }: &Request, home: &Home) -> bool {
    let plural = resource.split('/').next().unwrap_or(resource);
    let is = |(own_group, own_plural): &(String, String)| own_group == group && own_plural == plural;
    builtin::is_in_no_namespace(group, resource) || home.cluster_kinds.iter().any(is)
}
