//! Type conversions: `int('1')`.
//!
//! Source: `ConvertToType` of the types in cel-go's `common/types`.

use super::super::value::{Outcome, Timestamp, Value, error};
use super::{format, unknown};
use crate::go::time;

pub fn call(name: &str, member: bool, args: &[Value]) -> Option<Outcome> {
    let [value] = args else { return None };
    if member {
        return None;
    }
    Some(match (name, value) {
        ("dyn", value) => Ok(value.clone()),
        ("type", Value::Opaque(_)) => unknown("the type of a field of no known type"),
        ("type", value) => Ok(Value::Type(value.type_name())),
        ("bool", Value::Bool(_))
        | ("bytes", Value::Bytes(_))
        | ("double", Value::Double(_))
        | ("duration", Value::Duration(_))
        | ("int", Value::Int(_))
        | ("string", Value::String(_))
        | ("timestamp", Value::Timestamp(_))
        | ("uint", Value::Uint(_)) => Ok(value.clone()),
        ("bool", Value::String(text)) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => wrong(value, name),
        },
        ("bytes", Value::String(text)) => Ok(Value::Bytes(text.as_bytes().into())),
        ("double", Value::Int(number)) => Ok(Value::Double(*number as f64)),
        ("double", Value::Uint(number)) => Ok(Value::Double(*number as f64)),
        ("double", Value::String(text)) => double(text),
        ("duration", Value::String(text)) => {
            time::parse_duration(text).map_or_else(|| wrong(value, name), |nanos| Ok(Value::Duration(nanos)))
        }
        ("int", Value::Uint(number)) => {
            i64::try_from(*number).map_or_else(|_| error("integer overflow"), |number| Ok(Value::Int(number)))
        }
        ("int", Value::Double(number)) => {
            // The bounds themselves are out of range, too.
            if number.is_finite() && *number > i64::MIN as f64 && *number < i64::MAX as f64 {
                Ok(Value::Int(*number as i64))
            } else {
                error("integer overflow")
            }
        }
        ("int", Value::String(text)) => {
            text.parse().map_or_else(|_| wrong(value, name), |number| Ok(Value::Int(number)))
        }
        ("int", Value::Timestamp(timestamp)) => Ok(Value::Int(timestamp.seconds)),
        ("int", Value::Duration(nanos)) => Ok(Value::Int(*nanos)),
        ("string", Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::string(text)),
            Err(_) => error("invalid UTF-8 in bytes, cannot convert to string"),
        },
        ("string", Value::Ip(ip)) => Ok(Value::string(ip.0.to_string())),
        ("string", Value::Cidr(cidr)) => Ok(Value::string(format!("{}/{}", cidr.ip.0, cidr.bits))),
        (
            "string",
            Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::Duration(_)
            | Value::Timestamp(_),
        ) => format::text(value).map(Value::string),
        ("timestamp", Value::Int(seconds)) => Timestamp::new(*seconds, 0, 0).map(Value::Timestamp),
        ("timestamp", Value::String(text)) => match Timestamp::parse(text) {
            Some(timestamp) => timestamp.map(Value::Timestamp),
            None => wrong(value, name),
        },
        ("uint", Value::Int(number)) => {
            u64::try_from(*number).map_or_else(|_| error("unsigned integer overflow"), |number| Ok(Value::Uint(number)))
        }
        ("uint", Value::Double(number)) => {
            if number.is_finite() && *number >= 0.0 && *number < 18_446_744_073_709_551_616.0 {
                Ok(Value::Uint(*number as u64))
            } else {
                error("unsigned integer overflow")
            }
        }
        ("uint", Value::String(text)) if text.starts_with('+') => wrong(value, name),
        ("uint", Value::String(text)) => {
            text.parse().map_or_else(|_| wrong(value, name), |number| Ok(Value::Uint(number)))
        }
        ("bool" | "bytes" | "double" | "duration" | "int" | "string" | "timestamp" | "uint", _) => wrong(value, name),
        _ => return None,
    })
}

fn wrong(value: &Value, to: &str) -> Outcome {
    error(format!("type conversion error from '{}' to '{to}'", value.type_name()))
}

/// Source: `strconv.ParseFloat`.
fn double(text: &str) -> Outcome {
    let lower = text.to_ascii_lowercase();
    if lower.contains("0x") {
        return unknown("a hexadecimal number with a point");
    }
    let names_infinity = lower.trim_start_matches(['+', '-']).starts_with("inf");
    match text.parse::<f64>() {
        Ok(number) if number.is_infinite() && !names_infinity => wrong(&Value::string(text), "double"),
        // Go accepts no sign before `NaN`.
        Ok(number) if number.is_nan() && lower != "nan" => wrong(&Value::string(text), "double"),
        Ok(number) => Ok(Value::Double(number)),
        Err(_) => wrong(&Value::string(text), "double"),
    }
}
