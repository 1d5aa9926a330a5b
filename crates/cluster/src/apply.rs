//! Applies and deletes objects.

use std::time::Duration;

use serde_json::Value;

use crate::json::text_at;
use crate::manifest::resource_name;
use crate::{Kubectl, KubectlError, Object, items, name, text};

/// The field manager of objects that opctl applies. `kubectl apply -f dist/install.yaml` has another one.
pub const FIELD_MANAGER: &str = "opctl";

/// Applies the objects with server-side apply: the manifests own their fields, even if someone else has changed them
/// since. Fields that were removed from the manifests are deleted. Unlike with client-side apply, the size of an
/// annotation does not limit the objects.
pub fn apply(kubectl: &Kubectl, objects: &[&Object]) -> Result<Applied, KubectlError> {
    let stdin = text(objects.iter().copied());
    // Best effort: those who may apply need not be permitted to read, and only the words of the result depend on it.
    let get = ["get", "--ignore-not-found", "-o", "json", "-f", "-"];
    let before = kubectl.run_to_the_end(&get, &stdin).map(|(output, error)| (items(&output.stdout), error.is_none()));
    let (before, is_complete) = before.unwrap_or_default();
    let apply =
        ["apply", "--server-side", "--force-conflicts", "--field-manager", FIELD_MANAGER, "-o", "json", "-f", "-"];
    let output = kubectl.run(&apply, &stdin)?;
    let change = |after: &Value| match before.iter().find(|before| is_same(before, after)) {
        Some(before) if without_bookkeeping(before) == without_bookkeeping(after) => Change::Unchanged,
        Some(_) => Change::Configured,
        None if is_complete => Change::Created,
        None => Change::Applied,
    };
    let objects = items(&output.stdout).iter().map(|after| (change(after), shown(after))).collect();
    Ok(Applied { objects, warnings: output.warnings })
}

/// The objects that were applied, in order, and the warnings of the API server.
#[derive(Debug, Default)]
pub struct Applied {
    pub objects: Vec<(Change, String)>,
    pub warnings: Vec<String>,
}

/// The effect of applying an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Configured,
    Unchanged,
    /// One of these: the object could not be read before.
    Applied,
}

impl Change {
    /// The word that kubectl prints.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
            Self::Applied => "applied",
        }
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    ["/kind", "/metadata/namespace", "/metadata/name"].iter().all(|field| a.pointer(field) == b.pointer(field))
        && group(a) == group(b)
}

/// The object without the fields that controllers and the API server write.
fn without_bookkeeping(object: &Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().map(|object| object.remove("status"));
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !["managedFields", "resourceVersion"].contains(&field.as_str()));
    }
    object
}

fn group(object: &Value) -> &str {
    text_at(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group)
}

fn shown(object: &Value) -> String {
    resource_name(text_at(object, "/kind"), group(object), name(object))
}

/// Deletes the objects and returns the names of those that existed, one per line. Skips kinds that the cluster does not
/// know.
pub fn delete(kubectl: &Kubectl, objects: &[&Object], timeout: Duration) -> Result<String, KubectlError> {
    let timeout = format!("{}s", timeout.as_secs().max(1));
    let delete = ["delete", "--ignore-not-found", "--timeout", &timeout, "-o", "name", "-f", "-"];
    let mut left: Vec<&Object> = objects.to_vec();
    while !left.is_empty() {
        let error = match kubectl.output(&delete, &text(left.iter().copied())) {
            Err(error) => error,
            deleted => return deleted,
        };
        let unknown: Vec<String> = unknown_kinds(&error.to_string());
        let before = left.len();
        left.retain(|object| !unknown.contains(&object.kind));
        if left.len() == before {
            return Err(error);
        }
    }
    Ok(String::new())
}

/// The kinds in errors such as `no matches for kind "ServiceMonitor" in version …`.
fn unknown_kinds(stderr: &str) -> Vec<String> {
    let kinds = stderr.split("no matches for kind \"").skip(1).filter_map(|rest| rest.split('"').next());
    kinds.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_of_an_object_is_no_change_of_it() {
        let object = |version: &str, replicas: u8| {
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "shop", "namespace": "default", "resourceVersion": version},
                "spec": {"replicas": replicas}, "status": {"observedGeneration": version},
            })
        };
        assert!(is_same(&object("1", 1), &object("2", 2)));
        assert_eq!(without_bookkeeping(&object("1", 1)), without_bookkeeping(&object("2", 1)));
        assert_ne!(without_bookkeeping(&object("1", 1)), without_bookkeeping(&object("1", 2)));
        assert_eq!(shown(&object("1", 1)), "deployment.apps/shop");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        assert_eq!(shown(&namespace), "namespace/a");
        assert!(!is_same(&namespace, &object("1", 1)));
    }

    #[test]
    fn kinds_that_a_cluster_does_not_know_are_named() {
        let stderr = "resource mapping not found for name: \"a\" namespace: \"b\" from \"STDIN\": no matches for kind \
            \"ServiceMonitor\" in version \"monitoring.coreos.com/v1\"\nensure CRDs are installed first";
        assert_eq!(unknown_kinds(stderr), ["ServiceMonitor"]);
    }
}
