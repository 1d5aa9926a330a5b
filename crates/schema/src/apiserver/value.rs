//! Validates a value against a schema as the API server does, and reports every mismatch with its path.
//!
//! Source: `pkg/validation/validate` of `k8s.io/kube-openapi`, including its oddities. Does not check CEL rules and
//! unknown fields.

use std::cmp::Ordering;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrBool};
use opctl_cel::{format, pattern};
use serde_json::{Map, Value};

use super::object::ObjectStep;
use super::{formats, items, property, text, values};

#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    pub path: Vec<ObjectStep>,
    pub rule: Rule,
    /// The problem, without the location.
    pub problem: String,
}

/// The violated rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    Type,
    Required,
    Enum,
    /// Too many characters, items or fields.
    TooLong,
    Other,
    /// Undecided: opctl cannot check the rule.
    Unknown,
}

impl Rule {
    /// `true` if the API server skips CEL rules after a violation. Source: `hasBlockingErr` of
    /// `pkg/registry/customresource/strategy.go`.
    pub fn hides_cel(self) -> bool {
        matches!(self, Rule::Type | Rule::Required | Rule::Enum | Rule::TooLong)
    }
}

/// The schema of a field.
pub struct Field(JSONSchemaProps);

impl Field {
    /// `None` if it is not a schema.
    pub fn parse(schema: &Value) -> Option<Self> {
        serde_json::from_value(schema.clone()).ok().map(Self)
    }

    /// `true` if the API server accepts the value, apart from CEL rules. `None` if opctl cannot determine it.
    pub fn accepts(&self, value: &Value) -> Option<bool> {
        let mismatches = check(value, &self.0);
        match mismatches.iter().any(|mismatch| mismatch.rule != Rule::Unknown) {
            true => Some(false),
            false => mismatches.is_empty().then_some(true),
        }
    }
}

pub fn check(value: &Value, schema: &JSONSchemaProps) -> Vec<Mismatch> {
    fit(value, schema, &mut Vec::new()).mismatches
}

#[derive(Default)]
struct Fit {
    mismatches: Vec<Mismatch>,
    /// The number of successful checks. The variant with the most is considered the intended one.
    passed: usize,
}

impl Fit {
    fn fits(&self) -> bool {
        self.mismatches.iter().all(|mismatch| mismatch.rule == Rule::Unknown)
    }

    fn add(&mut self, other: Fit) {
        self.mismatches.extend(other.mismatches);
        self.passed += other.passed;
    }

    fn refuse(&mut self, path: &[ObjectStep], rule: Rule, problem: String) {
        self.mismatches.push(Mismatch { path: path.to_vec(), rule, problem });
    }
}

fn fit(value: &Value, schema: &JSONSchemaProps, path: &mut Vec<ObjectStep>) -> Fit {
    let mut fit = Fit::default();
    let is_typed =
        schema.x_kubernetes_int_or_string == Some(true) || !text(&schema.type_).is_empty() || has_known_format(schema);
    match has_type(value, schema) {
        Ok(()) => fit.passed += usize::from(is_typed || value.is_null()),
        Err(problem) => fit.refuse(path, Rule::Type, problem),
    }
    if let Some(allowed) = schema.enum_.as_ref().filter(|list| !list.is_empty())
        && !allowed.iter().any(|allowed| !value.is_null() && same(&allowed.0, value))
    {
        let allowed: Vec<String> = allowed.iter().map(|allowed| allowed.0.to_string()).collect();
        fit.refuse(path, Rule::Enum, format!("{} is not one of {}", brief(value), allowed.join(", ")));
    }
    match value {
        Value::Null => return fit,
        Value::Bool(_) => {}
        Value::Number(number) => {
            fit.passed += 2;
            if let Err(problem) = self::number(number, schema) {
                fit.refuse(path, Rule::Other, problem);
            }
        }
        Value::String(string) => {
            fit.passed += 1;
            if let Err((rule, problem)) = self::string(string, schema) {
                fit.refuse(path, rule, problem);
            }
            self::format(string, schema, path, &mut fit);
        }
        Value::Array(list) => {
            fit.passed += 2;
            bounds(list.len(), "items", schema.min_items, schema.max_items, path, &mut fit);
            if let Some(items) = items(schema) {
                for (index, value) in list.iter().enumerate() {
                    path.push(ObjectStep::Index(index));
                    fit.add(self::fit(value, items, path));
                    path.pop();
                }
            }
        }
        Value::Object(map) => {
            fit.passed += 1;
            fields(map, schema, path, &mut fit);
        }
    }
    // The type, the variants (twice), the enum, and the whole.
    fit.passed += 4 + usize::from(is_typed);
    variants(value, schema, path, &mut fit);
    fit
}

fn fields(map: &Map<String, Value>, schema: &JSONSchemaProps, path: &mut Vec<ObjectStep>, fit: &mut Fit) {
    bounds(map.len(), "fields", schema.min_properties, schema.max_properties, path, fit);
    let of_resources: &[&str] =
        if schema.x_kubernetes_embedded_resource == Some(true) { &["apiVersion", "kind"] } else { &[] };
    let required = schema.required.iter().flatten().map(String::as_str);
    let required = required.filter(|name| !of_resources.contains(name)).chain(of_resources.iter().copied());
    for missing in required.filter(|name| !map.contains_key(*name)) {
        path.push(ObjectStep::Key(missing.to_owned()));
        fit.refuse(path, Rule::Required, format!("the field `{missing}` is required, and missing"));
        path.pop();
    }
    for (name, value) in map {
        path.push(ObjectStep::Key(name.clone()));
        match property(schema, name).or_else(|| values(schema)) {
            Some(schema) => fit.add(self::fit(value, schema, path)),
            None if schema.additional_properties == Some(JSONSchemaPropsOrBool::Bool(false)) => {
                fit.refuse(path, Rule::Other, format!("the field `{name}` is not allowed"));
            }
            None => {}
        }
        path.pop();
    }
}

fn variants(value: &Value, schema: &JSONSchemaProps, path: &mut Vec<ObjectStep>, fit: &mut Fit) {
    let lists = [&schema.any_of, &schema.one_of, &schema.all_of];
    let [any, one, all] = lists.map(|list| {
        let list = list.as_deref().unwrap_or_default();
        list.iter().map(|schema| self::fit(value, schema, path)).collect::<Vec<_>>()
    });
    if !any.is_empty() {
        if any.iter().any(Fit::fits) {
            fit.passed += any.iter().find(|variant| variant.fits()).map_or(0, |variant| variant.passed);
        } else {
            none_fits(value, any, path, fit);
        }
    }
    if !one.is_empty() {
        match one.iter().filter(|variant| variant.fits()).count() {
            1 => fit.passed += one.iter().find(|variant| variant.fits()).map_or(0, |variant| variant.passed),
            0 => none_fits(value, one, path, fit),
            count => {
                let problem = format!("{} fits {count} of its variants, and must fit one", brief(value));
                fit.refuse(path, Rule::Other, problem);
            }
        }
    }
    for variant in all {
        fit.add(variant);
    }
    if schema.not.as_ref().is_some_and(|not| self::fit(value, not, path).fits()) {
        fit.refuse(path, Rule::Other, format!("{} is what it must not be", brief(value)));
    }
}

/// Reports that no variant matches, with the problems of the closest one.
fn none_fits(value: &Value, variants: Vec<Fit>, path: &[ObjectStep], fit: &mut Fit) {
    fit.refuse(path, Rule::Other, format!("{} fits none of its variants", brief(value)));
    // The first variant with the maximum.
    fit.add(variants.into_iter().rev().max_by_key(|variant| variant.passed).unwrap_or_default());
}

/// The value as JSON, truncated for messages.
pub fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    let shown = value.to_string();
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

fn has_known_format(schema: &JSONSchemaProps) -> bool {
    let format = text(&schema.format);
    !format.is_empty() && formats::is_known(text(&schema.type_), format)
}

fn has_type(value: &Value, schema: &JSONSchemaProps) -> Result<(), String> {
    let is_integer = |value: &Value| value.is_i64() || value.as_f64().is_some_and(is_whole);
    let has_format = has_known_format(schema);
    let int_or_string = schema.x_kubernetes_int_or_string == Some(true);
    let type_ = if int_or_string { "integer or string" } else { text(&schema.type_) };
    let fits = match (type_, value) {
        (_, Value::Null) => schema.nullable == Some(true) || type_.is_empty(),
        // A format without a type is one of strings.
        ("", value) => !has_format || value.is_string() || value.is_array(),
        ("integer or string", value) => value.is_string() || is_integer(value),
        ("string", Value::String(_)) | ("boolean", Value::Bool(_)) => true,
        ("number", Value::Number(_)) | ("array", Value::Array(_)) | ("object", Value::Object(_)) => true,
        ("integer", value) => is_integer(value),
        // The API server checks no further types for a string or list if a format is set.
        ("string" | "boolean" | "array" | "object", Value::String(_) | Value::Array(_)) => has_format,
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{} is not of type `{type_}`", brief(value))) }
}

/// Equality in which `1` and `1.0` are equal.
pub fn same(allowed: &Value, value: &Value) -> bool {
    allowed == value || allowed.as_f64().is_some_and(|allowed| Some(allowed) == value.as_f64())
}

fn bounds(count: usize, what: &str, min: Option<i64>, max: Option<i64>, path: &[ObjectStep], fit: &mut Fit) {
    if let Err((rule, problem)) = within(count, what, min, max) {
        fit.refuse(path, rule, problem);
    }
}

fn within(count: usize, what: &str, min: Option<i64>, max: Option<i64>) -> Result<(), (Rule, String)> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match (min, max) {
        (_, Some(max)) if count > max => {
            Err((Rule::TooLong, format!("it has {count} {what}, and can have {max} at most")))
        }
        (Some(min), _) if count < min => {
            Err((Rule::Other, format!("it has {count} {what}, and must have {min} at least")))
        }
        _ => Ok(()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "Go converts in the same way")]
fn number(number: &serde_json::Number, schema: &JSONSchemaProps) -> Result<(), String> {
    let (type_, format) = (text(&schema.type_), text(&schema.format));
    let in_type = |what: &str, value: f64| {
        let (min, max) = match (type_, format) {
            ("integer", "int32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
            // Excludes the bound of 2^63, since the largest integer is not representable as a float.
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
    let whole = || (value.fract() == 0.0 && value.abs() < i64::MAX as f64).then_some(value as i64);
    let integer = number.as_i64().or_else(whole);
    if integer.is_none() || (type_, format) == ("integer", "int32") {
        in_type("the value", value)?;
    }
    // The bound is checked, too. It is compared as an integer if the value is one.
    let ordering = |bound: f64| match integer {
        Some(integer) => integer.cmp(&(bound as i64)),
        None => value.partial_cmp(&bound).unwrap_or(Ordering::Equal),
    };
    if let Some(min) = schema.minimum {
        in_type("the minimum", min)?;
        if ordering(min).is_lt() || schema.exclusive_minimum == Some(true) && ordering(min).is_eq() {
            return Err(format!("{number} is less than its minimum {min}"));
        }
    }
    if let Some(max) = schema.maximum {
        in_type("the maximum", max)?;
        if ordering(max).is_gt() || schema.exclusive_maximum == Some(true) && ordering(max).is_eq() {
            return Err(format!("{number} is more than its maximum {max}"));
        }
    }
    if let Some(factor) = schema.multiple_of {
        in_type("the factor", factor)?;
        let is_multiple = match integer {
            Some(integer) => factor >= 1.0 && integer % (factor as i64) == 0,
            None => factor > 0.0 && is_whole(if factor < 1.0 { 1.0 / factor * value } else { value / factor }),
        };
        if !is_multiple {
            return Err(format!("{number} is not a multiple of {factor}"));
        }
    }
    Ok(())
}

/// `true` for nearly whole numbers that JSON represents exactly. Source: `IsFloat64AJSONInteger` of go-openapi/swag.
fn is_whole(number: f64) -> bool {
    let rest = (number - number.trunc()).abs();
    number.abs() < 9_007_199_254_740_992.0 && (rest == 0.0 || rest / (number.abs() + number.trunc().abs()) < 1e-9)
}

/// Checks a string, up to the first violated limit.
fn string(string: &str, schema: &JSONSchemaProps) -> Result<(), (Rule, String)> {
    within(string.chars().count(), "characters", schema.min_length, schema.max_length)?;
    let pattern = text(&schema.pattern);
    if pattern.is_empty() {
        return Ok(());
    }
    match pattern::compile(pattern) {
        Some(compiled) if compiled.is_match(string) => Ok(()),
        Some(_) => Err((Rule::Other, format!("{} does not match `{pattern}`", brief(&string.into())))),
        None => Err((Rule::Unknown, format!("the pattern `{pattern}`"))),
    }
}

fn format(string: &str, schema: &JSONSchemaProps, path: &[ObjectStep], fit: &mut Fit) {
    let format = text(&schema.format);
    // Formats of numbers do not apply to strings.
    if !has_known_format(schema) || matches!(text(&schema.type_), "integer" | "number") {
        return;
    }
    fit.passed += 1;
    match format::check(string, format) {
        Some(true) => {}
        Some(false) => {
            fit.refuse(path, Rule::Type, format!("{} is not of the format `{format}`", brief(&string.into())));
        }
        None => fit.refuse(path, Rule::Unknown, format!("the format `{format}`")),
    }
}
