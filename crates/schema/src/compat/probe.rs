//! Values for which two schemas of a field differ: candidates near every limit and for every format, checked with
//! [`Field`], which follows the API server.

use serde_json::{Number, Value};

use super::list;
use crate::apiserver::Field;

/// The keywords that limit a single value.
const KEYWORDS: [&str; 13] = [
    "type",
    "format",
    "nullable",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "x-kubernetes-int-or-string",
];

/// The effect on values that the old schema accepts.
#[derive(Debug, PartialEq)]
pub enum Narrowing {
    /// All are still accepted.
    Nothing,
    /// This value is rejected.
    Refuses(Value),
    /// This value is rejected, but Rust types of the old `format` could not decode it anyway.
    RefusesUndecodable(Value),
    /// No candidate is rejected, but there are further values.
    Unknown,
}

/// The schemas of one field in two releases, and values to check.
pub struct Probe {
    old: Value,
    new: Value,
    candidates: Vec<Value>,
    /// The candidates include all values that the old schema accepts.
    is_complete: bool,
}

impl Probe {
    pub fn of(old: &Value, new: &Value) -> Self {
        let (old, new) = (scalar(old), scalar(new));
        let (candidates, is_complete) = match all_values(&old) {
            Some(values) => (values, true),
            None => (candidates(&old, &new), false),
        };
        Self { old, new, candidates, is_complete }
    }

    /// The effect of replacing these keywords in the old schema by those of the new one.
    pub fn narrowing(&self, keys: &[&str]) -> Narrowing {
        let mut narrowed = self.old.clone();
        keys.iter().for_each(|key| narrowed[key] = self.new[key].clone());
        let (Some(old), Some(narrowed)) = (Field::parse(&self.old), Field::parse(&narrowed)) else {
            return Narrowing::Unknown;
        };
        let is_lost = |value: &&Value| old.accepts(value) == Some(true) && narrowed.accepts(value) == Some(false);
        let mut lost = self.candidates.iter().filter(is_lost).peekable();
        let Some(first) = lost.peek().copied().cloned() else {
            let is_number = matches!(self.old["type"].as_str(), Some("integer" | "number"));
            let is_decided = self.is_complete || is_number || keys == ["format"];
            return if is_decided { Narrowing::Nothing } else { Narrowing::Unknown };
        };
        let range = decodable(&self.old);
        match lost.find(|value| range.is_none_or(|range| is_in(range, value))) {
            Some(decodable) => Narrowing::Refuses(decodable.clone()),
            None => Narrowing::RefusesUndecodable(first),
        }
    }

    /// `true` if the new format accepts values that Rust types of the old format may not decode.
    pub fn widens_format(&self) -> bool {
        let mut new = self.new.clone();
        new["type"] = self.old["type"].clone();
        let (Some(old), Some(new)) = (Field::parse(&self.old), Field::parse(&new)) else { return true };
        let is_number = matches!(self.old["type"].as_str(), Some("integer" | "number"));
        let (was, is) = (decodable(&self.old), decodable(&self.new));
        self.candidates.iter().any(|value| match is_number {
            true => {
                let is_new = was.is_some_and(|range| !is_in(range, value));
                is_new && is.is_none_or(|range| is_in(range, value)) && new.accepts(value) == Some(true)
            }
            false => old.accepts(value) == Some(false) && new.accepts(value) != Some(false),
        })
    }
}

fn scalar(schema: &Value) -> Value {
    KEYWORDS.iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone()))).collect()
}

/// The range of the Rust type for this format; `None` if it is that of the JSON type.
fn decodable(schema: &Value) -> Option<(f64, f64)> {
    Some(match schema["format"].as_str()? {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint8" => (0.0, u8::MAX.into()),
        "uint16" => (0.0, u16::MAX.into()),
        "uint32" => (0.0, u32::MAX.into()),
        "uint" | "uint64" => (0.0, f64::MAX),
        "float" => (f32::MIN.into(), f32::MAX.into()),
        _ => return None,
    })
}

fn is_in((min, max): (f64, f64), value: &Value) -> bool {
    value.as_f64().is_none_or(|number| (min..=max).contains(&number))
}

/// All values that a schema may accept, if there are few.
fn all_values(schema: &Value) -> Option<Vec<Value>> {
    const FEW: i64 = 256;
    if let Some(values) = schema["enum"].as_array() {
        return Some(values.clone());
    }
    match schema["type"].as_str() {
        Some("boolean") => Some(vec![true.into(), false.into()]),
        Some("integer") => {
            let [min, max] = ["minimum", "maximum"].map(|key| schema[key].as_i64());
            let (min, max) = (min?, max?);
            (max.checked_sub(min)? < FEW).then(|| (min..=max).map(Value::from).collect())
        }
        _ => None,
    }
}

/// Values near all limits and for all formats, as far as the type has such values.
fn candidates(old: &Value, new: &Value) -> Vec<Value> {
    let listed = [old, new].into_iter().flat_map(|schema| list(&schema["enum"]).iter().cloned());
    let mut candidates: Vec<Value> = listed.collect();
    let name = old["type"].as_str();
    if !matches!(name, Some("integer" | "number")) {
        candidates.extend(TEXTS.iter().map(|text| Value::from(*text)));
    }
    if name == Some("string") {
        return candidates;
    }
    let mut numbers = vec![0.0, 1e10, 1e300];
    for edge in [f64::from(i32::MAX), f64::from(u32::MAX), f64::from(f32::MAX), 9_223_372_036_854_775_808.0] {
        numbers.extend([edge, -edge]);
    }
    let of = |key| [old, new].into_iter().filter_map(move |schema: &Value| schema[key].as_f64());
    numbers.extend(of("minimum").chain(of("maximum")));
    for factor in of("multipleOf").filter(|factor| *factor > 0.0).collect::<Vec<_>>() {
        let multiples = numbers.iter().map(|number| (number / factor).floor() * factor).collect::<Vec<_>>();
        numbers.extend(multiples.into_iter().flat_map(|multiple| [multiple, multiple + factor]));
    }
    let near = numbers.into_iter().flat_map(|number| [number, number - 1.0, number + 1.0, number - 0.5, number + 0.5]);
    candidates.extend(near.filter_map(|number| Number::from_f64(number).map(as_written)));
    candidates
}

/// Writes whole numbers without a decimal point.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers of this size are converted")]
fn as_written(number: Number) -> Value {
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => (float as i64).into(),
        _ => number.into(),
    }
}

/// Strings that differ between any two formats of the API server; see `tests/compat/formats.txt`.
pub const TEXTS: [&str; 49] = [
    "",
    "x",
    "not a format!",
    "507f1f77bcf86cd799439011",
    "aGVsbG8=",
    "abcd",
    "10.0.0.0/8",
    "2001:db8::/32",
    "2024-02-29",
    "2024-02-29T12:30:00Z",
    "1h30m",
    "3 days",
    "a@example.com",
    "#a1b2c3",
    "abc",
    "0f0",
    "example.com",
    "EXAMPLE.com",
    "a_b.example.com",
    "10.0.0.1",
    "2001:db8::1",
    "0321751043",
    "978-0321751041",
    "a.b-c.d",
    "a-b",
    "01:23:45:67:89:ab",
    "0123.4567.89ab",
    "rgb(1,2,3)",
    "123-45-6789",
    "https://example.com/a",
    "/a",
    "a:b",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b810-9dad-31d1-80b4-00c04fd430c8",
    "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
    "6ba7b810-9dad-51d1-80b4-00c04fd430c8",
    "6ba7b8109dad41d180b400c04fd430c8",
    "FFFFFFF0-FFF0-3FF0-8FF0-FFFFFFFFFFF0",
    "FFFFFFF0-FFF0-4FF0-8FF0-FFFFFFFFFFF0",
    "FFFFFFF0-FFF0-5FF0-8FF0-FFFFFFFFFFF0",
    "507F1F77BCF86CD799439011",
    "ab//",
    "4111 1111 1111 1111",
    "378282246310005",
    "::ffff:10.0.0.1",
    "080442957X",
    "978 0321751041",
    "0 321 75104 3",
    "123 45 6789",
];
