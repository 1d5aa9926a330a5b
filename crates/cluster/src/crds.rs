//! CustomResourceDefinitions of the cluster: their state in the API server, and their objects.

use std::time::Duration;

use serde_json::Value;

use crate::{Deadline, Kubectl, KubectlError, condition, items, list, text_at};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crd {
    /// The name: `memcacheds.cache.example.com`.
    pub name: String,
    pub kind: String,
    pub state: State,
    pub is_terminating: bool,
    /// The full name of the resource, in a version that needs no conversion if possible:
    /// `memcacheds.v1.cache.example.com`.
    pub resource: String,
}

/// The state of a CRD since it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Served,
    /// Not yet served, with the reason.
    Waiting(String),
    /// The API server does not accept the names of the CRD. Waiting does not help.
    Refused,
}

/// The reason why CRDs are not served.
#[derive(Debug)]
pub enum NotServed {
    /// The CRDs whose names the API server does not accept.
    Refused(Vec<String>),
    /// The CRDs that are not served at the deadline, each with the reason.
    Waiting(Vec<(String, String)>),
    Kubectl(KubectlError),
}

impl From<KubectlError> for NotServed {
    fn from(error: KubectlError) -> Self {
        Self::Kubectl(error)
    }
}

/// A custom resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingObject {
    /// Empty for a cluster-scoped object.
    pub namespace: String,
    pub name: String,
    pub finalizers: Vec<String>,
}

impl RemainingObject {
    /// `true` if the object has a finalizer other than Kubernetes' built-in ones, which the garbage collector removes.
    pub fn waits_for_a_controller(&self) -> bool {
        self.finalizers.iter().any(|finalizer| !["foregroundDeletion", "orphan"].contains(&finalizer.as_str()))
    }
}

impl Crd {
    /// The CRDs with these names that exist in the cluster.
    pub fn all(kubectl: &Kubectl, names: &[String]) -> Result<Vec<Self>, KubectlError> {
        Ok(get(kubectl, names)?.iter().map(Self::of).collect())
    }

    fn of(crd: &Value) -> Self {
        let is = |version: &&Value, field: &str| version[field] == true;
        let served = list(&crd["spec"]["versions"]).iter().filter(|version| is(version, "served"));
        let version = served.clone().find(|version| is(version, "storage")).or_else(|| served.clone().next());
        let version = version.map(|version| text_at(version, "/name")).unwrap_or_default();
        let (plural, group) = (text_at(crd, "/spec/names/plural"), text_at(crd, "/spec/group"));
        Self {
            name: text_at(crd, "/metadata/name").into(),
            kind: text_at(crd, "/spec/names/kind").into(),
            state: State::of(crd),
            is_terminating: crd.pointer("/metadata/deletionTimestamp").is_some(),
            resource: format!("{plural}.{version}.{group}"),
        }
    }

    /// Waits until the API server serves the objects of these CRDs. `progress` receives the names of the remaining
    /// CRDs.
    pub fn await_served(
        kubectl: &Kubectl,
        names: &[String],
        deadline: Deadline,
        mut progress: impl FnMut(&[&str]),
    ) -> Result<(), NotServed> {
        loop {
            let crds = Self::all(kubectl, names)?;
            let mut waiting: Vec<(String, String)> = Vec::new();
            let mut refused: Vec<String> = Vec::new();
            for name in names {
                match crds.iter().find(|crd| crd.name == *name).map(|crd| &crd.state) {
                    Some(State::Served) => {}
                    Some(State::Waiting(why)) => waiting.push((name.clone(), why.clone())),
                    Some(State::Refused) => refused.push(name.clone()),
                    None => waiting.push((name.clone(), "it was deleted".into())),
                }
            }
            if waiting.is_empty() && refused.is_empty() {
                return Ok(());
            }
            // A condition caused by an earlier CRD may still be present.
            if !refused.is_empty() && (deadline.has_waited(PATIENCE_WITH_NAMES) || deadline.has_passed()) {
                return Err(NotServed::Refused(refused));
            }
            if deadline.has_passed() {
                return Err(NotServed::Waiting(waiting));
            }
            progress(&Vec::from_iter(waiting.iter().map(|(name, _)| name).chain(&refused).map(String::as_str)));
            deadline.pause();
        }
    }

    /// Waits until these CRDs are deleted, and returns those that remain at the deadline. `progress` receives their
    /// number.
    pub fn await_gone(
        kubectl: &Kubectl,
        names: &[String],
        deadline: Deadline,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Self>, KubectlError> {
        loop {
            let mut left = Self::all(kubectl, names)?;
            // A CRD that is not being deleted was recreated by someone else.
            left.retain(|crd| crd.is_terminating);
            if left.is_empty() || deadline.has_passed() {
                return Ok(left);
            }
            progress(left.len());
            deadline.pause();
        }
    }

    /// The objects in the whole cluster.
    pub fn objects(&self, kubectl: &Kubectl) -> Result<Vec<RemainingObject>, KubectlError> {
        let columns = "custom-columns=A:.metadata.namespace,B:.metadata.name,C:.metadata.finalizers[*]";
        let get = ["get", &self.resource, "--all-namespaces", "--no-headers", "-o", columns];
        Ok(kubectl.output(&get, "")?.lines().filter_map(parse_object).collect())
    }
}

/// The CRDs with these names that exist in the cluster.
pub(crate) fn get(kubectl: &Kubectl, names: &[String]) -> Result<Vec<Value>, KubectlError> {
    let mut get = vec!["get", "customresourcedefinitions.apiextensions.k8s.io"];
    get.extend(names.iter().map(String::as_str));
    get.extend(["--ignore-not-found", "-o", "json"]);
    Ok(items(&kubectl.output(&get, "")?))
}

/// Parses a line of three columns, with `<none>` for missing values.
fn parse_object(line: &str) -> Option<RemainingObject> {
    let mut words = line.split_whitespace().map(|word| if word == "<none>" { "" } else { word });
    let (namespace, name) = (words.next()?.to_owned(), words.next()?.to_owned());
    let finalizers = words.next().unwrap_or_default().split(',').filter(|it| !it.is_empty());
    Some(RemainingObject { namespace, name, finalizers: finalizers.map(String::from).collect() })
}

/// A name conflict that lasts longer is not caused by an earlier CRD.
const PATIENCE_WITH_NAMES: Duration = Duration::from_secs(3);

impl State {
    /// The conditions may be older than the applied CRD, so the accepted names are compared with the requested ones.
    pub fn of(crd: &Value) -> Self {
        let is_accepted = ["plural", "singular", "kind", "listKind", "shortNames", "categories"].iter().all(|field| {
            let (wanted, accepted) = (&crd["spec"]["names"][field], &crd["status"]["acceptedNames"][field]);
            // The API server sets missing names to defaults.
            wanted.is_null() || wanted == accepted
        });
        if crd.pointer("/metadata/deletionTimestamp").is_some() {
            return Self::Waiting("it is being deleted".into());
        }
        match (condition(crd, "NamesAccepted"), condition(crd, "Established")) {
            (Some(["False", ..]), _) => Self::Refused,
            (Some(["True", ..]), Some(["True", ..])) if is_accepted => Self::Served,
            (Some(["True", ..]), Some(["False", _, why])) if !why.is_empty() => Self::Waiting(why.into()),
            _ => Self::Waiting("the API server has not processed it yet".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(accepted: &str, conditions: &Value) -> Crd {
        Crd::of(&json!({
            "metadata": {"name": "as.b.c"},
            "spec": {"group": "b.c", "names": {"kind": "A", "plural": "as", "shortNames": ["x"]}, "versions": [
                {"name": "v2", "served": true, "storage": false}, {"name": "v1", "served": true, "storage": true}]},
            "status": {"acceptedNames": {"kind": "A", "plural": "as", "shortNames": [accepted]}, "conditions": conditions},
        }))
    }

    #[test]
    fn what_is_served_is_what_was_applied() {
        let both = json!([{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}]);
        assert_eq!(crd("x", &both).state, State::Served);
        assert_eq!(crd("x", &both).resource, "as.v1.b.c");
        assert!(matches!(crd("y", &both).state, State::Waiting(_)));
        let refused = json!([{"type": "NamesAccepted", "status": "False", "message": "\"x\" is taken"}]);
        assert_eq!(crd("x", &refused).state, State::Refused);
        assert!(matches!(crd("x", &json!([])).state, State::Waiting(_)));
    }

    #[test]
    fn objects_are_read_from_columns() {
        let held = |line| parse_object(line).unwrap();
        let finalizers = vec!["a.b/c".to_owned(), "d".to_owned()];
        assert_eq!(
            held("ns   one   a.b/c,d"),
            RemainingObject { namespace: "ns".into(), name: "one".into(), finalizers }
        );
        let bare = RemainingObject { namespace: String::new(), name: "two".into(), finalizers: Vec::new() };
        assert_eq!(held("<none>   two   <none>"), bare);
    }
}
