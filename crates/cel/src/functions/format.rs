//! Values as text: `string(1.5)`, and `'%s'.format([…])`.
//!
//! Source: cel-go's `ext/formatting.go`; floating-point numbers are formatted by `golang.org/x/text/message` in
//! English.

use super::super::value::{Failure, Value, error};
use super::unknown;
use crate::go::time;

/// Text of a value as written by `%s` and, for types that have this conversion, by `string`.
pub fn text(value: &Value) -> Result<String, Failure> {
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => general(*number),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return error("invalid UTF-8 in bytes, cannot convert to string"),
        },
        // Source: `Duration.Seconds` of Go's `time`.
        Value::Duration(nanos) => {
            format!("{}s", (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9)
        }
        Value::Timestamp(timestamp) => {
            let text = time::format_rfc3339(timestamp.seconds + timestamp.offset, timestamp.nanos);
            let (sign, minutes) = (if timestamp.offset < 0 { '-' } else { '+' }, timestamp.offset.abs() / 60);
            match minutes {
                0 => text,
                _ => format!("{}{sign}{:02}:{:02}", text.trim_end_matches('Z'), minutes / 60, minutes % 60),
            }
        }
        Value::Type(name) => (*name).to_owned(),
        Value::List(list) => {
            let items = list.items.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            if !map.hidden.is_empty() {
                return unknown("an object as text, with fields of no known type");
            }
            let mut entries = Vec::new();
            for (key, value) in &map.entries {
                if !matches!(key, Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)) {
                    return error(format!("no formatting function for map key of type {}", key.type_name()));
                }
                entries.push((literal(key)?, literal(value)?));
            }
            entries.sort();
            let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        value => {
            return error(format!("string clause can only be used on some types, was given {}", value.type_name()));
        }
    })
}

/// Text of a value inside a list or map.
fn literal(value: &Value) -> Result<String, Failure> {
    Ok(match value {
        Value::String(text) => quoted(text)?,
        Value::Bytes(_) => format!("b{}", quoted(&text(value)?)?),
        Value::Double(number) if number.is_finite() => format!("{number:.6}"),
        Value::Double(number) => format!("\"{}\"", general(*number)),
        Value::Timestamp(_) => format!("timestamp(\"{}\")", text(value)?),
        Value::Duration(_) => format!("duration(\"{}\")", text(value)?),
        Value::Optional(_) => return error("no formatting function for optional_type"),
        value => text(value)?,
    })
}

/// Go's `%q`, for plain characters only.
fn quoted(text: &str) -> Result<String, Failure> {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_ascii() || c.is_alphanumeric() => quoted.push(c),
            c => return unknown(format!("{c:?} in quotes")),
        }
    }
    Ok(quoted + "\"")
}

/// Go's `%g`: the shortest digits that represent the number.
pub fn general(number: f64) -> String {
    if !number.is_finite() {
        return match (number.is_nan(), number > 0.0) {
            (true, _) => "NaN",
            (_, true) => "+Inf",
            _ => "-Inf",
        }
        .to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("Rust writes an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

pub fn format(pattern: &str, args: &[Value]) -> Result<String, Failure> {
    let mut out = String::new();
    let mut args = args.iter();
    let mut rest = pattern;
    while let Some((plain, after)) = rest.split_once('%') {
        out.push_str(plain);
        rest = after;
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let Some(arg) = args.next() else { return error("index out of range") };
        let mut precision = 6;
        if let Some(after) = rest.strip_prefix('.') {
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let Ok(number) = after[..digits].parse() else {
                return error("error while converting precision to integer");
            };
            precision = number;
            rest = &after[digits..];
        }
        let Some(clause) = rest.chars().next() else { return error("unexpected end of string") };
        rest = &rest[clause.len_utf8()..];
        out.push_str(&clause_of(clause, precision, arg)?);
    }
    Ok(out + rest)
}

fn clause_of(clause: char, precision: usize, arg: &Value) -> Result<String, Failure> {
    let arg = &arg.clone().sound()?;
    Ok(match (clause, arg) {
        ('s', Value::Optional(_)) => return error("string clause can only be used on some types"),
        ('s', value) => text(value)?,
        ('d', Value::Int(_) | Value::Uint(_)) => text(arg)?,
        ('b', Value::Int(number)) => signed(*number, |number| format!("{number:b}")),
        ('b', Value::Uint(number)) => format!("{number:b}"),
        ('b', Value::Bool(value)) => i32::from(*value).to_string(),
        ('o', Value::Int(number)) => signed(*number, |number| format!("{number:o}")),
        ('o', Value::Uint(number)) => format!("{number:o}"),
        ('x' | 'X', value) => {
            let of_bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let hex: String = match value {
                Value::Int(number) => signed(*number, |number| format!("{number:x}")),
                Value::Uint(number) => format!("{number:x}"),
                Value::String(text) => of_bytes(text.as_bytes()),
                Value::Bytes(bytes) => of_bytes(bytes),
                _ => return error("only integers, byte buffers, and strings can be formatted as hex"),
            };
            if clause == 'X' { hex.to_ascii_uppercase() } else { hex }
        }
        ('f' | 'e', value) => {
            let number = match value {
                Value::Double(number) => *number,
                Value::String(text) if &**text == "NaN" => f64::NAN,
                Value::String(text) if &**text == "Infinity" => f64::INFINITY,
                Value::String(text) if &**text == "-Infinity" => f64::NEG_INFINITY,
                _ => return error("this clause can only be used on doubles"),
            };
            match (number.is_nan(), number.is_infinite(), clause) {
                (true, _, _) => "NaN".to_owned(),
                (_, true, _) => if number > 0.0 { "∞" } else { "-∞" }.to_owned(),
                (_, _, 'f') => fixed(number, precision),
                // The characters between digits and exponent depend on the language tables of the API server.
                _ => return unknown("`%e`"),
            }
        }
        ('d' | 'b' | 'o', value) => return error(format!("`%{clause}` was given {}", value.type_name())),
        _ => return error(format!("unrecognized formatting clause \"{clause}\"")),
    })
}

fn signed(number: i64, write: fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", write(number.unsigned_abs()))
}

/// Fixed-point notation with commas between thousands.
fn fixed(number: f64, precision: usize) -> String {
    let plain = format!("{number:.precision$}");
    let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |plain| ("-", plain));
    let (whole, fraction) = plain.split_once('.').map_or((plain, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = String::new();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}
