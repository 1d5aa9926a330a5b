//! Functions of strings; positions are counted in characters.
//!
//! Source: cel-go's `ext/strings.go` and `pkg/cel/library/regex.go` of k8s.io/apiserver.

use super::super::evaluate::Evaluation;
use super::super::value::{Failure, Outcome, Value, error};
use super::format;

pub fn call(on: &mut Evaluation, name: &str, args: &[Value]) -> Option<Outcome> {
    let Some(Value::String(text)) = args.first() else { return None };
    let factor = match (name, args.get(1)) {
        ("matches" | "find" | "findAll", Some(Value::String(pattern))) => 1 + pattern.len() / 4,
        ("contains" | "indexOf" | "lastIndexOf", Some(Value::String(part))) => 1 + part.len() / 10,
        _ => 1,
    };
    if let Err(failure) = on.spend((text.len() / 10).saturating_mul(factor)) {
        return Some(Err(failure));
    }
    let as_bool = |value| Ok(Value::Bool(value));
    let as_text = |value: String| Ok(Value::string(value));
    Some(match (name, &args[1..]) {
        ("contains", [Value::String(part)]) => as_bool(text.contains(&**part)),
        ("startsWith", [Value::String(part)]) => as_bool(text.starts_with(&**part)),
        ("endsWith", [Value::String(part)]) => as_bool(text.ends_with(&**part)),
        ("matches", [Value::String(pattern)]) => on.pattern(pattern).map(|pattern| Value::Bool(pattern.is_match(text))),
        ("find", [Value::String(pattern)]) => {
            on.pattern(pattern).map(|pattern| Value::string(pattern.find(text).map_or("", |found| found.as_str())))
        }
        ("findAll", [Value::String(pattern), rest @ ..]) => {
            let most = match rest {
                [] => usize::MAX,
                [Value::Int(most)] => usize::try_from(*most).unwrap_or(usize::MAX),
                _ => return None,
            };
            on.pattern(pattern).map(|pattern| texts(pattern.find_iter(text).take(most).map(|found| found.as_str())))
        }
        ("charAt", [Value::Int(at)]) => match index(*at, text.chars().count()) {
            Ok(at) => as_text(text.chars().skip(at).take(1).collect()),
            Err(failure) => Err(failure),
        },
        ("indexOf", [Value::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Value::String(part)]) => {
            let length = text.chars().count() as i64;
            if part.is_empty() {
                Ok(Value::Int(length))
            } else if text.len() < part.len() {
                Ok(Value::Int(-1))
            } else {
                last_index_of(text, part, length - 1)
            }
        }
        ("lastIndexOf", [Value::String(part), Value::Int(from)]) => last_index_of(text, part, *from),
        ("lowerAscii", []) => as_text(text.to_ascii_lowercase()),
        ("upperAscii", []) => as_text(text.to_ascii_uppercase()),
        ("replace", [Value::String(old), Value::String(new)]) => as_text(text.replace(&**old, new)),
        ("replace", [Value::String(old), Value::String(new), Value::Int(most)]) => {
            as_text(text.replacen(&**old, new, usize::try_from(*most).unwrap_or(usize::MAX)))
        }
        ("reverse", []) => as_text(text.chars().rev().collect()),
        ("split", [Value::String(by)]) => Ok(split(text, by, usize::MAX)),
        ("split", [Value::String(by), Value::Int(most)]) => {
            Ok(split(text, by, usize::try_from(*most).unwrap_or(usize::MAX)))
        }
        ("substring", [Value::Int(from)]) => {
            let length = text.chars().count();
            substring(text, *from, length as i64, length)
        }
        ("substring", [Value::Int(from), Value::Int(to)]) if from > to => {
            error(format!("invalid substring range. start: {from}, end: {to}"))
        }
        ("substring", [Value::Int(from), Value::Int(to)]) => substring(text, *from, *to, text.chars().count()),
        ("trim", []) => as_text(text.trim().to_owned()),
        ("strings.quote", []) => as_text(quote(text)),
        ("format", [Value::List(list)]) => format::format(text, &list.items).map(Value::string),
        _ => return None,
    })
}

pub fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    Value::list(texts.map(Value::string).collect())
}

/// The position after the last character is valid.
fn index(at: i64, length: usize) -> Result<usize, Failure> {
    match usize::try_from(at) {
        Ok(index) if index <= length => Ok(index),
        _ => error(format!("index out of range: {at}")),
    }
}

fn index_of(text: &str, part: &str, from: i64) -> Outcome {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Ok(from) = usize::try_from(from) else { return error(format!("index out of range: {from}")) };
    let found = text.char_indices().nth(from).and_then(|(start, _)| {
        let at = text[start..].find(part)?;
        Some(from + text[start..start + at].chars().count())
    });
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

/// Finds the last occurrence that begins at `from` or before.
fn last_index_of(text: &str, part: &str, from: i64) -> Outcome {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Ok(from) = usize::try_from(from) else { return error(format!("index out of range: {from}")) };
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    if from >= starts.len() {
        return Ok(Value::Int(-1));
    }
    let found = starts[..=from].iter().rposition(|start| text[*start..].starts_with(part));
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn split(text: &str, by: &str, most: usize) -> Value {
    if most == 0 {
        return Value::list(Vec::new());
    }
    if !by.is_empty() {
        return texts(text.splitn(most, by));
    }
    // Splits into characters; the last part contains the rest.
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if parts.len() + 1 == most { rest.len() } else { first.len_utf8() };
        parts.push(Value::string(&rest[..end]));
        rest = &rest[end..];
    }
    Value::list(parts)
}

fn substring(text: &str, from: i64, to: i64, length: usize) -> Outcome {
    let (from, to) = (index(from, length)?, index(to, length)?);
    Ok(Value::string(text.chars().skip(from).take(to - from).collect::<String>()))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
