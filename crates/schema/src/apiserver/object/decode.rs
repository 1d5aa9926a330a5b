//! Decoding of objects in the API server: sets defaults, and removes unknown fields and nulls that have no meaning.
//! With strict validation, an unknown field is an error.
//!
//! Source: `defaulting/algorithm.go`, `defaulting/prunenulls.go` and `pruning/algorithm.go` of `pkg/apiserver/schema`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::{ObjectFinding, ObjectStep, shown};
use crate::apiserver::diagnostics::OP451;
use crate::apiserver::{items, property, values};
use opctl_model::names::nearest;

const OF_RESOURCES: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Converts YAML's `1.0` to the integer `1`, as kubectl does.
#[expect(clippy::cast_possible_truncation, reason = "it is whole, and within the bounds")]
pub fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.2e18) {
                *value = (whole as i64).into();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

pub fn default(value: &mut Value, schema: &JSONSchemaProps) {
    match value {
        Value::Object(map) => {
            for (name, property) in schema.properties.iter().flatten() {
                if let Some(default) = default_of(property)
                    && map.get(name).is_none_or(|value| is_meaningless(value, property))
                {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                match property(schema, name) {
                    Some(property) => self::default(value, property),
                    None => of_elements(value, values(schema)),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| of_elements(value, items(schema))),
        _ => {}
    }
}

fn of_elements(value: &mut Value, schema: Option<&JSONSchemaProps>) {
    let Some(schema) = schema else { return };
    if is_meaningless(value, schema) {
        *value = default_of(schema).cloned().unwrap_or_default();
    }
    default(value, schema);
}

fn default_of(schema: &JSONSchemaProps) -> Option<&Value> {
    schema.default.as_ref().map(|default| &default.0).filter(|default| !default.is_null())
}

fn is_meaningless(value: &Value, schema: &JSONSchemaProps) -> bool {
    value.is_null() && schema.nullable != Some(true)
}

/// Removes nulls from non-nullable fields without a default. Nulls in lists are kept.
pub fn prune_nulls(value: &mut Value, schema: Option<&JSONSchemaProps>) {
    match value {
        Value::Object(map) => {
            let of = |name: &str| schema.and_then(|schema| property(schema, name).or_else(|| values(schema)));
            map.retain(|name, value| {
                of(name).is_none_or(|schema| !is_meaningless(value, schema) || default_of(schema).is_some())
            });
            for (name, value) in map {
                prune_nulls(value, of(name));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| prune_nulls(value, schema.and_then(items))),
        _ => {}
    }
}

/// Removes fields that the schema does not have. `root` is the schema of a whole object.
pub fn prune(object: &mut Value, root: &JSONSchemaProps, findings: &mut Vec<ObjectFinding>) {
    let keeps = root.x_kubernetes_preserve_unknown_fields == Some(true);
    let mut walk = Walk { path: Vec::new(), findings };
    walk.visit(object, Some(root), keeps, true);
}

struct Walk<'a> {
    path: Vec<ObjectStep>,
    findings: &'a mut Vec<ObjectFinding>,
}

impl Walk<'_> {
    fn prune(&mut self, value: &mut Value, schema: Option<&JSONSchemaProps>) {
        let keeps = schema.is_some_and(|schema| schema.x_kubernetes_preserve_unknown_fields == Some(true));
        self.visit(value, schema, keeps, false);
    }

    /// With `keeps`, unknown fields are kept, and their content is not visited.
    fn visit(&mut self, value: &mut Value, schema: Option<&JSONSchemaProps>, keeps: bool, is_root: bool) {
        let is_resource = is_root || schema.is_some_and(|schema| schema.x_kubernetes_embedded_resource == Some(true));
        match value {
            Value::Object(map) => {
                let mut unknown = Vec::new();
                for (name, value) in &mut *map {
                    if is_resource && OF_RESOURCES.contains(&name.as_str()) {
                        continue;
                    }
                    self.path.push(ObjectStep::Key(name.clone()));
                    let known = schema.and_then(|schema| property(schema, name));
                    match schema.filter(|schema| schema.additional_properties.is_some()) {
                        _ if known.is_some() => self.prune(value, known),
                        // `additionalProperties: true` keeps a field, but not its content.
                        Some(schema) => self.prune(value, values(schema)),
                        None if keeps => {}
                        None => {
                            unknown.push(name.clone());
                            self.report(name, schema);
                        }
                    }
                    self.path.pop();
                }
                map.retain(|name, _| !unknown.contains(name));
            }
            Value::Array(list) => {
                let items = schema.and_then(items);
                for (index, value) in list.iter_mut().enumerate() {
                    self.path.push(ObjectStep::Index(index));
                    match items {
                        Some(_) if keeps => self.visit(value, items, true, false),
                        None if keeps => {}
                        _ => self.prune(value, items),
                    }
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn report(&mut self, name: &str, schema: Option<&JSONSchemaProps>) {
        let known: Vec<&str> = schema
            .and_then(|schema| schema.properties.as_ref())
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        self.findings.push(unknown(&self.path, name, &known));
    }
}

/// `path` includes the unknown field.
pub fn unknown(path: &[ObjectStep], name: &str, known: &[&str]) -> ObjectFinding {
    const MOST: usize = 12;
    let place = &path[..path.len() - 1];
    let of = if place.is_empty() { String::new() } else { format!(" in {}", shown(place)) };
    let near = nearest(name, known.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let finding = ObjectFinding::error(OP451, path, format!("unknown field `{name}`{of}{hint}"));
    match known {
        _ if near.is_some() => finding,
        [] => finding.help("there are no fields"),
        [only] => finding.help(format!("the only field is `{only}`")),
        known if known.len() <= MOST => finding.help(format!("the fields are `{}`", known.join("`, `"))),
        _ => finding,
    }
}
