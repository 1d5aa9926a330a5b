//! Accessors of objects as JSON. A missing field reads as an empty one.

use serde_json::Value;

/// The objects in the output of `kubectl get … -o json`, which is empty, one object, or a list.
pub fn items(json: &str) -> Vec<Value> {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::Object(mut list)) if list.get("items").is_some_and(Value::is_array) => {
            list.remove("items").and_then(|items| items.as_array().cloned()).unwrap_or_default()
        }
        Ok(object @ Value::Object(_)) => vec![object],
        _ => Vec::new(),
    }
}

/// The string at a JSON pointer; empty if it is missing.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A condition of an object's status: its status, reason and message.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<[&'a str; 3]> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array)?;
    let condition = conditions.iter().find(|condition| condition["type"] == kind)?;
    Some(["/status", "/reason", "/message"].map(|field| text_at(condition, field)))
}

/// The elements of an array.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub fn is_kind(object: &Value, kind: &str) -> bool {
    object["kind"] == kind
}

pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// `shop-system/shop-controller-manager`; only the name for a cluster-scoped object.
pub(crate) fn full_name(object: &Value) -> String {
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{}", name(object)),
        None => name(object).to_owned(),
    }
}
