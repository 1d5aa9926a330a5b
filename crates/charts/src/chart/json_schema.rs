//! Applies a `values.schema.json` to the inferred schema of values.
//!
//! Constraints that a structural schema cannot express are left to helm, which validates the values of every release
//! with the same file.

use serde_json::{Map, Value};

use crate::spec::{Field, Kind, Object, Range, Schema};

/// A constraint that the API server will not check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The schema file.
    pub file: String,
    /// JSON pointer in the file.
    pub pointer: String,
    pub reason: String,
}

/// Keywords that only add constraints to others.
const UNCHECKED: [&str; 19] = [
    "allOf",
    "anyOf",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "maxProperties",
    "minProperties",
    "multipleOf",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "unevaluatedProperties",
    "uniqueItems",
];

pub fn overlay(schema: &mut Schema, json: &Value, file: &str, gaps: &mut Vec<Gap>) {
    let mut reader = Reader { root: json, file, gaps, resolving: Vec::new() };
    reader.overlay(schema, json, "");
}

struct Reader<'a> {
    root: &'a Value,
    file: &'a str,
    gaps: &'a mut Vec<Gap>,
    /// The references being resolved, since a schema may contain itself.
    resolving: Vec<String>,
}

impl<'a> Reader<'a> {
    fn gap(&mut self, pointer: &str, reason: impl Into<String>) {
        let gap = Gap {
            file: self.file.into(),
            pointer: if pointer.is_empty() { "/".into() } else { pointer.into() },
            reason: reason.into(),
        };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    fn overlay(&mut self, schema: &mut Schema, json: &'a Value, pointer: &str) {
        let Value::Object(keywords) = json else { return };
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            match target {
                Some(target) if !self.resolving.iter().any(|other| other == reference) => {
                    self.resolving.push(reference.to_owned());
                    self.overlay(schema, target, reference.trim_start_matches('#'));
                    self.resolving.pop();
                }
                Some(_) => {
                    schema.kind = Kind::Any;
                    self.gap(pointer, format!("`{reference}` contains itself"));
                }
                None => {
                    schema.kind = Kind::Any;
                    self.gap(pointer, format!("`{reference}` is not in this file"));
                }
            }
        }
        if let Some(text) = keywords.get("description").and_then(Value::as_str) {
            schema.comment = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        for keyword in UNCHECKED.iter().filter(|keyword| keywords.contains_key(**keyword)) {
            self.gap(pointer, format!("`{keyword}`"));
        }
        if let Some(kind) = self.kind(schema, keywords, pointer) {
            schema.kind = kind;
        }
    }

    /// The type that the keywords declare; `None` if they declare none, so that of `known` applies.
    fn kind(&mut self, known: &Schema, keywords: &'a Map<String, Value>, pointer: &str) -> Option<Kind> {
        let number = |name: &str| keywords.get(name).and_then(Value::as_f64);
        let integer = |name: &str| keywords.get(name).and_then(whole);
        let count = |name: &str| integer(name).and_then(|number| u64::try_from(number).ok());
        let choices = match (keywords.get("enum"), keywords.get("const")) {
            (Some(Value::Array(values)), _) => Some(values.clone()),
            (_, Some(value)) => Some(vec![value.clone()]),
            _ => None,
        };
        if let Some(choices) = choices {
            let texts: Option<Vec<String>> = choices
                .iter()
                .filter(|choice| !choice.is_null())
                .map(|choice| choice.as_str().map(str::to_owned))
                .collect();
            match texts {
                Some(texts) if !texts.is_empty() => return Some(Kind::Choice(texts)),
                _ => self.gap(pointer, "`enum` with values that are not strings"),
            }
        }
        let types: Vec<&str> = match keywords.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).filter(|it| *it != "null").collect(),
            _ if keywords.contains_key("properties") => vec!["object"],
            // The alternatives declare the types.
            _ if ["oneOf", "anyOf"].iter().any(|keyword| keywords.contains_key(*keyword)) => return Some(Kind::Any),
            _ => return None,
        };
        Some(match types[..] {
            ["boolean"] => Kind::Boolean,
            ["integer"] => Kind::Integer(Range { min: integer("minimum"), max: integer("maximum") }),
            ["number"] | ["integer", "number"] | ["number", "integer"] => {
                Kind::Number(Range { min: number("minimum"), max: number("maximum") })
            }
            ["string"] => Kind::Text {
                length: Range { min: count("minLength"), max: count("maxLength") },
                // Helm and Kubernetes both use Go's regular expressions.
                pattern: keywords.get("pattern").and_then(Value::as_str).map(str::to_owned),
            },
            ["integer", "string"] | ["string", "integer"] => Kind::IntegerOrText,
            ["array"] => {
                let mut item = match &known.kind {
                    Kind::List(item, _) => (**item).clone(),
                    _ => Schema::default(),
                };
                if let Some(items) = keywords.get("items") {
                    item.kind = Kind::Any;
                    self.overlay(&mut item, items, &format!("{pointer}/items"));
                }
                Kind::List(Box::new(item), Range { min: count("minItems"), max: count("maxItems") })
            }
            ["object"] => self.object(known, keywords, pointer),
            ["null"] | [] => Kind::Any,
            _ => {
                self.gap(pointer, format!("one of the types `{}`", types.join("`, `")));
                Kind::Any
            }
        })
    }

    fn object(&mut self, known: &Schema, keywords: &'a Map<String, Value>, pointer: &str) -> Kind {
        let mut object = match &known.kind {
            Kind::Object(object) => object.clone(),
            _ => Object { is_open: true, ..Object::default() },
        };
        let properties = keywords.get("properties").and_then(Value::as_object);
        for (name, json) in properties.into_iter().flatten() {
            let at = object.fields.iter().position(|field| field.name == *name).unwrap_or_else(|| {
                // The fields of an object that no template reads by its keys are not known yet.
                let default = known.default.as_ref().and_then(|default| default.get(name)).cloned();
                let schema = Schema { default, ..Schema::default() };
                object.fields.push(Field { name: name.clone(), schema, is_required: false });
                object.fields.len() - 1
            });
            let escaped = name.replace('~', "~0").replace('/', "~1");
            self.overlay(&mut object.fields[at].schema, json, &format!("{pointer}/properties/{escaped}"));
        }
        match keywords.get("additionalProperties") {
            Some(Value::Bool(is_open)) => object.is_open = *is_open,
            Some(more @ Value::Object(_)) => {
                let pointer = format!("{pointer}/additionalProperties");
                if object.fields.is_empty() {
                    let mut value = Schema::default();
                    self.overlay(&mut value, more, &pointer);
                    return Kind::Map(Box::new(value));
                }
                object.is_open = true;
                self.gap(&pointer, "`additionalProperties` beside `properties`");
            }
            _ => {}
        }
        // Helm validates values merged with the defaults, without null defaults.
        let required =
            keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required {
            if let Some(field) = object.fields.iter_mut().find(|field| field.name == name) {
                field.is_required = field.schema.default.as_ref().is_none_or(Value::is_null);
            }
        }
        match object.fields.is_empty() && object.is_open {
            true => Kind::Map(Box::default()),
            false => Kind::Object(object),
        }
    }
}

/// JSON allows `1.0` for an integer.
fn whole(value: &Value) -> Option<i64> {
    let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15);
    value.as_i64().or(float.and_then(|float| format!("{float:.0}").parse().ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_with_a_default_is_not_required_although_no_template_reads_it() {
        let default = Some(json!({ "create": true }));
        let mut schema = Schema { kind: Kind::Map(Box::default()), default, ..Schema::default() };
        let json = json!({
            "type": "object",
            "required": ["create", "name"],
            "properties": { "create": { "type": "boolean" }, "name": { "type": "string" } },
        });
        overlay(&mut schema, &json, "values.schema.json", &mut Vec::new());
        let Kind::Object(object) = schema.kind else { panic!("{schema:?}") };
        let required = object.fields.iter().map(|field| (field.name.as_str(), field.is_required));
        assert_eq!(Vec::from_iter(required), [("create", false), ("name", true)]);
    }
}
