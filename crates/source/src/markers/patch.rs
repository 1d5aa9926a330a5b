//! `patch=` of a webhook marker: a strategic merge patch in JSON, applied to the webhook from the other arguments.
//!
//! Objects are merged, `null` removes, everything else is replaced: no list that could be merged has a merge key in
//! Kubernetes. Fields are those of `admissionregistration/v1`; any other is an error, as it is for controller-gen
//! (controller-tools, pkg/webhook/parser.go).

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use opctl_model::Admission;
use opctl_model::names::nearest;

/// Applies the patch, and returns the paths of the fields that it sets.
pub fn apply(webhook: &mut Value, patch: &str, admission: Admission) -> Result<Vec<String>, String> {
    let Strict(patch) = serde_json::from_str(patch).map_err(|error| format!("the patch is not valid JSON: {error}"))?;
    let Value::Object(patch) = patch else { return Err("the patch is not a JSON object".into()) };
    let fields = match admission {
        Admission::Mutating => WEBHOOK,
        // The last field is for mutating webhooks only.
        Admission::Validating => &WEBHOOK[..WEBHOOK.len() - 1],
    };
    let mut said = Vec::new();
    check_fields(&patch, fields, "", &mut said)?;
    merge(webhook, patch, "")?;
    remove_empty(webhook, fields);
    Ok(said)
}

enum Shape {
    Text,
    /// Base64.
    Bytes,
    Number,
    Texts,
    /// Strings with arbitrary keys.
    Map,
    Object(Fields),
    Objects(Fields),
}

type Fields = &'static [(&'static str, Shape)];

/// Source: k8s.io/api/admissionregistration/v1.
const WEBHOOK: Fields = &[
    ("name", Shape::Text),
    (
        "clientConfig",
        Shape::Object(&[
            ("url", Shape::Text),
            (
                "service",
                Shape::Object(&[
                    ("name", Shape::Text),
                    ("namespace", Shape::Text),
                    ("path", Shape::Text),
                    ("port", Shape::Number),
                ]),
            ),
            ("caBundle", Shape::Bytes),
        ]),
    ),
    (
        "rules",
        Shape::Objects(&[
            ("operations", Shape::Texts),
            ("apiGroups", Shape::Texts),
            ("apiVersions", Shape::Texts),
            ("resources", Shape::Texts),
            ("scope", Shape::Text),
        ]),
    ),
    ("failurePolicy", Shape::Text),
    ("matchPolicy", Shape::Text),
    ("namespaceSelector", SELECTOR),
    ("objectSelector", SELECTOR),
    ("sideEffects", Shape::Text),
    ("timeoutSeconds", Shape::Number),
    ("admissionReviewVersions", Shape::Texts),
    ("matchConditions", Shape::Objects(&[("name", Shape::Text), ("expression", Shape::Text)])),
    ("reinvocationPolicy", Shape::Text),
];

const SELECTOR: Shape = Shape::Object(&[
    ("matchLabels", Shape::Map),
    ("matchExpressions", Shape::Objects(&[("key", Shape::Text), ("operator", Shape::Text), ("values", Shape::Texts)])),
]);

/// The key with which a patch replaces an object instead of merging it.
const DIRECTIVE: &str = "$patch";

fn check_fields(object: &Map<String, Value>, fields: Fields, path: &str, said: &mut Vec<String>) -> Result<(), String> {
    for (name, value) in object {
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if name == DIRECTIVE && value == "replace" {
            said.push(path.to_owned());
            continue;
        }
        let Some((_, shape)) = fields.iter().find(|(field, _)| field == name) else {
            if name.starts_with('$') {
                return Err(format!(
                    "the patch has the directive `{name}`, and only `\"$patch\": \"replace\"` is read"
                ));
            }
            let meant = nearest(name, fields.iter().map(|(field, _)| *field));
            let meant = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            return Err(format!("the patch sets `{at}`, but there is no such field{meant}"));
        };
        if !value.is_null() {
            check_shape(value, shape, &at, said)?;
        }
        said.push(at);
    }
    Ok(())
}

fn check_shape(value: &Value, shape: &Shape, path: &str, said: &mut Vec<String>) -> Result<(), String> {
    let wanted = match (shape, value) {
        (Shape::Text, Value::String(_)) => return Ok(()),
        (Shape::Text, _) => "a text",
        (Shape::Bytes, Value::String(text)) if is_base64(text) => return Ok(()),
        (Shape::Bytes, _) => "base64",
        (Shape::Number, Value::Number(number))
            if number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) =>
        {
            return Ok(());
        }
        (Shape::Number, _) => "a whole number",
        (Shape::Texts, Value::Array(list)) if list.iter().all(Value::is_string) => return Ok(()),
        (Shape::Texts, _) => "a list of strings",
        (Shape::Map, Value::Object(map)) if map.values().all(|value| value.is_string() || value.is_null()) => {
            return Ok(());
        }
        (Shape::Map, _) => "an object with strings",
        (Shape::Object(fields), Value::Object(object)) => return check_fields(object, fields, path, said),
        (Shape::Object(_), _) => "an object",
        (Shape::Objects(fields), Value::Array(list)) if list.iter().all(Value::is_object) => {
            for (index, object) in list.iter().filter_map(Value::as_object).enumerate() {
                let at = format!("{path}[{index}]");
                if object.contains_key(DIRECTIVE) {
                    return Err(format!("the patch has `{DIRECTIVE}` in `{at}`: this list has nothing to merge with"));
                }
                check_fields(object, fields, &at, said)?;
            }
            return Ok(());
        }
        (Shape::Objects(_), _) => "a list of objects",
    };
    Err(format!("the patch sets `{path}` to {value}, which is not {wanted}"))
}

fn merge(target: &mut Value, mut patch: Map<String, Value>, path: &str) -> Result<(), String> {
    if patch.remove(DIRECTIVE).is_some() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { unreachable!("only objects are merged") };
    for (name, value) in patch {
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (target.get_mut(&name), value) {
            (_, Value::Null) => {
                target.remove(&name);
            }
            (Some(inner @ Value::Object(_)), Value::Object(patch)) => merge(inner, patch, &at)?,
            // Kubernetes drops the whole object in this case.
            (_, value) if has_directive(&value) => {
                return Err(format!("the patch replaces `{at}`, which the marker does not set: remove `{DIRECTIVE}`"));
            }
            (_, value) => {
                target.insert(name, without_nulls(value));
            }
        }
    }
    Ok(())
}

fn has_directive(value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.contains_key(DIRECTIVE) || object.values().any(has_directive))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        value => value,
    }
}

fn is_base64(text: &str) -> bool {
    let digits = text.strip_suffix("==").or(text.strip_suffix('=')).unwrap_or(text);
    text.len().is_multiple_of(4) && digits.chars().all(|c| c.is_ascii_alphanumeric() || "+/".contains(c))
}

/// JSON without duplicate keys in an object: one of the two values would be lost.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, _>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is set twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Removes empty lists and maps, except for `{}` as a selector, which selects everything.
fn remove_empty(object: &mut Value, fields: Fields) {
    let Value::Object(object) = object else { return };
    for (name, shape) in fields {
        match (object.get_mut(*name), shape) {
            (Some(Value::Array(list)), _) if list.is_empty() => _ = object.remove(*name),
            (Some(Value::String(text)), Shape::Bytes) if text.is_empty() => _ = object.remove(*name),
            (Some(Value::Object(map)), Shape::Map) if map.is_empty() => _ = object.remove(*name),
            (Some(inner), Shape::Object(fields)) => remove_empty(inner, fields),
            (Some(Value::Array(list)), Shape::Objects(fields)) => {
                list.iter_mut().for_each(|inner| remove_empty(inner, fields));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patched(patch: &str) -> Result<Value, String> {
        let mut webhook = json!({
            "name": "a.b.c",
            "clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/"}},
            "admissionReviewVersions": ["v1"],
        });
        apply(&mut webhook, patch, Admission::Mutating).map(|_| webhook)
    }

    #[test]
    fn refuses_what_would_be_lost_or_is_not_for_this() {
        for (patch, why) in [
            (r#"{"name":"a","name":"b"}"#, "`name` is set twice"),
            (r#"{"clientConfig":{"service":{"port":1,"port":1}}}"#, "`port` is set twice"),
            (
                r#"{"clientConfig":{"$patch":"replace","service":{"$patch":"replace"}}}"#,
                "replaces `clientConfig.service`",
            ),
            (r#"{"clientConfig":{"$patch":"delete"}}"#, "directive"),
            (r#"{"clientConfig":{"caBundle":"?"}}"#, "not base64"),
            (r#"{"Name":"a"}"#, "did you mean `name`?"),
            (r#"{"timeoutSeconds":1.5}"#, "not a whole number"),
            (r#"{"timeoutSeconds":3000000000}"#, "not a whole number"),
            (r#"{"rules":["a"]}"#, "not a list of objects"),
            ("{} {}", "not valid JSON"),
        ] {
            let error = patched(patch).unwrap_err();
            assert!(error.contains(why), "{patch}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_patch_or_an_error(
            text in r#"[{]("(name|clientConfig|service|rules|\$patch|matchLabels|objectSelector)":|[\[\]{}]|"a"|1|null|,){0,12}[}]"#
        ) {
            let _ = patched(&text);
        }
    }
}
