//! Verb, API group and resource of a request, as RBAC names them. The rules are those of the API server
//! (`RequestInfoFactory` of k8s.io/apiserver).

use http::{Method, Uri};

/// The target of a request. Verb, group and resource have few values, so they can be labels of a metric; the names
/// cannot.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Target {
    /// The RBAC verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; `other` for
    /// other methods.
    pub verb: &'static str,
    /// Empty for the core group and for non-resource URLs.
    pub group: String,
    /// The resource with its subresource, such as `deployments/status`; for a non-resource URL its first segment, such
    /// as `/version`.
    pub resource: String,
    pub namespace: Option<String>,
    pub name: Option<String>,
}

impl Target {
    pub fn of(method: &Method, uri: &Uri) -> Self {
        let segments: Vec<&str> = uri.path().split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, segments) = match segments.as_slice() {
            ["api", _, rest @ ..] if !rest.is_empty() => ("", rest),
            ["apis", group, _, rest @ ..] if !rest.is_empty() => (*group, rest),
            _ => return Self::path(method, segments.first().copied()),
        };
        // `status` and `finalize` are subresources of a Namespace, not resources in it.
        let (namespace, segments) = match segments {
            ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, segments),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some((*namespace).to_owned()), rest),
            _ => (None, segments),
        };
        let name = segments.get(1).map(|name| (*name).to_owned());
        let resource = match segments {
            [resource, _, subresource, ..] => format!("{resource}/{subresource}"),
            [resource, ..] => (*resource).to_owned(),
            [] => String::new(),
        };
        let verb = match *method {
            Method::GET | Method::HEAD if name.is_some() => "get",
            Method::GET | Method::HEAD if asks(uri, "watch") => "watch",
            Method::GET | Method::HEAD => "list",
            Method::DELETE if name.is_none() => "deletecollection",
            ref other => verb(other),
        };
        Self { verb, group: group.to_owned(), resource, namespace, name }
    }

    fn path(method: &Method, first: Option<&str>) -> Self {
        Self { verb: verb(method), resource: format!("/{}", first.unwrap_or_default()), ..Self::default() }
    }

    pub fn subresource(&self) -> Option<&str> {
        let (resource, subresource) = self.resource.split_once('/')?;
        (!resource.is_empty()).then_some(subresource)
    }
}

fn verb(method: &Method) -> &'static str {
    match *method {
        Method::GET | Method::HEAD => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "other",
    }
}

/// `true` if the query sets a flag to `true` or `1`.
pub(crate) fn asks(uri: &Uri, flag: &str) -> bool {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.any(|pair| matches!(pair.split_once('='), Some((name, "true" | "1")) if name == flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_and_resources_are_those_of_rbac() {
        for (method, uri, verb, group, resource, name) in [
            ("GET", "/api/v1/pods?limit=500", "list", "", "pods", None),
            ("GET", "/api/v1/namespaces/a/pods?&watch=true", "watch", "", "pods", None),
            ("GET", "/api/v1/namespaces/a/pods/x", "get", "", "pods", Some("x")),
            ("GET", "/api/v1/namespaces", "list", "", "namespaces", None),
            ("GET", "/api/v1/namespaces/a", "get", "", "namespaces", Some("a")),
            ("PATCH", "/api/v1/namespaces/a/status", "patch", "", "namespaces/status", Some("a")),
            ("PUT", "/api/v1/namespaces/a/finalize", "update", "", "namespaces/finalize", Some("a")),
            ("POST", "/apis/apps/v1/namespaces/a/deployments", "create", "apps", "deployments", None),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/a/deployments/x/scale?force=true",
                "patch",
                "apps",
                "deployments/scale",
                Some("x"),
            ),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection", "apps", "deployments", None),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments/x", "delete", "apps", "deployments", Some("x")),
            ("POST", "/api/v1/namespaces/a/pods/x/eviction", "create", "", "pods/eviction", Some("x")),
            ("GET", "/version", "get", "", "/version", None),
            ("GET", "/apis/apps/v1", "get", "", "/apis", None),
            ("GET", "/", "get", "", "/", None),
        ] {
            let target = Target::of(&method.parse().unwrap(), &uri.parse().unwrap());
            let seen = (target.verb, target.group.as_str(), target.resource.as_str(), target.name.as_deref());
            assert_eq!(seen, (verb, group, resource, name), "{method} {uri}");
        }
    }
}
