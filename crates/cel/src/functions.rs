//! Functions and operators of CEL and of Kubernetes' libraries, by their names.
//!
//! Overloads are selected by the runtime types of arguments, as in cel-go's dispatcher: an expression that type-checks
//! may still have no matching overload if something is `dyn`.

mod convert;
mod format;
mod kubernetes;
mod lists;
mod operators;
mod strings;
mod times;

use super::evaluate::Evaluation;
use super::types::Type;
use super::value::{Failure, Outcome, Value, error, no_overload};

/// Calls a function. If it is called as a `member`, the receiver is the first of `args`. `result` is the result type of
/// the first overload.
pub fn call(on: &mut Evaluation, name: &str, member: bool, args: &[Value], result: Option<&Type>) -> Outcome {
    if let Some(value) = operators::call(on, name, args) {
        return value;
    }
    let found = match (name, args) {
        ("size", [of]) => Some(size(of)),
        ("optional.of", [value]) => Some(Ok(Value::some(value.clone()))),
        ("optional.none", []) => Some(Ok(Value::NONE)),
        ("optional.ofNonZeroValue", [value]) => {
            Some(Ok(if is_zero(value) { Value::NONE } else { Value::some(value.clone()) }))
        }
        ("hasValue", [Value::Optional(value)]) => Some(Ok(Value::Bool(value.is_some()))),
        ("value", [Value::Optional(value)]) => Some(match value {
            Some(value) => Ok((**value).clone()),
            None => error("optional.none() dereference"),
        }),
        _ => None,
    };
    found
        .or_else(|| convert::call(name, member, args))
        .or_else(|| times::call(name, args))
        .or_else(|| lists::call(on, name, args, result))
        .or_else(|| strings::call(on, name, args))
        .or_else(|| kubernetes::call(name, member, args))
        .unwrap_or_else(no_overload)
}

fn size(of: &Value) -> Outcome {
    let size = match of {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.items.len(),
        Value::Map(map) => map.len(),
        _ => return no_overload(),
    };
    Ok(Value::Int(size as i64))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) | Value::Duration(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Double(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.items.is_empty(),
        Value::Map(map) => map.len() == 0,
        // The zero value of Go's `time.Time`.
        Value::Timestamp(timestamp) => (timestamp.seconds, timestamp.nanos) == (-62_135_596_800, 0),
        Value::Optional(value) => value.is_none(),
        _ => false,
    }
}

/// Formats a value for a message.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        value => format::text(value).unwrap_or_else(|_| value.type_name().to_owned()),
    }
}

fn unknown<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Unknown(what.into()))
}
