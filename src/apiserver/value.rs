//! Whether a value fits a schema, as the API server sees it.
//!
//! Source: `pkg/validation/validate` of `k8s.io/kube-openapi`, oddities included. Of formats, those are checked whose
//! rule is plain.

use std::net::Ipv6Addr;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrBool};
use serde_json::Value;

use super::{formats, items, pattern, property, text, values};

/// `Err`: what does not fit.
pub fn check(value: &Value, schema: &JSONSchemaProps) -> Result<(), String> {
    let shown = value.to_string();
    has_type(value, schema)?;
    if let Some(allowed) = schema.enum_.as_ref().filter(|list| !list.is_empty())
        && !allowed.iter().any(|allowed| !value.is_null() && same(&allowed.0, value))
    {
        let allowed: Vec<String> = allowed.iter().map(|allowed| allowed.0.to_string()).collect();
        return Err(format!("{shown} is not one of {}", allowed.join(", ")));
    }
    match value {
        Value::Null => return Ok(()),
        Value::Bool(_) => {}
        Value::Number(number) => self::number(number, schema)?,
        Value::String(string) => self::string(string, schema)?,
        Value::Array(list) => {
            bounds(list.len(), "items", schema.min_items, schema.max_items)?;
            if let Some(items) = items(schema) {
                list.iter().try_for_each(|value| check(value, items))?;
            }
        }
        Value::Object(map) => {
            bounds(map.len(), "fields", schema.min_properties, schema.max_properties)?;
            let of_resources: &[&str] =
                if schema.x_kubernetes_embedded_resource == Some(true) { &["apiVersion", "kind"] } else { &[] };
            let mut required = schema.required.iter().flatten().map(String::as_str).chain(of_resources.iter().copied());
            if let Some(missing) = required.find(|name| !map.contains_key(*name)) {
                return Err(format!("{shown} does not have `{missing}`, which is required"));
            }
            for (name, value) in map {
                match (property(schema, name), values(schema)) {
                    (Some(property), _) => check(value, property),
                    (None, Some(values)) => check(value, values),
                    (None, None) if schema.additional_properties == Some(JSONSchemaPropsOrBool::Bool(false)) => {
                        Err(format!("{shown} has the field `{name}`, and no other fields are allowed"))
                    }
                    (None, None) => Ok(()),
                }
                .map_err(|problem| format!("`{name}`: {problem}"))?;
            }
        }
    }
    let fits = |schema: &JSONSchemaProps| check(value, schema).is_ok();
    for schema in schema.all_of.iter().flatten() {
        check(value, schema)?;
    }
    if schema.any_of.as_ref().is_some_and(|list| !list.is_empty() && !list.iter().any(fits)) {
        return Err(format!("{shown} fits none of its variants"));
    }
    if let Some(list) = schema.one_of.as_ref().filter(|list| !list.is_empty()) {
        match list.iter().filter(|schema| fits(schema)).count() {
            1 => {}
            0 => return Err(format!("{shown} fits none of its variants")),
            count => return Err(format!("{shown} fits {count} of its variants, and must fit one")),
        }
    }
    match &schema.not {
        Some(not) if fits(not) => Err(format!("{shown} is what it must not be")),
        _ => Ok(()),
    }
}

fn has_type(value: &Value, schema: &JSONSchemaProps) -> Result<(), String> {
    let is_integer = |value: &Value| value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole);
    let type_ = text(&schema.type_);
    let fits = match (type_, value) {
        // A format without a type is one of texts.
        ("", value) => text(&schema.format).is_empty() || value.is_string() || value.is_array() || value.is_null(),
        (_, Value::Null) => schema.nullable == Some(true),
        ("string", Value::String(_)) | ("boolean", Value::Bool(_)) => true,
        ("number", Value::Number(_)) | ("array", Value::Array(_)) | ("object", Value::Object(_)) => true,
        ("integer", value) => is_integer(value),
        // The API server looks no further at a text or list where a format is said.
        ("string" | "boolean" | "array" | "object", Value::String(_) | Value::Array(_)) => {
            !text(&schema.format).is_empty()
        }
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{value} is not of type `{type_}`")) }
}

/// Whole numbers are equal to themselves with a point.
fn same(allowed: &Value, value: &Value) -> bool {
    allowed == value || allowed.as_f64().is_some_and(|allowed| Some(allowed) == value.as_f64())
}

fn bounds(count: usize, what: &str, min: Option<i64>, max: Option<i64>) -> Result<(), String> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match (min, max) {
        (Some(min), _) if count < min => Err(format!("it has {count} {what}, and must have {min} at least")),
        (_, Some(max)) if count > max => Err(format!("it has {count} {what}, and can have {max} at most")),
        _ => Ok(()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "Go converts in the same way")]
fn number(number: &serde_json::Number, schema: &JSONSchemaProps) -> Result<(), String> {
    let (type_, format) = (text(&schema.type_), text(&schema.format));
    let in_type = |what: &str, value: f64| {
        let (min, max) = match (type_, format) {
            ("integer", "int32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
            // One more than the greatest, which a float cannot hold.
            ("integer", _) => (i64::MIN as f64, (i64::MAX as f64).next_down()),
            ("number", "float") => (f64::from(f32::MIN), f64::from(f32::MAX)),
            _ => return Ok(()),
        };
        if type_ == "integer" && value.fract() != 0.0 || !(min..=max).contains(&value) {
            return Err(format!("{what} {value} is not an {}", if format.is_empty() { type_ } else { format }));
        }
        Ok(())
    };
    let value = number.as_f64().unwrap_or(f64::MAX);
    // kubectl sends `1.0` as `1`.
    let is_integer = number.is_i64() || value.fract() == 0.0 && value.abs() < i64::MAX as f64;
    if !is_integer || (type_, format) == ("integer", "int32") {
        in_type("the value", value)?;
    }
    // The bound itself is checked too, and compared as an integer if the value is one.
    let bound = |what: &str, bound: Option<f64>| -> Result<Option<f64>, String> {
        let Some(bound) = bound else { return Ok(None) };
        in_type(what, bound)?;
        Ok(Some(if is_integer { bound.trunc() } else { bound }))
    };
    if let Some(min) = bound("the minimum", schema.minimum)?
        && (value < min || schema.exclusive_minimum == Some(true) && value <= min)
    {
        return Err(format!("{number} is less than its minimum {min}"));
    }
    if let Some(max) = bound("the maximum", schema.maximum)?
        && (value > max || schema.exclusive_maximum == Some(true) && value >= max)
    {
        return Err(format!("{number} is more than its maximum {max}"));
    }
    if let Some(factor) = bound("the factor", schema.multiple_of)? {
        let quotient = if factor < 1.0 { 1.0 / factor * value } else { value / factor };
        if factor <= 0.0 || !is_whole(quotient) {
            return Err(format!("{number} is not a multiple of {factor}"));
        }
    }
    Ok(())
}

/// Nearly, and within what JSON holds exactly. Source: `IsFloat64AJSONInteger` of go-openapi/swag.
fn is_whole(number: f64) -> bool {
    let rest = (number - number.trunc()).abs();
    number.abs() < 9_007_199_254_740_992.0 && (rest == 0.0 || rest / (number.abs() + number.trunc().abs()) < 1e-9)
}

fn string(string: &str, schema: &JSONSchemaProps) -> Result<(), String> {
    bounds(string.chars().count(), "characters", schema.min_length, schema.max_length)?;
    let pattern = text(&schema.pattern);
    if !pattern.is_empty() && pattern::compile(pattern).is_some_and(|compiled| !compiled.is_match(string)) {
        return Err(format!("{string:?} does not match `{pattern}`"));
    }
    let (type_, format) = (text(&schema.type_), text(&schema.format));
    if formats::is_known(type_, format) && !has_format(string, format) {
        return Err(format!("{string:?} is not of the format `{format}`"));
    }
    Ok(())
}

fn has_format(text: &str, format: &str) -> bool {
    let matches = |pattern: &str| pattern::compile(pattern).is_some_and(|pattern| pattern.is_match(text));
    let octet = r"0*(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
    let ipv4 = format!(r"({octet}\.){{3}}{octet}");
    match format.replace('-', "").as_str() {
        "ipv4" => matches(&format!("^{ipv4}$")),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => match text.split_once('/') {
            Some((address, length)) => {
                let length = length.parse::<u8>().unwrap_or(u8::MAX);
                address.parse::<Ipv6Addr>().is_ok() && length <= 128
                    || pattern::compile(&format!("^{ipv4}$")).is_some_and(|v4| v4.is_match(address)) && length <= 32
            }
            None => false,
        },
        "uuid" => matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
        "date" => matches("^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"),
        "datetime" => {
            text.is_empty()
                || matches(
                    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt ]([01][0-9]|2[0-4]):[0-5][0-9](:[0-6][0-9](\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?)?$",
                )
        }
        // Go's own, then Scala's, in which anything can stand around.
        "duration" => {
            matches(r"^[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$")
                || matches(
                    r"(?i)[0-9]\s*(ns|nano|us|µs|micro|ms|milli|s\b|sec|m\b|min|h\b|hr|hour|d\b|day|w\b|wk|week)",
                )
        }
        _ => true,
    }
}
