//! Checks literals that functions parse: `duration('1 day')`, `matches('(')`, `'%d'.format(['x'])`.
//!
//! The API server finds these errors when it compiles a rule: cel-go's `cel/validator.go` and `ext/formatting.go`, and
//! the constant folding in `interpreter/decorators.go`.

use super::check::Checked;
use super::parse::{Element, Expr, Kind, Literal, Problem, Tree};
use super::types::Type;
use crate::go::time;
use crate::pattern;

pub fn check(tree: &Tree, checked: &Checked) -> Result<(), Problem> {
    of(&tree.root, checked, false)
}

/// `in_format` is set within the arguments of `format`, where lists may have mixed types.
fn of(expr: &Expr, checked: &Checked, in_format: bool) -> Result<(), Problem> {
    let mut in_format = in_format;
    match &expr.kind {
        Kind::Call { function, target, args } => {
            call(function, target.as_deref(), args)?;
            if function == "format" {
                in_format = true;
                if let (Some(target), [arguments]) = (target, args.as_slice()) {
                    format(expr, target, arguments, checked)?;
                }
            }
        }
        Kind::List(elements) if !in_format => same_types(elements.iter().map(|e| (&e.value, e.optional)), checked)?,
        Kind::Map(entries) if !in_format => {
            same_types(entries.iter().map(|(key, _)| (key, false)), checked)?;
            same_types(entries.iter().map(|(_, element)| (&element.value, element.optional)), checked)?;
        }
        _ => {}
    }
    expr.children().into_iter().try_for_each(|child| of(child, checked, in_format))
}

fn call(function: &str, target: Option<&Expr>, args: &[Expr]) -> Result<(), Problem> {
    let Some(first) = args.first() else { return Ok(()) };
    let patterns = match (function, target) {
        // The API server checks the text as a pattern, too.
        ("matches", None) => args,
        ("matches" | "find" | "findAll", Some(_)) => &args[..1],
        _ => &[],
    };
    for pattern in patterns {
        let Kind::Literal(Literal::String(text)) = &pattern.kind else { continue };
        pattern::check(text).map_err(|problem| {
            Problem::at(pattern.range.clone(), format!("not a regular expression of Go: {problem}"))
        })?;
    }
    let Some(literal) = constant(first) else { return Ok(()) };
    let converts = match (function, &literal) {
        _ if target.is_some() || args.len() != 1 => true,
        ("duration", Literal::String(text)) => time::parse_duration(text).is_some(),
        ("timestamp", Literal::String(text)) => time::parse_rfc3339(text).is_some(),
        ("int", Literal::String(text)) => text.parse::<i64>().is_ok(),
        ("uint", Literal::String(text)) => !text.starts_with('+') && text.parse::<u64>().is_ok(),
        ("uint", Literal::Int(number)) => *number >= 0,
        ("uint", Literal::Double(number)) => (0.0..u64::MAX as f64).contains(number),
        ("int", Literal::Uint(number)) => i64::try_from(*number).is_ok(),
        // The bounds themselves are out of range, too.
        ("int", Literal::Double(number)) => number.abs() < i64::MAX as f64,
        ("double", Literal::String(text)) => text.to_ascii_lowercase().contains("0x") || text.parse::<f64>().is_ok(),
        ("bool", Literal::String(text)) => {
            ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"].contains(&text.as_str())
        }
        _ => true,
    };
    if converts {
        return Ok(());
    }
    let example = match function {
        "duration" => ", as in '1h30m'",
        "timestamp" => ", as in '2025-01-31T12:00:00Z'",
        _ => "",
    };
    Err(Problem::at(first.range.clone(), format!("not a value for `{function}`{example}")))
}

/// The value of a literal or of a string conversion of one, both of which the API server evaluates at compile time.
fn constant(expr: &Expr) -> Option<Literal> {
    let arg = match &expr.kind {
        Kind::Literal(literal) => return Some(literal.clone()),
        Kind::Call { function, target: None, args } if function == "dyn" => return constant(args.first()?),
        Kind::Call { function, target: None, args } if function == "string" => args.first()?,
        Kind::Call { function, target: None, args } if function == "bytes" => {
            return match constant(args.first()?)? {
                Literal::String(text) => Some(Literal::Bytes(text.into_bytes())),
                bytes @ Literal::Bytes(_) => Some(bytes),
                _ => None,
            };
        }
        _ => return None,
    };
    let text = match &arg.kind {
        // The text that the timestamp or duration is parsed from, although `string` prints it in another form.
        Kind::Call { function, target: None, args } if function == "timestamp" || function == "duration" => {
            constant(args.first()?).filter(|text| matches!(text, Literal::String(_)))?
        }
        _ => constant(arg)?,
    };
    Some(Literal::String(match text {
        Literal::Int(number) => number.to_string(),
        Literal::Bool(value) => value.to_string(),
        Literal::String(text) => text,
        Literal::Bytes(bytes) => String::from_utf8(bytes).ok()?,
        _ => return None,
    }))
}

fn same_types<'a>(values: impl Iterator<Item = (&'a Expr, bool)>, checked: &Checked) -> Result<(), Problem> {
    let mut first: Option<Type> = None;
    for (expr, optional) in values {
        let type_ = match &checked.types[expr.id] {
            Type::Optional(value) if optional => (**value).clone(),
            // Kubernetes panics on an optional of type `dyn`.
            Type::Dyn if optional => return Err(Problem::Unknown),
            type_ => type_.clone(),
        };
        match &first {
            None => first = Some(type_),
            Some(first) if *first == type_ => {}
            Some(first) => {
                return Err(Problem::at(expr.range.clone(), format!("this is {type_} among values of type {first}")));
            }
        }
    }
    Ok(())
}

/// Checks a format string against its arguments, if both are literals.
fn format(expr: &Expr, target: &Expr, arguments: &Expr, checked: &Checked) -> Result<(), Problem> {
    let (Kind::Literal(Literal::String(text)), Kind::List(elements)) = (&target.kind, &arguments.kind) else {
        return Ok(());
    };
    let wrong = |message: String| Err(Problem::at(target.range.clone(), message));
    let mut elements = elements.iter();
    let mut rest = text.as_str();
    let mut used = 0;
    while let Some((_, after)) = rest.split_once('%') {
        rest = after;
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        used += 1;
        if let Some(precision) = rest.strip_prefix('.') {
            rest = precision.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == precision.len() {
                return wrong("a number is missing after `%.`".to_owned());
            }
        }
        let Some(clause) = rest.chars().next() else { return wrong("`%` at the end".to_owned()) };
        rest = &rest[clause.len_utf8()..];
        if !"sdfebxXo".contains(clause) {
            return wrong(format!("no clause `%{clause}`; there are %s, %d, %f, %e, %b, %x, %X and %o"));
        }
        let Some(element) = elements.next() else { return wrong(format!("no argument for the {used}. clause")) };
        fits(clause, &element.value, checked)?;
    }
    match elements.next() {
        Some(_) => {
            Err(Problem::at(expr.range.clone(), format!("more arguments than the {used} that the text asks for")))
        }
        None => Ok(()),
    }
}

fn fits(clause: char, expr: &Expr, checked: &Checked) -> Result<(), Problem> {
    let type_ = &checked.types[expr.id];
    let fit = match (clause, type_) {
        (_, Type::Dyn) => true,
        ('s', type_) => !matches!(type_, Type::Optional(_) | Type::Object(_) | Type::Library(_)),
        ('d' | 'o', type_) => matches!(type_, Type::Int | Type::Uint),
        ('f' | 'e', type_) => matches!(type_, Type::Double | Type::String),
        ('b', type_) => matches!(type_, Type::Int | Type::Uint | Type::Bool),
        (_, type_) => matches!(type_, Type::Int | Type::Uint | Type::String | Type::Bytes),
    };
    if !fit {
        return Err(Problem::at(expr.range.clone(), format!("`%{clause}` is not for {type_}")));
    }
    match (&expr.kind, clause) {
        (Kind::List(elements), 's') => elements.iter().try_for_each(|Element { value, .. }| fits('s', value, checked)),
        (Kind::Map(entries), 's') => entries.iter().try_for_each(|(key, Element { value, .. })| {
            fits('s', key, checked)?;
            fits('s', value, checked)
        }),
        _ => Ok(()),
    }
}
