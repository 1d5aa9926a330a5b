//! The spec of a sample object: the values that the chart requires, and, as comments, those that users often change.
//!
//! A sample that sets every default would pin it: better defaults in a later version of the chart or role would have no
//! effect. At least one value is set, so that uncommenting a line below it is enough to set another.

use serde_json::{Map, Value, json};

use super::{Field, Kind, Object, Range, Schema, Words};
use opctl_model::yaml;

/// Values for everything that the schema requires and that has no default.
pub fn required(object: &Object) -> Value {
    let fields = object.fields.iter().filter_map(|field| {
        let below = match &field.schema.kind {
            Kind::Object(object) => required(object),
            _ => Value::Null,
        };
        let is_needed = field.is_required
            || below.as_object().is_some_and(|fields| !fields.is_empty() && field.schema.default.is_some());
        is_needed.then(|| (field.name.clone(), if below.is_null() { any(&field.schema.kind) } else { below }))
    });
    fields.collect::<Map<_, _>>().into()
}

/// A value that the schema accepts, except for its pattern.
fn any(kind: &Kind) -> Value {
    let whole = |Range { min, max }: &Range<i64>| min.unwrap_or_else(|| max.map_or(1, |max| max.min(1)));
    let count = |Range { min, .. }: &Range<u64>| usize::try_from(min.unwrap_or_default()).unwrap_or_default();
    match kind {
        Kind::Boolean => json!(false),
        Kind::Integer(range) => json!(whole(range)),
        Kind::Number(Range { min, max }) => json!(min.or(*max).unwrap_or(1.0)),
        Kind::IntegerOrText => json!(1),
        Kind::Text { length, .. } => json!("x".repeat(count(length).max(1))),
        Kind::Choice(choices) => json!(choices.first()),
        Kind::List(item, length) => vec![any(&item.kind); count(length)].into(),
        Kind::Object(object) => required(object),
        Kind::Any | Kind::Map(_) => json!({}),
    }
}

/// The text after `spec:`, with these values, and with defaults as comments; without a trailing newline.
pub fn sample(object: &Object, values: &Value, words: Words) -> String {
    let mut text = String::new();
    let values = match values.as_object().is_none_or(Map::is_empty) {
        true => &usual(object),
        false => values,
    };
    match values.as_object().is_none_or(Map::is_empty) {
        true => text.push_str(" {}\n"),
        false => {
            let document = yaml::documents("", &[values]);
            let lines = document.lines().filter(|line| !line.is_empty() && *line != "---");
            text.push('\n');
            text.extend(lines.map(|line| format!("  {line}\n")));
        }
    }
    let defaults = defaults(object, values);
    if !defaults.is_empty() {
        text += &format!("  # Defaults of the {}; set what should differ:\n", words.source);
        text.extend(defaults.iter().map(|line| format!("  # {line}\n")));
    }
    text.trim_end().to_owned()
}

/// The default that users change most.
fn usual(object: &Object) -> Value {
    let is_usual = |field: &&Field| ["replicaCount", "replicas"].contains(&field.name.as_str());
    let has_line = |field: &&Field| has_own_default(field) && line(&field.name, &field.schema).is_some();
    let (number, any) = (object.fields.iter().filter(is_usual), object.fields.iter());
    let usual = number.chain(any).find(has_line);
    usual.map(|field| (field.name.clone(), json!(field.schema.default))).into_iter().collect::<Map<_, _>>().into()
}

/// `false` for overrides of names, whose defaults are derived from the name of the release.
fn has_own_default(field: &Field) -> bool {
    !field.name.ends_with("Override")
}

/// The maximum number of lines with defaults.
const MOST: usize = 16;
/// The keys below the first level that users often change.
const OFTEN: [&str; 12] = [
    "className",
    "create",
    "enabled",
    "existingClaim",
    "port",
    "replicaCount",
    "replicas",
    "repository",
    "size",
    "storageClass",
    "tag",
    "type",
];

fn defaults(object: &Object, values: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for field in object.fields.iter().filter(|field| values.get(&field.name).is_none()) {
        let Field { name, schema, .. } = field;
        let key = yaml::scalar(&name.as_str().into());
        match &schema.kind {
            Kind::Object(object) => {
                let often = object.fields.iter().filter(|field| OFTEN.contains(&field.name.as_str()));
                let below: Vec<String> = often
                    .filter_map(|field| line(&field.name, &field.schema))
                    .map(|line| format!("  {line}"))
                    .collect();
                if !below.is_empty() && lines.len() + below.len() < MOST {
                    lines.push(format!("{key}:"));
                    lines.extend(below);
                }
            }
            _ if !has_own_default(field) || lines.len() == MOST => {}
            _ => lines.extend(line(name, schema)),
        }
    }
    lines
}

/// The line for a scalar with a default.
fn line(name: &str, schema: &Schema) -> Option<String> {
    let default =
        schema.default.as_ref().filter(|default| !default.is_null() && !default.is_object() && !default.is_array())?;
    let (key, value) = (yaml::scalar(&name.into()), yaml::scalar(default));
    (!value.contains('\n')).then(|| format!("{key}: {value}"))
}
