//! Converts the schema of a version to JSON schema (draft 7).

use serde_json::{Map, Value, json};

use super::Api;

/// The schema of whole objects. Unknown fields are errors where an API server would remove them.
pub fn of(api: &Api, comment: &str) -> String {
    let mut schema = converted(&api.schema, true);
    if let Value::Object(root) = &mut schema {
        root.insert("$comment".into(), comment.into());
        root.insert("$schema".into(), "http://json-schema.org/draft-07/schema#".into());
        let required = root.entry("required").or_insert(json!([]));
        if let Value::Array(required) = required {
            required.splice(0..0, [json!("apiVersion"), json!("kind")]);
        }
        let properties = root.entry("properties").or_insert(json!({}));
        properties["apiVersion"] = json!({ "const": format!("{}/{}", api.group, api.version), "type": "string" });
        properties["kind"] = json!({ "const": api.kind, "type": "string" });
        properties["metadata"] = json!({ "type": "object" });
        root.insert("additionalProperties".into(), false.into());
    }
    serde_json::to_string_pretty(&schema).expect("a JSON value can be written") + "\n"
}

/// Converts a schema. `is_value` is `true` if the schema describes a value, and not a condition in `allOf` and the
/// like.
fn converted(schema: &Value, is_value: bool) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut result = Map::new();
    for (key, value) in schema {
        match key.as_str() {
            "properties" => {
                let Value::Object(properties) = value else { continue };
                let properties = properties.iter().map(|(name, schema)| (name.clone(), converted(schema, is_value)));
                result.insert(key.clone(), Value::Object(properties.collect()));
            }
            "items" | "additionalProperties" => {
                result.insert(key.clone(), converted(value, is_value));
            }
            "not" => {
                result.insert(key.clone(), converted(value, false));
            }
            "allOf" | "anyOf" | "oneOf" => {
                let schemas = value.as_array().into_iter().flatten().map(|schema| converted(schema, false));
                result.insert(key.clone(), schemas.collect());
            }
            // In JSON schema, exclusive bounds are numbers. They are converted below.
            "exclusiveMinimum" | "exclusiveMaximum" | "nullable" => {}
            key if key.starts_with("x-kubernetes-") => {}
            _ => {
                result.insert(key.clone(), value.clone());
            }
        }
    }
    // An API server applies defaults first, so fields with a default need not be present.
    let has_default = |name: &Value| {
        let property = name.as_str().and_then(|name| schema.get("properties")?.get(name));
        property.is_some_and(|property| property.get("default").is_some())
    };
    if let Some(Value::Array(required)) = result.get_mut("required") {
        required.retain(|name| !has_default(name));
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if schema.get(exclusive) == Some(&Value::Bool(true))
            && let Some(value) = result.remove(bound)
        {
            result.insert(exclusive.into(), value);
        }
    }
    let is = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    if is("x-kubernetes-int-or-string") {
        result.remove("anyOf");
        result.insert("type".into(), json!(["integer", "string"]));
    }
    let is_open = is("x-kubernetes-preserve-unknown-fields") || result.contains_key("additionalProperties");
    if is_value && result.contains_key("properties") && !is_open && !is("x-kubernetes-embedded-resource") {
        result.insert("additionalProperties".into(), false.into());
    }
    if is("nullable") {
        if let Some(Value::String(one)) = result.get("type") {
            let types = json!([one, "null"]);
            result.insert("type".into(), types);
        }
        if let Some(Value::Array(values)) = result.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    Value::Object(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_say_in_the_words_of_json_schema_what_those_of_kubernetes_say() {
        let schema = json!({
            "type": "object",
            "properties": {
                "port": { "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "filled": { "type": "object", "properties": { "a": { "default": 1 }, "b": {} }, "required": ["a", "b"] },
                "share": { "type": "number", "minimum": 0, "exclusiveMinimum": true, "nullable": true },
                "mode": { "type": "string", "enum": ["a"], "nullable": true },
                "open": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": { "a": {} } },
                "map": { "type": "object", "additionalProperties": { "type": "object", "properties": { "a": {} } } },
                "one": { "type": "object", "properties": { "a": {}, "b": {} }, "oneOf": [{ "required": ["a"], "properties": { "a": {} } }] },
            },
        });
        let expected = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "port": { "type": ["integer", "string"] },
                "filled": {
                    "type": "object", "properties": { "a": { "default": 1 }, "b": {} }, "required": ["b"],
                    "additionalProperties": false,
                },
                "share": { "type": ["number", "null"], "exclusiveMinimum": 0 },
                "mode": { "type": ["string", "null"], "enum": ["a", null] },
                "open": { "type": "object", "properties": { "a": {} } },
                "map": { "type": "object", "additionalProperties": {
                    "type": "object", "properties": { "a": {} }, "additionalProperties": false,
                } },
                "one": {
                    "type": "object", "properties": { "a": {}, "b": {} }, "additionalProperties": false,
                    "oneOf": [{ "required": ["a"], "properties": { "a": {} } }],
                },
            },
        });
        assert_eq!(converted(&schema, true), expected);
    }
}
