//! Compares the objects that helm renders of a chart with those that kustomize renders.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::merge::is_container;
use super::{Id, RELEASE_LABELS, is_namespace};

/// The objects without the release's Namespace, which helm creates, and without the labels and annotations of a
/// release.
pub fn normal(objects: &[Value], namespace: &str) -> Vec<Value> {
    objects.iter().filter(|object| !is_namespace(object, namespace)).map(without_release).collect()
}

fn without_release(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(without_release).collect();
            if items.iter().all(is_container) {
                items.sort_by_key(|container| container["name"].to_string());
            }
            items.into()
        }
        Value::Object(entries) => {
            let is_of_release = |key: &str| RELEASE_LABELS.contains(&key) || key == "helm.sh/resource-policy";
            let kept =
                entries.iter().filter(|(key, _)| !is_of_release(key)).map(|(key, value)| (key, without_release(value)));
            // Empty after the labels of the release were removed.
            let is_left = |key: &str, value: &Value| !["annotations", "labels"].contains(&key) || value != &json!({});
            kept.filter(|(key, value)| is_left(key, value)).map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

/// The first difference between two sets of normal objects: the object, and the field with both values.
pub fn difference(wanted: &[Value], found: &[Value]) -> Option<String> {
    let by_id =
        |objects: &[Value]| objects.iter().map(|object| (Id::of(object), object.clone())).collect::<BTreeMap<_, _>>();
    let (wanted, mut found) = (by_id(wanted), by_id(found));
    for (id, wanted) in &wanted {
        let object = format!("{} `{}`", id.kind, id.name);
        match found.remove(id) {
            None => return Some(format!("{object} is missing from the chart")),
            Some(found) => {
                if let Some(difference) = in_field("", wanted, &found) {
                    return Some(format!("{object}: {difference}"));
                }
            }
        }
    }
    found.keys().next().map(|id| format!("{} `{}` is in the chart only", id.kind, id.name))
}

fn in_field(path: &str, wanted: &Value, found: &Value) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            let keys: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
            keys.into_iter().find_map(|key| {
                let [wanted, found] = [wanted, found].map(|entries| entries.get(key).unwrap_or(&Value::Null));
                in_field(&format!("{path}.{key}"), wanted, found)
            })
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut items = wanted.iter().zip(found).enumerate();
            items.find_map(|(at, (wanted, found))| in_field(&format!("{path}[{at}]"), wanted, found))
        }
        _ if wanted == found => None,
        _ => Some(format!(
            "`{}` is {wanted} in `config/default`, and {found} in the chart",
            path.trim_start_matches('.')
        )),
    }
}
