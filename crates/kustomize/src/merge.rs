//! Strategic merge as in kustomize: merges mappings, and lists of built-in kinds by their merge keys.

use super::yaml::{Entry, Node, Value};

/// Merges a patch into a value; `None` if the patch deletes it. Set `is_builtin` for Kubernetes' built-in kinds, whose
/// lists have merge keys.
pub fn merge(base: Node, patch: &Node, is_builtin: bool) -> Option<Node> {
    if patch.is_null() {
        return None;
    }
    match (&base.value, &patch.value) {
        (Value::Map(_), Value::Map(entries)) => merge_maps(base, patch, entries, is_builtin),
        _ => added(patch),
    }
}

fn merge_maps(mut base: Node, patch: &Node, entries: &[Entry], is_builtin: bool) -> Option<Node> {
    match patch.text_at(&["$patch"]) {
        Some("delete") => return None,
        Some("replace") => return added(patch),
        _ => {}
    }
    for entry in entries.iter().filter(|entry| entry.key != "$patch") {
        let merged = match base.remove_with_place(&entry.key) {
            None => added(&entry.value).map(|value| (None, value)),
            Some((at, old)) => {
                let both_lists = matches!((&old.value.value, &entry.value.value), (Value::List(_), Value::List(_)));
                let keys = if both_lists && is_builtin { merge_keys(&entry.key, &entry.value) } else { &[] };
                let value = if keys.is_empty() {
                    merge(old.value, &entry.value, is_builtin)
                } else {
                    merge_lists(old.value, &entry.value, keys)
                };
                value.map(|value| (Some((at, old.key_span)), value))
            }
        };
        if let Some((place, value)) = merged {
            let (at, key_span) = place.unwrap_or((usize::MAX, entry.key_span.clone()));
            base.insert_at(at, Entry { key: entry.key.clone(), key_span, value });
        }
    }
    Some(base)
}

/// The value that a patch adds where none exists: the patch without its deletions.
fn added(patch: &Node) -> Option<Node> {
    let value = match &patch.value {
        Value::Null => return None,
        Value::Map(entries) => {
            if patch.text_at(&["$patch"]) == Some("delete") {
                return None;
            }
            let kept = entries.iter().filter(|entry| entry.key != "$patch");
            let kept = kept.filter_map(|entry| Some(Entry { value: added(&entry.value)?, ..entry.clone() }));
            Value::Map(kept.collect())
        }
        Value::List(items) => Value::List(items.iter().filter_map(added).collect()),
        other => other.clone(),
    };
    Some(Node { value, span: patch.span.clone() })
}

/// Merges items with equal keys. New items come first.
fn merge_lists(base: Node, patch: &Node, keys: &[&str]) -> Option<Node> {
    let span = base.span.clone();
    let Value::List(mut old) = base.value else { return added(patch) };
    match patch.items().iter().find(|item| item.entries().len() == 1).and_then(|item| item.text_at(&["$patch"])) {
        Some("delete") => return None,
        Some("replace") => {
            let items = patch.items().iter().filter(|item| item.get("$patch").is_none()).filter_map(added).collect();
            return Some(Node { value: Value::List(items), span: patch.span.clone() });
        }
        _ => {}
    }
    let mut first = Vec::new();
    for item in patch.items() {
        let same = |other: &Node| {
            keys.iter().enumerate().all(|(at, key)| match (item.get(key), other.get(key)) {
                (Some(one), Some(two)) => one.value == two.value,
                // The first key is required; others, such as the protocol of a port, are optional.
                _ => at > 0,
            })
        };
        let merged = match old.iter().position(same) {
            Some(at) => merge(old.remove(at), item, true),
            None => added(item),
        };
        first.extend(merged);
    }
    first.append(&mut old);
    Some(Node { value: Value::List(first.into_iter().collect()), span })
}

/// The merge keys of a list.
fn merge_keys(field: &str, items: &Node) -> &'static [&'static str] {
    match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "env"
        | "imagePullSecrets"
        | "secrets"
        | "webhooks"
        | "matchConditions"
        | "resourceClaims"
        | "schedulingGates" => &["name"],
        "volumeMounts" => &["mountPath"],
        "volumeDevices" => &["devicePath"],
        "hostAliases" => &["ip"],
        "topologySpreadConstraints" => &["topologyKey", "whenUnsatisfiable"],
        "ports" if items.items().iter().any(|item| item.get("containerPort").is_some()) => {
            &["containerPort", "protocol"]
        }
        "ports" => &["port", "protocol"],
        "conditions" => &["type"],
        "ownerReferences" => &["uid"],
        _ => &[],
    }
}
