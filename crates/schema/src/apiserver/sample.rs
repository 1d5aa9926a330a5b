//! A small object that fits a schema, with a given value somewhere in it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Map, Value, json};

use super::{items, junctors, property, stored_at, text, value, values};
use opctl_model::Step;

/// The key to use in a map with arbitrary keys.
pub const KEY: &str = "key";

/// A field with a fixed value, such as the tag of an enum.
pub struct Pin {
    /// The path of the object that contains the field.
    pub path: Vec<Step>,
    pub name: String,
    pub value: Value,
}

/// A value for the schema, on a best-effort basis, with `wanted` at the end of `steps`.
pub fn sample(schema: &JSONSchemaProps, steps: &[Step], wanted: &Value, pins: &[Pin]) -> Value {
    within(schema, steps, 0, wanted, pins)
}

fn within(schema: &JSONSchemaProps, steps: &[Step], depth: usize, wanted: &Value, pins: &[Pin]) -> Value {
    let Some(step) = steps.get(depth) else { return wanted.clone() };
    let inner = match stored_at(schema, step) {
        Some(inner) => within(inner, steps, depth + 1, wanted, pins),
        None => wanted.clone(),
    };
    let pinned = pins.iter().filter(|pin| pin.path == steps[..depth]);
    let mut fields: Vec<(&str, Value)> = pinned.map(|pin| (pin.name.as_str(), pin.value.clone())).collect();
    match step {
        Step::Property(name) => fields.push((name, inner)),
        Step::Values => fields.push((KEY, inner)),
        Step::Items => return list(schema, &inner),
    }
    object(schema, &fields)
}

/// A value for the schema, on a best-effort basis.
pub fn any(schema: &JSONSchemaProps) -> Value {
    if let Some(default) = &schema.default {
        return default.0.clone();
    }
    if let Some(first) = schema.enum_.iter().flatten().find(|value| !value.0.is_null()) {
        return first.0.clone();
    }
    match text(&schema.type_) {
        "boolean" => false.into(),
        "integer" | "number" => number(schema),
        "string" => string(schema),
        "array" => list(schema, &items(schema).map_or(Value::Null, any)),
        "object" => object(schema, &[]),
        _ if schema.x_kubernetes_int_or_string == Some(true) => 1.into(),
        _ => json!({}),
    }
}

/// An object with the required and the given fields. The fields determine the variant of an enum.
fn object(schema: &JSONSchemaProps, wanted: &[(&str, Value)]) -> Value {
    let mut fields = Map::new();
    require(schema, schema, &mut fields);
    fields.extend(wanted.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let mut tried = vec![fields.clone()];
    for (_, variant) in junctors(schema).filter(|(word, _)| *word != "not") {
        let mut fields = fields.clone();
        for (name, restricted) in variant.properties.iter().flatten() {
            let is_wanted = wanted.iter().any(|(wanted, _)| wanted == name);
            if let Some(only) = restricted.enum_.iter().flatten().next()
                && !is_wanted
            {
                fields.insert(name.clone(), only.0.clone());
            }
        }
        require(schema, variant, &mut fields);
        tried.push(fields);
    }
    if schema.x_kubernetes_embedded_resource == Some(true) {
        let resource = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
        tried.iter_mut().for_each(|fields| fields.extend(resource.as_object().cloned().unwrap_or_default()));
    }
    let fits = |fields: &Map<String, Value>| {
        let mismatches = value::check(&Value::Object(fields.clone()), schema);
        // A value further in may violate the schema on purpose.
        !mismatches.iter().any(|mismatch| mismatch.path.is_empty() || mismatch.rule == value::Rule::Required)
    };
    let first = tried.iter().position(fits).unwrap_or_default();
    tried.swap_remove(first).into()
}

fn require(schema: &JSONSchemaProps, by: &JSONSchemaProps, fields: &mut Map<String, Value>) {
    for name in by.required.iter().flatten().filter(|name| name.as_str() != "metadata") {
        if !fields.contains_key(name)
            && let Some(property) = property(schema, name)
        {
            fields.insert(name.clone(), any(property));
        }
    }
    let least = schema.min_properties.and_then(|least| usize::try_from(least).ok()).unwrap_or_default();
    if let Some(values) = values(schema) {
        (fields.len()..least.min(8)).for_each(|number| _ = fields.insert(format!("{KEY}{number}"), any(values)));
    }
}

fn list(schema: &JSONSchemaProps, item: &Value) -> Value {
    let least = schema.min_items.and_then(|least| usize::try_from(least).ok()).unwrap_or_default();
    let most = schema.max_items.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    vec![item.clone(); least.max(1).min(most).min(64)].into()
}

fn number(schema: &JSONSchemaProps) -> Value {
    let fits = |number: &Value| value::check(number, schema).is_empty();
    let bounds = [schema.minimum, schema.maximum].into_iter().flatten();
    let near = bounds.flat_map(|bound| [bound.ceil(), bound.floor() + 1.0, bound.ceil() - 1.0, bound]);
    let whole = |number: f64| match number as i64 {
        integer if integer as f64 == number => Value::from(integer),
        _ => Value::from(number),
    };
    let mut tried = [1.0, 0.0].into_iter().chain(near).chain(schema.multiple_of).map(whole);
    tried.find(fits).unwrap_or_else(|| 1.into())
}

fn string(schema: &JSONSchemaProps) -> Value {
    const TEXTS: &[&str] = &[
        "a",
        "A",
        "1",
        "a.b",
        "a.example.com",
        "a/b",
        "/a",
        "1.2.3",
        "v1",
        "1Gi",
        "100m",
        "5s",
        "1h",
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        "12:00:00",
        "0 0 * * *",
        "1.2.3.4",
        "1.2.3.4:80",
        "10.0.0.0/8",
        "::1",
        "https://example.com/a",
        "a@example.com",
        "00000000-0000-4000-8000-000000000000",
        "AA==",
    ];
    let least = schema.min_length.and_then(|least| usize::try_from(least).ok()).unwrap_or_default().min(1000);
    let tried = TEXTS.iter().map(|text| (*text).to_owned()).chain([String::new(), "a".repeat(least)]);
    let mut tried = tried.map(Value::String);
    tried.find(|text| value::check(text, schema).is_empty()).unwrap_or_else(|| "a".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(schema: Value) -> JSONSchemaProps {
        serde_json::from_value(schema).unwrap()
    }

    #[test]
    fn gives_what_fits_with_the_wanted_value_in_it() {
        let pool = json!({
            "type": "object",
            "required": ["name", "size"],
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z]+\\.[a-z]+$"},
                "size": {"type": "integer", "minimum": 5, "exclusiveMinimum": true},
                "at": {"type": "string", "format": "date-time"},
            },
        });
        let root = schema(json!({
            "type": "object",
            "required": ["kind", "pools"],
            "properties": {
                "kind": {"type": "string", "enum": ["Disk", "Bucket"]},
                "bucket": {"type": "string"},
                "pools": {"type": "array", "minItems": 2, "items": pool},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "oneOf": [
                {"properties": {"kind": {"enum": ["Disk"]}}, "required": ["disk"]},
                {"properties": {"kind": {"enum": ["Bucket"]}}, "required": ["bucket"]},
            ],
        }));
        let pools = [Step::Property("pools".into()), Step::Items, Step::Property("at".into())];
        let pool = json!({"name": "a.b", "size": 6, "at": "now"});
        let found = sample(&root, &pools, &"now".into(), &[]);
        assert_eq!(found, json!({"kind": "Bucket", "bucket": "a", "pools": [pool, pool]}));
        let found = sample(&root, &[Step::Property("map".into()), Step::Values], &7.into(), &[]);
        assert_eq!(found["map"], json!({"key": 7}));
        assert!(value::check(&found, &root).is_empty(), "{found}");
    }
}
