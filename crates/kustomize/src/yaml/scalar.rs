//! Resolves scalars by YAML 1.1 as in go-yaml, which all of Kubernetes uses, and numbers as in Go's JSON encoder.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};
use serde_json::Number;

use super::{Dialect, Value};

/// The value of a scalar, or the reason why Kubernetes rejects it.
pub fn value(text: Cow<str>, style: ScalarStyle, tag: Option<&Tag>, dialect: Dialect) -> Result<Value, String> {
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { plain(&text, dialect) } else { Ok(Value::Text(text.into_owned())) };
    };
    let meant = core(tag);
    let value = match meant {
        "str" | "timestamp" => return Ok(Value::Text(text.into_owned())),
        "null" | "bool" | "int" | "float" => plain(&text, Dialect::Kubectl)?,
        "binary" => return Err("opctl does not read `!!binary`; write the text itself".into()),
        _ => return Ok(Value::Text(text.into_owned())),
    };
    let fits = match meant {
        "null" => value == Value::Null,
        "bool" => matches!(value, Value::Bool(_)),
        "int" => matches!(&value, Value::Number(number) if !number.is_f64()),
        _ => matches!(value, Value::Number(_)),
    };
    if fits { Ok(value) } else { Err(format!("`{text}` cannot be read as `!!{meant}`")) }
}

/// The name of a tag of YAML itself: `int` for `!!int`. `str` for other tags, which Kubernetes ignores.
fn core(tag: &Tag) -> &str {
    match (tag.handle(), tag.suffix()) {
        ("tag:yaml.org,2002:", suffix) => suffix,
        ("", whole) => whole.strip_prefix("tag:yaml.org,2002:").unwrap_or("str"),
        _ => "str",
    }
}

/// `true` for the key that merges mappings: an unquoted `<<`, or `!!merge <<`, as Go programs write it.
pub fn is_merge(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    text == "<<" && tag.map_or(style == ScalarStyle::Plain, |tag| core(tag) == "merge")
}

/// The key as a string, the only type of key in JSON.
pub fn key(value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Bool(bool) => Ok(bool.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null => Err("a key cannot be `null`; quote it if it is a string".into()),
        Value::List(_) | Value::Map(_) => Err("a key must be a string".into()),
    }
}

fn plain(text: &str, dialect: Dialect) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        word if dialect == Dialect::Kubectl && is_word_for_bool(word) => {
            Value::Bool(word.eq_ignore_ascii_case("on") || word.starts_with(['y', 'Y']))
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => return Err(format!("`{text}` is a number that JSON does not have")),
        _ => number(text).map_or_else(|| Value::Text(text.into()), Value::Number),
    })
}

/// `true` for words that are booleans in YAML 1.1 but not in 1.2.
pub fn is_word_for_bool(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF"
    )
}

/// A number in the syntax of Go's literals, or a float in YAML's.
fn number(text: &str) -> Option<Number> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return None;
    }
    if text.starts_with('.') {
        return is_float(text).then(|| float(text)).flatten();
    }
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix(['+', '-']) {
        Some(digits) => (&plain[..1], digits),
        None => ("", plain.as_str()),
    };
    let prefix = digits.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (digits, radix) = match prefix.as_str() {
        "0x" => (&digits[2..], 16),
        "0o" => (&digits[2..], 8),
        "0b" => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // Rust's parsers would accept a second sign.
    if digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        if let Ok(whole) = i64::from_str_radix(&format!("{sign}{digits}"), radix) {
            return Some(whole.into());
        }
        // Go's JSON encodes it as a float, which is what API servers read.
        if let Some(whole) = u64::from_str_radix(digits, radix).ok().filter(|_| sign.is_empty()) {
            return Number::from_f64(whole as f64);
        }
    }
    is_float(&plain).then(|| float(&plain)).flatten()
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits && digits(whole) && digits(fraction) && exponent.is_none_or(|text| !text.is_empty() && digits(text))
}

/// JSON has one type of number: a float without a fraction is decoded as an integer.
fn float(text: &str) -> Option<Number> {
    let float: f64 = text.parse().ok().filter(|float: &f64| float.is_finite())?;
    if float.fract() == 0.0 && float.abs() < 9.2e18 { Some((float as i64).into()) } else { Number::from_f64(float) }
}
