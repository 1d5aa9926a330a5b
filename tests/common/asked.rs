//! Requests as the cases of `tests/requests` say them.

use opctl_model::Request;

/// The permission and the namespace that it is asked in.
pub fn split(said: &str) -> (&str, Option<&str>) {
    said.split_once(" in ").map_or((said, None), |(permission, namespace)| (permission, Some(namespace)))
}

/// A request as cases say it, but for the namespace.
pub fn said_of(request: &Request) -> String {
    let (resource, subresource) = request.resource.split_once('/').unwrap_or((&request.resource, ""));
    let group = if request.group.is_empty() { String::new() } else { format!(".{}", request.group) };
    let slash = if subresource.is_empty() { "" } else { "/" };
    format!("{} {resource}{group}{slash}{subresource}", request.verb)
}
