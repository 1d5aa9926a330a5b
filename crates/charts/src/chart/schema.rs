//! Infers the schema of a chart's values.
//!
//! An object is closed if templates read it only by its keys, so that the API server reports misspelled keys. Below an
//! object that a template passes on as a whole, the valid keys are unknown.
//!
//! The default does not determine the type of a scalar: helm accepts a number for `""`, and `50%` for a number. A
//! scalar therefore accepts anything printable in its place, unless a comment states a type. The other values files in
//! the chart are accepted, too. A `values.schema.json` is more precise and takes precedence.

use serde_json::Value;

use super::Chart;
use super::examples::{examples, widen};
use super::json_schema::{Gap, overlay};
use super::uses::Types;
use super::values::{Tree, values};
use crate::spec::{Field, Kind, Object, Range, Schema};

/// The schema of a chart's values, and the constraints of its `values.schema.json` that it does not express.
///
/// # Errors
///
/// If a `values.schema.json` is not JSON.
pub fn schema(chart: &Chart) -> Result<(Object, Vec<Gap>), super::ChartError> {
    let mut schema = of_tree(&values(chart), false);
    examples(chart).for_each(|values| widen(&mut schema, &values));
    let mut gaps = Vec::new();
    apply(chart, &mut schema, "values.schema.json", &mut gaps)?;
    let object = match schema.kind {
        Kind::Object(object) => object,
        _ => Object { is_open: true, ..Object::default() },
    };
    Ok((object, gaps))
}

/// Applies the JSON schemas, those of subcharts first.
fn apply(chart: &Chart, schema: &mut Schema, name: &str, gaps: &mut Vec<Gap>) -> Result<(), super::ChartError> {
    for (key, subchart) in &chart.subcharts {
        if let Kind::Object(object) = &mut schema.kind
            && let Some(field) = object.fields.iter_mut().find(|field| field.name == *key)
        {
            apply(subchart, &mut field.schema, &format!("charts/{}/values.schema.json", subchart.name), gaps)?;
        }
    }
    let Some(text) = chart.files.get("values.schema.json") else { return Ok(()) };
    let json = serde_json::from_str(text).map_err(|error| super::ChartError {
        message: format!("`{name}` is not valid JSON: {error}"),
        help: "`helm lint` in the folder of the chart shows more".into(),
    })?;
    overlay(schema, &json, name, gaps);
    Ok(())
}

/// `is_free` is `true` below an object that a template passes on as a whole.
fn of_tree(tree: &Tree, is_free: bool) -> Schema {
    let kind = match &tree.default {
        _ if is_free && !tree.is_read => Kind::Any,
        Some(Value::Object(_)) | None if !tree.keys.is_empty() => object(tree, is_free),
        // Templates read keys of the value, so it may be an object.
        _ if tree.types == Types::Several || !tree.keys.is_empty() => Kind::Any,
        default @ (None | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
            let default = default.as_ref().unwrap_or(&Value::Null);
            // A stated type that does not fit the default is wrong.
            let stated = tree.stated.as_deref().and_then(stated).filter(|kind| takes(kind, default));
            stated.unwrap_or_else(|| scalar(default, tree.types))
        }
        Some(Value::Array(_) | Value::Object(_)) if tree.types == Types::OrText => Kind::Any,
        Some(Value::Array(items)) => Kind::List(Box::new(item(items)), Range::default()),
        Some(Value::Object(_)) => Kind::Map(Box::default()),
    };
    Schema { comment: tree.comment.clone(), default: tree.default.clone(), kind, ..Schema::default() }
}

fn object(tree: &Tree, is_free: bool) -> Kind {
    let has_keys = tree.default.as_ref().and_then(Value::as_object).is_none_or(|fields| !fields.is_empty());
    // Users choose the keys of such an object, and a template may pass on what is below them.
    let is_unnamed = is_free && tree.default.is_none();
    let is_open = is_unnamed || tree.is_whole || !tree.is_read || !has_keys;
    let fields = tree.keys.iter().map(|(name, below)| Field {
        name: name.clone(),
        schema: of_tree(below, is_open),
        is_required: false,
    });
    let fields: Vec<Field> = fields.collect();
    match is_open && tree.keys.iter().all(|(_, below)| !below.is_read) {
        true => Kind::Map(Box::default()),
        false => Kind::Object(Object { fields, is_open, ..Object::default() }),
    }
}

/// The type of a scalar with this default.
fn scalar(default: &Value, types: Types) -> Kind {
    match default {
        Value::Bool(_) => Kind::Boolean,
        // Such a string means neither true nor false, so booleans are valid, too.
        Value::String(text) if ["-", "auto", "default", "false", "true"].contains(&&**text) => Kind::Any,
        Value::Number(number) if number.is_i64() => Kind::IntegerOrText,
        Value::String(_) if types == Types::Unknown => Kind::IntegerOrText,
        // Fractions are valid, too.
        _ => Kind::Any,
    }
}

fn takes(kind: &Kind, default: &Value) -> bool {
    match (kind, default) {
        (_, Value::Null) | (Kind::Boolean, Value::Bool(_)) | (Kind::Text { .. }, Value::String(_)) => true,
        (Kind::Number(_), Value::Number(_)) => true,
        (Kind::Integer(_), value) => value.is_i64(),
        (Kind::IntegerOrText, value) => value.is_i64() || value.is_string(),
        _ => false,
    }
}

/// The type stated in a comment; `None` if it is not a scalar.
fn stated(text: &str) -> Option<Kind> {
    let names = text.trim_matches(['[', ']']).split([',', '|', '/']).map(str::trim);
    let mut names: Vec<&str> = names.filter(|name| !["null", "nullable"].contains(name)).collect();
    names.sort_unstable();
    match names[..] {
        ["bool" | "boolean"] => Some(Kind::Boolean),
        ["int" | "integer"] => Some(Kind::Integer(Range::default())),
        ["float" | "number"] => Some(Kind::Number(Range::default())),
        ["string"] => Some(Kind::Text { length: Range::default(), pattern: None }),
        ["int" | "integer", "string"] => Some(Kind::IntegerOrText),
        _ => None,
    }
}

/// The schema of list items, inferred from those that are scalars.
fn item(items: &[Value]) -> Schema {
    let is_short = |item: &Value| matches!(scalar(item, Types::Unknown), Kind::IntegerOrText);
    let kind = if !items.is_empty() && items.iter().all(is_short) { Kind::IntegerOrText } else { Kind::Any };
    Schema { kind, ..Schema::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_users_name_takes_more_keys_than_templates_read() {
        let files = [
            ("Chart.yaml", "name: a\nversion: 1.0.0\n"),
            ("values.yaml", "providers: {}\nimage: { pull: { policy: Always } }\n"),
            (
                "templates/a.yaml",
                "{{ range $name, $it := .Values.providers }}{{ toYaml $it }}{{ end }}\n\
                 {{ (index .Values.providers \"main\").paths }}{{ .Values.image.pull.policy }}{{ index .Values $key }}",
            ),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let (object, _) = schema(&Chart::parse(&files.into()).unwrap()).unwrap();
        let inner = |outer: &str, name: &str| {
            let outer = object.fields.iter().find(|field| field.name == outer).unwrap();
            let Kind::Object(outer) = &outer.schema.kind else { panic!("{outer:?}") };
            let inner = outer.fields.iter().find(|field| field.name == name).unwrap();
            let Kind::Object(inner) = &inner.schema.kind else { panic!("{inner:?}") };
            (inner.is_open, inner.fields[0].name.clone())
        };
        assert_eq!(inner("providers", "main"), (true, "paths".into()));
        assert_eq!(inner("image", "pull"), (false, "policy".into()));
    }
}
