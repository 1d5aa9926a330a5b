//! Widens the inferred types of values, so that they accept the values files in a chart beside `values.yaml`.
//!
//! These are examples (`values-production.yaml`) and test cases (`ci/tls-values.yaml`), which helm accepts. They show
//! values that neither defaults nor templates reveal, such as own keys, which other values refer to as templates.

use serde_json::Value;

use super::Chart;
use crate::spec::{Field, Kind, Object, Schema};
use opctl_model::yaml;

/// The values in the files of a chart, without `values.yaml` and subcharts. Other files, such as manifests in `ci`, are
/// skipped, and so is one that is not YAML, since helm reads none of them.
pub fn examples(chart: &Chart) -> impl Iterator<Item = Value> {
    let files = chart.files.iter().filter(|(path, _)| is_example(path));
    let is_manifest = |value: &Value| value.get("apiVersion").is_some() && value.get("kind").is_some();
    files
        .filter_map(|(_, text)| yaml::read::<Value>(text).ok())
        .filter(move |value| value.is_object() && !is_manifest(value))
}

fn is_example(path: &str) -> bool {
    let is_values = |name: &str| name.starts_with("values") || name.ends_with("values");
    let Some(name) = path.strip_suffix(".yaml").or(path.strip_suffix(".yml")) else { return false };
    match name.split_once('/') {
        Some((folder, name)) => folder == "ci" && !name.contains('/'),
        None => is_values(name) && name != "values",
    }
}

/// Widens a schema until it accepts the value. Null is always accepted: it removes a default.
pub fn widen(schema: &mut Schema, value: &Value) {
    schema.kind = match (std::mem::take(&mut schema.kind), value) {
        (kind, Value::Null) => kind,
        (Kind::Object(mut object), Value::Object(values)) => {
            values.iter().for_each(|(key, value)| widen_key(&mut object, key, value));
            Kind::Object(object)
        }
        (Kind::Map(mut each), Value::Object(values)) => {
            values.values().for_each(|value| widen(&mut each, value));
            Kind::Map(each)
        }
        (Kind::List(mut item, range), Value::Array(values)) => {
            values.iter().for_each(|value| widen(&mut item, value));
            Kind::List(item, range)
        }
        (kind @ Kind::Boolean, Value::Bool(_)) => kind,
        (kind @ Kind::Number(_), Value::Number(_)) => kind,
        (kind @ Kind::Text { .. }, Value::String(_)) => kind,
        (kind @ (Kind::Integer(_) | Kind::IntegerOrText), value) if value.is_i64() => kind,
        (kind @ Kind::IntegerOrText, Value::String(_)) => kind,
        _ => Kind::Any,
    };
}

fn widen_key(object: &mut Object, key: &str, value: &Value) {
    match object.fields.iter_mut().find(|field| field.name == key) {
        Some(Field { schema, .. }) => widen(schema, value),
        None => object.is_open = true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_files_are_examples() {
        for (path, expected) in [
            ("values.yaml", false),
            ("values-prod.yaml", true),
            ("values.openshift.yaml", true),
            ("dev-values.yml", true),
            ("ci/tls.yaml", true),
            ("ci/a/b.yaml", false),
            ("Chart.yaml", false),
            ("values.schema.json", false),
            ("templates/values-map.yaml", false),
        ] {
            assert_eq!(is_example(path), expected, "{path}");
        }
    }
}
