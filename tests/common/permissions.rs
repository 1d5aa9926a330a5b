//! The permissions of markers by Kubernetes' rules, and reviews of them by an API server.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use opctl_model::RbacRule;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

/// A request to be authorized.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    Resource {
        namespace: String,
        group: String,
        /// Includes the subresource.
        resource: String,
        name: String,
        verb: String,
    },
    Url {
        path: String,
        verb: String,
    },
}

impl Request {
    pub fn resource(namespace: &str, group: &str, resource: &str, name: &str, verb: &str) -> Self {
        let [namespace, group, resource, name, verb] = [namespace, group, resource, name, verb].map(String::from);
        Self::Resource { namespace, group, resource, name, verb }
    }

    pub fn url(path: &str, verb: &str) -> Self {
        Self::Url { path: path.into(), verb: verb.into() }
    }

    /// The review for a user, or for the client itself.
    pub fn review(&self, user: Option<&str>) -> Value {
        let mut spec = match self {
            Self::Url { path, verb } => json!({"nonResourceAttributes": {"path": path, "verb": verb}}),
            Self::Resource { namespace, group, resource, name, verb } => {
                let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                json!({"resourceAttributes": {
                    "namespace": namespace,
                    "group": group,
                    "resource": resource,
                    "subresource": subresource,
                    "name": name,
                    "verb": verb,
                }})
            }
        };
        let mut kind = "SelfSubjectAccessReview";
        if let Some(user) = user {
            spec["user"] = user.into();
            kind = "SubjectAccessReview";
        }
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec})
    }
}

/// Kubernetes' rule, applied to markers (component-helpers/auth/rbac/validation). `default_namespace` is the scope of
/// rules without a namespace; `None` for the whole cluster.
pub fn allows(rule: &RbacRule, default_namespace: Option<&str>, request: &Request) -> bool {
    let one_of = |list: &[String], text: &str| list.iter().any(|item| item == "*" || item == text);
    match request {
        Request::Url { path, verb } => {
            let matches = |url: &String| match url.strip_suffix('*') {
                Some(start) => path.starts_with(start),
                None => url == path,
            };
            rule.urls.iter().any(matches) && one_of(&rule.verbs, verb)
        }
        Request::Resource { namespace, group, resource, name, verb } => {
            let named = if group.is_empty() { "core" } else { group };
            let subresource = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
            rule.namespace.as_deref().or(default_namespace).is_none_or(|in_namespace| in_namespace == namespace)
                && (one_of(&rule.groups, named) || one_of(&rule.groups, group))
                && (one_of(&rule.resources, resource)
                    || subresource.is_some_and(|subresource| one_of(&rule.resources, &subresource)))
                && (rule.resource_names.is_empty() || rule.resource_names.contains(name))
                && one_of(&rule.verbs, verb)
        }
    }
}

/// All requests that the rules allow in these namespaces, and similar ones: with another namespace, group, resource,
/// name or verb.
pub fn requests(rules: &[RbacRule], namespaces: &[&str]) -> BTreeSet<Request> {
    let mut requests = BTreeSet::new();
    let words = |of: fn(&RbacRule) -> &Vec<String>, beside: &[&str]| -> BTreeSet<String> {
        rules.iter().flat_map(of).cloned().chain(beside.iter().map(ToString::to_string)).collect()
    };
    let all_groups = words(|rule| &rule.groups, &["other.example.com"]);
    let all_resources = words(|rule| &rule.resources, &["others"]);
    let all_names = words(|rule| &rule.resource_names, &["", "other"]);
    let all_verbs = words(|rule| &rule.verbs, &[VERBS, &["escalate"]].concat());
    let all_namespaces: BTreeSet<String> = namespaces.iter().map(ToString::to_string).collect();
    for rule in rules {
        let names = if rule.resource_names.is_empty() { &vec![String::new()] } else { &rule.resource_names };
        let subresources: BTreeSet<String> =
            rule.resources.iter().filter(|name| !name.contains('/')).map(|name| format!("{name}/status")).collect();
        let of = |list: &Vec<String>| list.iter().cloned().collect::<BTreeSet<_>>();
        let [groups, resources, names, verbs] = [of(&rule.groups), of(&rule.resources), of(names), of(&rule.verbs)];
        let others = all_resources.union(&subresources).cloned().collect();
        for [namespaces, groups, resources, names, verbs] in [
            [&all_namespaces, &groups, &resources, &names, &verbs],
            [&all_namespaces, &all_groups, &resources, &names, &verbs],
            [&all_namespaces, &groups, &others, &names, &verbs],
            [&all_namespaces, &groups, &resources, &all_names, &verbs],
            [&all_namespaces, &groups, &resources, &names, &all_verbs],
        ] {
            for namespace in namespaces {
                for group in groups {
                    let group = if group == "core" { "" } else { group };
                    for resource in resources {
                        for name in names {
                            requests.extend(verbs.iter().map(|verb| {
                                let [group, resource, verb] = [group, resource, verb].map(example);
                                Request::resource(namespace, &group, &resource, name, &verb)
                            }));
                        }
                    }
                }
            }
        }
        for url in &rule.urls {
            for path in [example(url), format!("{}/beside", url.trim_end_matches('*')), "/beside".into()] {
                requests.extend(["get", "post"].map(|verb| Request::url(&path, verb)));
            }
        }
    }
    requests
}

const VERBS: &[&str] = &["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// A word that matches a wildcard.
fn example(word: &str) -> String {
    word.replace('*', "anything")
}

/// Sends reviews and compares the results with the expected ones. The authorizer applies new roles with a delay, so
/// wrong results are retried for a while.
pub fn assert_answers(cluster: &ControlPlane, arguments: &[&str], reviews: &[Value], expected: &[bool]) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": reviews}).to_string();
    let arguments = [arguments, &["create", "-f", "-", "-o", "json"]].concat();
    let started = Instant::now();
    loop {
        let output = cluster.kubectl(&arguments, &list);
        let answers: Vec<bool> = serde_json::Deserializer::from_str(&output)
            .into_iter::<Value>()
            .map(|answer| answer.unwrap()["status"]["allowed"].as_bool().unwrap())
            .collect();
        assert_eq!(answers.len(), expected.len());
        let Some(wrong) = (0..answers.len()).find(|index| answers[*index] != expected[*index]) else { return };
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "allowed: {}, expected: {}: {}",
            answers[wrong],
            expected[wrong],
            reviews[wrong]["spec"]
        );
        sleep(Duration::from_millis(300));
    }
}
