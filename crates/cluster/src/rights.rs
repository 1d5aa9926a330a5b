//! Permissions of RBAC: those that roles grant, and those of the current user.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::connection::TIMEOUT;
use crate::{Kubectl, KubectlError, list};

/// A permission: one verb on one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    pub group: String,
    /// With its subresource: `memcacheds/status`. A non-resource URL if it starts with `/`.
    pub resource: String,
    pub verb: String,
    /// `None` for all namespaces, or for a cluster-scoped resource.
    pub namespace: Option<String>,
    /// `None` for objects with any name.
    pub name: Option<String>,
}

impl Right {
    pub fn of(group: &str, resource: &str, verb: &str) -> Self {
        Self { group: group.into(), resource: resource.into(), verb: verb.into(), ..Self::default() }
    }

    /// `true` if it includes another permission, by a wildcard or because it is not restricted to a name.
    pub fn includes(&self, other: &Self) -> bool {
        let is = |own: &str, other: &str| own == other || own == "*";
        is(&self.group, &other.group)
            && is(&self.resource, &other.resource)
            && is(&self.verb, &other.verb)
            && (self.name.is_none() || self.name == other.name)
    }

    fn review(&self) -> Value {
        let spec = if self.resource.starts_with('/') {
            json!({"nonResourceAttributes": {"path": self.resource, "verb": self.verb}})
        } else {
            let (resource, subresource) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
            let attributes = json!({
                "group": self.group, "resource": resource, "subresource": subresource, "verb": self.verb,
                "namespace": self.namespace.as_deref().unwrap_or_default(),
                "name": self.name.as_deref().unwrap_or_default(),
            });
            json!({"resourceAttributes": attributes})
        };
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec})
    }
}

/// The permissions that a role grants in a namespace, or everywhere if it is `None`.
pub fn granted(role: &Value, namespace: Option<&str>) -> Vec<Right> {
    let texts =
        |value: &Value| -> Vec<String> { list(value).iter().filter_map(|it| it.as_str().map(String::from)).collect() };
    let mut rights = Vec::new();
    for rule in list(&role["rules"]) {
        let names = texts(&rule["resourceNames"]);
        let names: Vec<Option<String>> =
            if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
        for verb in texts(&rule["verbs"]) {
            for url in texts(&rule["nonResourceURLs"]) {
                rights.push(Right::of("", &url, &verb));
            }
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    rights.extend(names.iter().cloned().map(|name| {
                        let namespace = namespace.map(String::from);
                        Right { namespace, name, ..Right::of(&group, &resource, &verb) }
                    }));
                }
            }
        }
    }
    rights
}

/// Determines, in one call of kubectl, which of the permissions the current user has. Every authenticated user may
/// create SelfSubjectAccessReviews, which are not stored.
///
/// # Errors
///
/// The last line of kubectl's error.
pub fn ask(kubectl: &Kubectl, rights: &[Right]) -> Result<Vec<bool>, String> {
    let reviews: Vec<Value> = rights.iter().map(Right::review).collect();
    let reviews = json!({"apiVersion": "v1", "kind": "List", "items": reviews}).to_string();
    let arguments = ["create", "--filename=-", "--output=json", "--validate=false", TIMEOUT];
    let output = kubectl.output(&arguments, &reviews).map_err(|error| match error {
        KubectlError::Failed { stderr, .. } => stderr.lines().last().unwrap_or_default().to_owned(),
        error => error.to_string(),
    })?;
    let answers: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&output).into_iter().collect();
    let answers = answers.map_err(|error| format!("kubectl's answer is not JSON: {error}"))?;
    let answers: Vec<bool> = answers.iter().map(|answer| answer["status"]["allowed"] == true).collect();
    if answers.len() == rights.len() { Ok(answers) } else { Err("some reviews were not answered".into()) }
}

/// A summary for messages: `create and patch customresourcedefinitions.apiextensions.k8s.io; get
/// leases.coordination.k8s.io in shop-system`. Lists at most four resources.
pub fn describe(rights: &[&Right]) -> String {
    const AT_MOST: usize = 4;
    let mut by_resource: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for Right { group, resource, verb, namespace, name } in rights {
        let resource = if group.is_empty() { resource.clone() } else { grouped(resource, group) };
        by_resource.entry((resource, name, namespace)).or_default().push(verb);
    }
    let more = by_resource.len().saturating_sub(AT_MOST);
    let lines = by_resource.into_iter().take(AT_MOST).map(|((resource, name, namespace), verbs)| {
        let name = name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
        let namespace = namespace.as_ref().map(|namespace| format!(" in {namespace}")).unwrap_or_default();
        format!("{} {resource}{name}{namespace}", verbs.join(", "))
    });
    let lines = lines.collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{lines}; and {more} more") } else { lines }
}

/// kubectl's format: `memcacheds.cache.example.com/status`.
fn grouped(resource: &str, group: &str) -> String {
    match resource.split_once('/') {
        Some((resource, subresource)) => format!("{resource}.{group}/{subresource}"),
        None => format!("{resource}.{group}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_first_few_are_shown() {
        let rights: Vec<Right> = (0..6).map(|number| Right::of("", &format!("r{number}"), "get")).collect();
        let text = describe(&rights.iter().collect::<Vec<_>>());
        assert_eq!(text, "get r0; get r1; get r2; get r3; and 2 more");
    }

    #[test]
    fn a_review_asks_for_exactly_that() {
        let right =
            Right { name: Some("x".into()), namespace: Some("n".into()), ..Right::of("g", "as/status", "patch") };
        let attributes = json!({"group": "g", "resource": "as", "subresource": "status", "verb": "patch", "namespace": "n", "name": "x"});
        assert_eq!(right.review()["spec"], json!({"resourceAttributes": attributes}));
        let url = json!({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}});
        assert_eq!(Right::of("", "/metrics", "get").review()["spec"], url);
    }
}
