//! Requests that code builds itself: the method and the path of an HTTP request → the attributes that the API server
//! authorizes.
//!
//! Source: Kubernetes, staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go.

use std::collections::BTreeSet;

use super::types::Atom;

/// A path of the API server: a collection or an object, or a subresource of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePath {
    pub group: String,
    pub resource: String,
    pub namespace: Option<String>,
    pub is_object: bool,
    pub subresource: Option<String>,
    pub watches: bool,
}

/// A part of a string that is known only at run time.
pub const HOLE: &str = "{}";

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Resource(ResourcePath),
    /// Every authenticated user may read it.
    Open,
    /// Known only at run time.
    Unknown,
}

pub fn meaning(uri: &str) -> Meaning {
    // The path is extracted from a full URL.
    let path = match uri.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => uri,
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (group, mut rest) = match segments.as_slice() {
        ["version" | "healthz" | "livez" | "readyz" | "openapi", ..]
        | ["api"]
        | ["apis"]
        | ["api", _]
        | ["apis", _]
        | ["apis", _, _] => {
            return Meaning::Open;
        }
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return Meaning::Unknown,
    };
    let mut namespace = None;
    if let ["namespaces", name, inner @ ..] = rest
        && !matches!(inner, [] | ["status"] | ["finalize"])
    {
        namespace = Some((*name).to_owned());
        rest = inner;
    }
    let mut rest = rest.iter().map(|segment| (*segment).to_owned());
    let resource = rest.next().unwrap_or_default();
    let (object, subresource) = (rest.next(), rest.next());
    if [group, &resource].iter().any(|part| part.contains(HOLE)) || resource == "watch" {
        return Meaning::Unknown;
    }
    if subresource.as_deref().is_some_and(|subresource| subresource.contains(HOLE)) {
        return Meaning::Unknown;
    }
    let watches = query.split('&').any(|pair| pair == "watch=true" || pair == "watch=1");
    let is_object = object.is_some();
    Meaning::Resource(ResourcePath { group: group.into(), resource, namespace, is_object, subresource, watches })
}

impl ResourcePath {
    pub fn atom(&self) -> Atom {
        match self.namespace.as_deref() {
            None => Atom::Cluster,
            Some(name) if name.contains(HOLE) => Atom::SomeNamespace,
            Some(name) => Atom::Namespace(name.into()),
        }
    }

    /// The plural and the subresource: `pods/log`.
    pub fn full_resource(&self) -> String {
        let subresource = self.subresource.iter().map(|name| format!("/{name}")).collect::<String>();
        format!("{}{subresource}", self.resource)
    }
}

/// The verbs for a request with this method, on a path or on all objects of a kind; `applies` for server-side apply.
pub fn verbs(path: Option<&ResourcePath>, method: &str, applies: bool) -> Vec<&'static str> {
    let subresource = path.and_then(|path| path.subresource.as_deref());
    let connects = matches!(subresource, Some("attach" | "exec" | "portforward"));
    let is_object = path.is_some_and(|path| path.is_object);
    match method {
        "GET" | "HEAD" if path.is_some_and(|path| path.watches) => vec!["watch"],
        "GET" | "HEAD" if connects => vec!["get", "create"],
        "GET" | "HEAD" if is_object => vec!["get"],
        "GET" | "HEAD" => vec!["list"],
        "POST" => vec!["create"],
        "PUT" => vec!["update"],
        "PATCH" if applies => vec!["patch", "create"],
        "PATCH" => vec!["patch"],
        "DELETE" if is_object => vec!["delete"],
        "DELETE" => vec!["deletecollection"],
        _ => Vec::new(),
    }
}

/// The strings among atoms; `None` if any other string is possible.
pub fn texts(atoms: &BTreeSet<Atom>) -> Option<Vec<&str>> {
    let text = |atom| match atom {
        &Atom::Text(ref text) | &Atom::Pattern(ref text) => Some(&**text),
        _ => None,
    };
    atoms.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_about_what_the_api_server_takes_it_for() {
        let cases = [
            ("GET", "/api/v1/pods", "list pods"),
            ("GET", "/api/v1/namespaces/{}/pods?watch=true", "watch pods in {}"),
            ("GET", "/api/v1/namespaces/a", "get namespaces"),
            ("PUT", "/api/v1/namespaces/a/finalize", "update namespaces/finalize"),
            ("PATCH", "/apis/apps/v1/namespaces/a/deployments/{}/status", "patch deployments/status.apps in a"),
            ("DELETE", "https://host:6443/apis/example.com/v1/things", "deletecollection things.example.com"),
            ("GET", "/api/v1/namespaces/a/pods/b/exec", "get,create pods/exec in a"),
            ("GET", "/version", "open"),
            ("GET", "/apis/apps/v1", "open"),
            ("GET", "/metrics", "unknown"),
            ("GET", "{}/pods", "unknown"),
            ("GET", "/apis/{}/v1/things", "unknown"),
        ];
        for (method, uri, expected) in cases {
            let found = match meaning(uri) {
                Meaning::Open => "open".into(),
                Meaning::Unknown => "unknown".into(),
                Meaning::Resource(path) => {
                    let group = if path.group.is_empty() { String::new() } else { format!(".{}", path.group) };
                    let place = path.namespace.iter().map(|name| format!(" in {name}")).collect::<String>();
                    format!("{} {}{group}{place}", verbs(Some(&path), method, false).join(","), path.full_resource())
                }
            };
            assert_eq!(found, expected, "{method} {uri}");
        }
    }
}
