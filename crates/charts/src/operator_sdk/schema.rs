//! Converts the schema of an existing CRD to the fields of a spec. Keywords without a Rust counterpart are kept.

use serde_json::{Map, Value};

use crate::spec::{Field, Kind, Object, Range, Schema};

/// The spec in the schema of a version; `None` if it has no fields, so any value is valid.
pub fn spec(version: &Map<String, Value>) -> Option<Object> {
    let spec = version.get("properties")?.get("spec")?.as_object()?;
    let has_fields = spec.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
    let mut keywords = spec.clone();
    match kind(&mut keywords) {
        Kind::Object(object) if has_fields => Some(Object { keywords: rest(keywords), ..object }),
        _ => None,
    }
}

/// Lets all objects have unknown keys, as in a CRD with `preserveUnknownFields`: the default of `v1beta1`.
pub fn preserve_unknown_fields(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let is_object = keywords.get("type").is_some_and(|kind| kind == "object") || keywords.contains_key("properties");
    if is_object && !keywords.contains_key("additionalProperties") {
        keywords.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    let properties = keywords.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(preserve_unknown_fields);
    for below in ["items", "additionalProperties"] {
        keywords.get_mut(below).into_iter().for_each(preserve_unknown_fields);
    }
}

/// Fields of the runtime, which has them in each status.
const OF_RUNTIME: [&str; 3] = ["conditions", "lastRun", "observedGeneration"];

/// The fields that a role sets in the status, in the schema of a version. None is required, since the runtime writes a
/// status before the role does.
pub fn status(version: &Map<String, Value>) -> Object {
    let status = version.get("properties").and_then(|it| it.get("status")?.get("properties")?.as_object());
    let fields = status.into_iter().flatten().filter(|(name, _)| !OF_RUNTIME.contains(&name.as_str()));
    let fields = fields.map(|(name, json)| Field { name: name.clone(), schema: schema(json), is_required: false });
    Object { fields: fields.collect(), ..Object::default() }
}

/// The fields of a CRD. Missing descriptions are taken from the `parameters` of a role or chart.
pub fn described(mut crd: Object, parameters: &Object) -> Object {
    for known in crd.fields.iter_mut().filter(|known| known.schema.comment.is_empty()) {
        let same = parameters.fields.iter().find(|field| variable(&field.name) == variable(&known.name));
        known.schema.comment = same.map(|field| field.schema.comment.clone()).unwrap_or_default();
    }
    crd
}

/// Adds missing `parameters` as fields that accept any value, if the CRD accepts unknown keys.
pub fn with_parameters(crd: Object, parameters: Object) -> Object {
    let mut object = described(crd, &parameters);
    let is_known =
        |field: &Field, object: &Object| object.fields.iter().any(|it| variable(&it.name) == variable(&field.name));
    for field in parameters.opened().fields {
        if object.is_open && !is_known(&field, &object) {
            object.fields.push(field);
        }
    }
    object
}

/// A normalized field name, in which case and separators do not matter: no two fields of a role differ in them only.
fn variable(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn schema(json: &Value) -> Schema {
    let mut keywords = json.as_object().cloned().unwrap_or_default();
    let comment = keywords.remove("description");
    let comment = comment.as_ref().and_then(Value::as_str).unwrap_or_default();
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let default = keywords.remove("default");
    let kind = kind(&mut keywords);
    Schema { comment, default, kind, keywords: Some(rest(keywords)) }
}

/// The type. Removes the keywords that it expresses.
fn kind(keywords: &mut Map<String, Value>) -> Kind {
    let kind = kind_without_type(keywords);
    if kind != Kind::Any {
        keywords.remove("type");
    }
    kind
}

fn kind_without_type(keywords: &mut Map<String, Value>) -> Kind {
    if keywords.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        // The API server accepts integers and strings without `anyOf`.
        keywords.remove("anyOf");
        // Otherwise kube would make it nullable.
        keywords.entry("nullable").or_insert(false.into());
        return Kind::Any;
    }
    let kind = keywords.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "boolean" if !keywords.contains_key("enum") => Kind::Boolean,
        "integer" if !keywords.contains_key("enum") => {
            let [min, max] = ["minimum", "maximum"].map(|name| take(keywords, name, Value::as_i64));
            Kind::Integer(Range { min, max })
        }
        "number" if !keywords.contains_key("enum") => {
            let [min, max] = ["minimum", "maximum"].map(|name| take(keywords, name, Value::as_f64));
            Kind::Number(Range { min, max })
        }
        "string" => match take(keywords, "enum", texts) {
            Some(choices) => Kind::Choice(choices),
            None if keywords.contains_key("enum") => Kind::Any,
            None => {
                let [min, max] = ["minLength", "maxLength"].map(|name| take(keywords, name, Value::as_u64));
                let pattern = take(keywords, "pattern", |text| text.as_str().map(str::to_owned));
                Kind::Text { length: Range { min, max }, pattern }
            }
        },
        "array" => {
            let [min, max] = ["minItems", "maxItems"].map(|name| take(keywords, name, Value::as_u64));
            Kind::List(Box::new(below("items", keywords)), Range { min, max })
        }
        "object" => object(keywords),
        _ => Kind::Any,
    }
}

fn object(keywords: &mut Map<String, Value>) -> Kind {
    let properties = take(keywords, "properties", |it| it.as_object().cloned()).unwrap_or_default();
    let required = take(keywords, "required", texts).unwrap_or_default();
    let is_open = keywords.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if properties.is_empty() && required.is_empty() {
        return match keywords.get("additionalProperties") {
            Some(Value::Object(_)) => Kind::Map(Box::new(below("additionalProperties", keywords))),
            Some(Value::Bool(true)) => Kind::Map(Box::default()),
            _ if is_open => Kind::Any,
            _ => Kind::Object(Object::default()),
        };
    }
    let undeclared = required.iter().filter(|name| !properties.contains_key(*name));
    let undeclared: Vec<(String, Value)> = undeclared.map(|name| (name.clone(), Value::Null)).collect();
    if is_open {
        keywords.remove("x-kubernetes-preserve-unknown-fields");
    }
    let fields = properties.into_iter().chain(undeclared).map(|(name, json)| {
        let is_required = required.contains(&name);
        Field { name, schema: schema(&json), is_required }
    });
    Kind::Object(Object { fields: fields.collect(), is_open, ..Object::default() })
}

/// The schema of items or values. Only an object has a type with its own attributes. Other schemas stay in `keywords`
/// unless a Rust type expresses them completely.
fn below(keyword: &str, keywords: &mut Map<String, Value>) -> Schema {
    let Some(json) = keywords.get(keyword).cloned() else { return Schema::default() };
    let mut schema = schema(&json);
    match &mut schema.kind {
        Kind::Object(object) if schema.default.is_none() => {
            object.keywords = schema.keywords.take().unwrap_or_default();
            if !schema.comment.is_empty() {
                object.keywords.insert("description".into(), std::mem::take(&mut schema.comment).into());
            }
            schema.keywords = Some(Map::new());
            keywords.remove(keyword);
        }
        _ if json.as_object().is_some_and(|json| json.len() == 1 && json.contains_key("type")) => {
            keywords.remove(keyword);
        }
        _ => {}
    }
    schema
}

/// The remaining keywords, for an attribute. The type follows from the Rust type, except for a schema without one.
fn rest(mut keywords: Map<String, Value>) -> Map<String, Value> {
    if keywords.get("nullable") == Some(&Value::Bool(false)) && !keywords.contains_key("x-kubernetes-int-or-string") {
        keywords.remove("nullable");
    }
    keywords
}

/// Removes a keyword if `read` accepts its value.
fn take<T>(keywords: &mut Map<String, Value>, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let value = read(keywords.get(name)?)?;
    keywords.remove(name);
    Some(value)
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_has_the_fields_of_the_role_alone_and_requires_none() {
        let version = json!({ "properties": { "status": {
            "required": ["url"],
            "properties": { "url": { "type": "string" }, "conditions": { "type": "array" }, "lastRun": {} },
        } } });
        let [field] = &status(version.as_object().unwrap()).fields[..] else { panic!("one field") };
        assert_eq!((field.name.as_str(), field.is_required), ("url", false));
        assert_eq!(status(&Map::new()), Object::default());
    }

    #[test]
    fn objects_of_a_crd_without_pruning_are_open() {
        let mut version = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
            "one": { "type": "object" },
            "all": { "type": "array", "items": { "properties": { "a": { "type": "string" } } } },
            "map": { "type": "object", "additionalProperties": { "type": "object" } },
        } } } });
        preserve_unknown_fields(&mut version);
        let open = "x-kubernetes-preserve-unknown-fields";
        let spec = &version["properties"]["spec"];
        for (path, expected) in [
            ("", json!(true)),
            ("/properties/one", json!(true)),
            ("/properties/all", Value::Null),
            ("/properties/all/items", json!(true)),
            ("/properties/map", Value::Null),
            ("/properties/map/additionalProperties", json!(true)),
        ] {
            assert_eq!(spec.pointer(path).unwrap()[open], expected, "{path}");
        }
    }
}
