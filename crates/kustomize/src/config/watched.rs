//! Compares the namespaces that the operator's workload watches with the namespaces of its Roles.

use std::collections::BTreeSet;

use crate::diagnostics::OP145;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::names::Namespace;

use crate::fields;
use crate::yaml::Node;

/// Reports a WATCH_NAMESPACE that differs from the namespaces in PROJECT, if it lists any.
pub fn unwatched(objects: &[Node], namespaces: &[Namespace]) -> Option<Diagnostic> {
    if namespaces.is_empty() {
        return None;
    }
    let granted: BTreeSet<&str> = namespaces.iter().map(Namespace::as_str).collect();
    let is_other = |variable: &&Node| {
        let watched = variable.text_at(&["value"]).unwrap_or_default();
        watched.split(',').collect::<BTreeSet<_>>() != granted
    };
    let containers = objects.iter().flat_map(|object| {
        let pod = object.text_at(&["kind"]).and_then(fields::pod_spec);
        pod.map(|path| object.items_at(&[path, &["containers"]].concat())).unwrap_or_default()
    });
    let containers: Vec<&Node> = containers.collect();
    let variables = containers.iter().flat_map(|container| container.items_at(&["env"]));
    let is_watch = |variable: &&Node| variable.text_at(&["name"]) == Some("WATCH_NAMESPACE");
    let variables: Vec<&Node> = variables.filter(is_watch).collect();
    // A value from another object is unknown.
    let node = match &variables[..] {
        [] => *containers.iter().find(|container| container.get("envFrom").is_none())?,
        some => *some.iter().find(|variable| is_other(variable))?,
    };
    let place = node.get("value").or_else(|| node.get("name")).unwrap_or(node);
    let list = Vec::from_iter(granted).join(",");
    let problem = OP145.warning("the operator watches other namespaces than its Roles are in");
    let help = format!(
        "set WATCH_NAMESPACE to `{list}`, or change `namespaces` under `manifests` in PROJECT and run `opctl manifests`"
    );
    Some(problem.at(place.span.clone(), format!("PROJECT lists {list}")).help(help))
}
