//! What the values of a chart may be.
//!
//! An object is closed, so that the API server reports a misspelt key, if templates read it by its keys alone. Its fields have the types
//! of their defaults, except below an object that is handed on: what is valid there is not known. A `values.schema.json` says more, and
//! wins.

use serde_json::Value;

use super::Chart;
use super::json_schema::{Gap, overlay};
use super::values::{Tree, values};
use crate::spec::{Field, Kind, Object, Range, Schema};

/// The schema of a chart's values, and what its `values.schema.json` demands beyond it.
///
/// # Errors
///
/// If a `values.schema.json` is no JSON.
pub fn schema(chart: &Chart) -> Result<(Object, Vec<Gap>), super::ChartError> {
    let mut schema = of_tree(&values(chart), false);
    let mut gaps = Vec::new();
    apply(chart, &mut schema, "values.schema.json", &mut gaps)?;
    let object = match schema.kind {
        Kind::Object(object) => object,
        _ => Object { is_open: true, ..Object::default() },
    };
    Ok((object, gaps))
}

/// Lays the JSON schemas over it, those of the subcharts first.
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
        message: format!("`{name}` is no JSON: {error}"),
        help: "`helm lint` in the folder of the chart shows more".into(),
    })?;
    overlay(schema, &json, name, gaps);
    Ok(())
}

/// `is_free` is below an object that is handed on.
fn of_tree(tree: &Tree, is_free: bool) -> Schema {
    let kind = match &tree.default {
        _ if is_free && !tree.is_read => Kind::Any,
        Some(Value::Bool(_)) => Kind::Boolean,
        Some(Value::Number(number)) if number.is_f64() => Kind::Number(Range::default()),
        Some(Value::Number(_)) => Kind::Integer(Range::default()),
        // Templates read keys of it, so an object may be there, too.
        Some(Value::String(_)) if tree.keys.is_empty() => Kind::Text { length: Range::default(), pattern: None },
        Some(Value::Array(items)) => Kind::List(Box::new(item(items)), Range::default()),
        Some(Value::Object(_)) | None if !tree.keys.is_empty() => object(tree),
        Some(Value::Object(_)) => Kind::Map(Box::default()),
        _ => Kind::Any,
    };
    Schema { comment: tree.comment.clone(), default: tree.default.clone(), kind, ..Schema::default() }
}

fn object(tree: &Tree) -> Kind {
    let has_keys = tree.default.as_ref().and_then(Value::as_object).is_none_or(|fields| !fields.is_empty());
    let is_open = tree.is_whole || !tree.is_read || !has_keys;
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

/// What the items of a list are like: only those that are scalars of one type say so.
fn item(items: &[Value]) -> Schema {
    let all = |is: fn(&Value) -> bool| !items.is_empty() && items.iter().all(is);
    let kind = match () {
        () if all(Value::is_string) => Kind::Text { length: Range::default(), pattern: None },
        () if all(Value::is_i64) => Kind::Integer(Range::default()),
        () => Kind::Any,
    };
    Schema { kind, ..Schema::default() }
}
