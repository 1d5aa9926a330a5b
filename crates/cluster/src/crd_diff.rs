//! Compares a generated CRD with the installed one.

use serde_json::{Map, Value};

use crate::list;

/// The parts of an installed CRD that differ from the generated one. Ignores fields that the API server sets, and those
/// that the operator writes at runtime (the conversion between versions).
pub fn differences(generated: &Value, installed: &Value) -> Vec<String> {
    let (generated, installed) = (&generated["spec"], &installed["spec"]);
    let mut found = Vec::new();
    if generated["scope"] != installed["scope"] {
        found.push("the scope".to_owned());
    }
    let (names, theirs) = (&generated["names"], &installed["names"]);
    // The API server sets missing names to defaults, except for these two.
    let is_other = |key: &&str| {
        let is_set = !names[key].is_null() || ["shortNames", "categories"].contains(key);
        is_set && !same(&names[key], &theirs[key])
    };
    if ["kind", "plural", "singular", "shortNames", "categories"].iter().any(is_other) {
        found.push("the names".into());
    }
    let version =
        |spec: &Value, name: &Value| list(&spec["versions"]).iter().find(|version| version["name"] == *name).cloned();
    for ours in list(&generated["versions"]) {
        let shown = ours["name"].as_str().unwrap_or_default();
        let Some(theirs) = version(installed, &ours["name"]) else {
            found.push(format!("{shown} is missing"));
            continue;
        };
        let keys = [
            "served",
            "storage",
            "schema",
            "subresources",
            "additionalPrinterColumns",
            "selectableFields",
            "deprecated",
            "deprecationWarning",
        ];
        // The API server adds a default column with the age.
        let is_filled_in = |key: &str| key == "additionalPrinterColumns" && ours[key].is_null();
        let differ = keys.into_iter().filter(|key| !is_filled_in(key) && !same(&ours[key], &theirs[key]));
        let differ: Vec<&str> = differ.collect();
        if !differ.is_empty() {
            found.push(format!("{} of {shown}", differ.join(" and ")));
        }
    }
    for theirs in list(&installed["versions"]) {
        if version(generated, &theirs["name"]).is_none() {
            found.push(format!("{} is gone", theirs["name"].as_str().unwrap_or_default()));
        }
    }
    found
}

/// `true` if both mean the same to the API server, which omits empty fields and normalizes numbers.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut keys = ours.keys().chain(theirs.keys());
            keys.all(|key| {
                let (ours, theirs) = (at(ours, key), at(theirs, key));
                // An empty default is still a default.
                same(ours, theirs) && (key != "default" || ours.is_null() == theirs.is_null())
            })
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        _ => ours == theirs || is_omitted(ours) && is_omitted(theirs),
    }
}

fn at<'a>(object: &'a Map<String, Value>, key: &str) -> &'a Value {
    object.get(key).unwrap_or(&Value::Null)
}

/// A value that Go omits when it encodes an object.
fn is_omitted(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Number(_) | Value::Bool(true) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_is_gone_is_a_difference_and_so_is_a_default() {
        let field = |value: Value| json!({"properties": {"a": value}});
        assert!(!same(&json!({"properties": {}}), &field(json!({"type": "string"}))));
        assert!(!same(&field(json!({"default": 1})), &field(json!({"default": 2}))));
        assert!(!same(&field(json!({"default": false})), &field(json!({}))));
        assert!(same(&field(json!({"default": 1.0, "description": ""})), &field(json!({"default": 1}))));
    }
}
