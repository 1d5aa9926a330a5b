//! Requests in the notation of `tests/requests`.

use opctl_model::Request;

/// The permission, and the namespace of the request.
pub fn split(said: &str) -> (&str, Option<&str>) {
    said.split_once(" in ").map_or((said, None), |(permission, namespace)| (permission, Some(namespace)))
}

/// A request in the notation of cases, without the namespace.
pub fn said_of(request: &Request) -> String {
    let (resource, subresource) = request.resource.split_once('/').unwrap_or((&request.resource, ""));
    let group = if request.group.is_empty() { String::new() } else { format!(".{}", request.group) };
    let slash = if subresource.is_empty() { "" } else { "/" };
    format!("{} {resource}{group}{slash}{subresource}", request.verb)
}
