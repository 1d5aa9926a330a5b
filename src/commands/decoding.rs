//! The fields whose schema admits what their Rust type refuses: `source` knows the types, `apiserver` the schemas. What
//! there is to paste is made here.

use serde_json::Value;

use crate::apiserver::{Problem, Undecodable, undecodable};
use crate::diagnostic::Diagnostic;
use crate::emit::CustomResourceDefinition;
use crate::model::Step;
use crate::model::reads::{Integer, Parsed, Reads, Remedy};
use crate::source::Source;

/// What was found, and the fields of which only a run tells what they read.
#[derive(Default)]
pub struct Decoding {
    pub diagnostics: Vec<Diagnostic>,
    pub unknown: Vec<String>,
}

pub fn check(source: &Source, crds: &[CustomResourceDefinition]) -> Decoding {
    let mut decoding = Decoding::default();
    for (api, reads) in source.reads() {
        let of_kind = |crd: &&CustomResourceDefinition| (&crd.spec.group, &crd.spec.names.kind) == (&api.group, &api.kind);
        let Some(crd) = crds.iter().find(of_kind) else { continue };
        let comparison = undecodable(crd, &api.version, &reads);
        for found in comparison.found {
            let diagnostic = report(&found);
            // A type that several fields have is fixed once.
            if !decoding.diagnostics.iter().any(|other| other.place.is_some() && other.place == diagnostic.place) {
                decoding.diagnostics.push(diagnostic);
            }
        }
        let unknown = comparison.unknown.iter().map(|path| format!("{path} of {} {}", api.kind, api.version));
        decoding.unknown.extend(unknown);
    }
    decoding
}

fn report(found: &Undecodable) -> Diagnostic {
    let path = &found.path;
    let diagnostic = match &found.problem {
        Problem::Missing => {
            Diagnostic::warning("OP470", format!("{path}: the API server accepts objects without this field, and serde requires it"))
                .help("make the field an `Option`, or add `#[serde(default)]`")
        }
        Problem::Refused { by, values } => {
            let message = format!("{path}: the API server accepts {}, which {} refuses", shown(&values[0]), name(by));
            let diagnostic = Diagnostic::warning("OP470", message);
            match fix(by, values, &found.tail) {
                Some(attribute) => diagnostic.help(format!("add `#[schemars({attribute})]`")),
                None => diagnostic.help(otherwise(by, &values[0])),
            }
        }
    };
    let diagnostic = diagnostic.help("one object with such a value cannot be decoded, and the operator does not see it");
    match found.place {
        Some(place) => diagnostic.at(place.clone(), ""),
        None => diagnostic,
    }
}

fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= LONGEST { text } else { format!("{}…", text.chars().take(LONGEST).collect::<String>()) }
}

/// Of the type that refuses, as the user knows it.
fn name(reads: &Reads) -> String {
    let name = match reads {
        Reads::Integer(integer) => &integer.name,
        Reads::Parsed(parsed) => parsed.name,
        Reads::IntOrText => "IntOrString",
        Reads::Char => "char",
        Reads::Bool => "bool",
        Reads::Text => "String",
        Reads::ShortText(most) => return format!("`ArrayString<{most}>`"),
        Reads::Float => return "a floating-point type".into(),
        Reads::List { length: Some(length), .. } => return format!("an array of {length}"),
        Reads::List { .. } => return "a list".into(),
        Reads::Map { .. } => return "a map".into(),
        Reads::Struct(_) => return "the struct".into(),
        Reads::Enum { .. } => return "the enum".into(),
        _ => return "the type".into(),
    };
    format!("`{name}`")
}

/// The argument of `#[schemars(…)]` that makes the API server refuse the values, for the field from which the steps lead
/// to them.
fn fix(reads: &Reads, values: &[Value], tail: &[Step]) -> Option<String> {
    let fits = |value: &Value| match reads {
        Reads::Integer(_) => value.is_i64() || value.is_u64(),
        Reads::IntOrText => value.is_i64(),
        Reads::List { .. } => value.is_array(),
        _ => value.is_string(),
    };
    // A value of another JSON type: the schema is not that of the type.
    if !values.iter().all(fits) {
        return None;
    }
    match attribute(reads, values) {
        Some(attribute) if tail.iter().all(|step| *step == Step::Items) => {
            Some(tail.iter().fold(attribute, |attribute, _| format!("inner({attribute})")))
        }
        _ => {
            rule(reads, "self")?;
            let rule = about("self".into(), tail, 0, &|variable| rule(reads, variable).unwrap_or_default())?;
            let quoted = if rule.contains(['"', '\\']) { format!("r#\"{rule}\"#") } else { format!("\"{rule}\"") };
            Some(format!("extend(\"x-kubernetes-validations\" = [{{\"rule\": {quoted}}}])"))
        }
    }
}

/// What schemars has an attribute for, which `inner(…)` takes as well.
fn attribute(reads: &Reads, values: &[Value]) -> Option<String> {
    Some(match reads {
        Reads::Integer(integer) => range(integer, values)?,
        Reads::Char => "length(equal = 1)".into(),
        Reads::ShortText(most) => format!("regex(pattern = \"^[ -~]{{0,{most}}}$\")"),
        Reads::List { length: Some(length), .. } => format!("length(equal = {length})"),
        Reads::Parsed(Parsed { remedy: Remedy::Pattern(pattern), .. }) => format!("regex(pattern = r\"{pattern}\")"),
        _ => return None,
    })
}

/// The bounds that the values are beyond.
fn range(Integer { name, min, max, zero }: &Integer, values: &[Value]) -> Option<String> {
    let numbers = || values.iter().filter_map(|value| value.as_i64().map(i128::from).or(value.as_u64().map(i128::from)));
    let plain = name.trim_start_matches("NonZero").trim_start_matches("Atomic").to_lowercase();
    let positive = !zero && *min == 0;
    let least = if positive { format!("1{plain}") } else { format!("{plain}::MIN") };
    let below = numbers().any(|number| number < *min || positive && number == 0);
    match (below, numbers().any(|number| number > *max)) {
        (true, true) => Some(format!("range(min = {least}, max = {plain}::MAX)")),
        (true, false) => Some(format!("range(min = {least})")),
        (false, true) => Some(format!("range(max = {plain}::MAX)")),
        // Zero alone.
        (false, false) => None,
    }
}

/// A CEL expression that is true of what the type reads.
fn rule(reads: &Reads, variable: &str) -> Option<String> {
    Some(match reads {
        Reads::Integer(Integer { min, max, zero, .. }) => {
            let bound = |bound: &i128, sign: &str| i64::try_from(*bound).ok().map(|it| format!("{variable} {sign} {it}"));
            let parts = [bound(min, ">="), bound(max, "<="), (!zero).then(|| format!("{variable} != 0"))];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" && ")
        }
        Reads::IntOrText => {
            format!("type({variable}) == string || {variable} >= {} && {variable} <= {}", i32::MIN, i32::MAX)
        }
        Reads::Char => format!("size({variable}) == 1"),
        Reads::ShortText(most) => format!("{variable}.matches('^[ -~]{{0,{most}}}$')"),
        Reads::List { length: Some(length), .. } => format!("size({variable}) == {length}"),
        Reads::Parsed(Parsed { remedy: Remedy::Pattern(pattern), .. }) => format!("{variable}.matches(r'{pattern}')"),
        Reads::Parsed(Parsed { remedy: Remedy::Rule(rule, longest), .. }) => {
            format!("size({variable}) <= {longest} && {}", rule.replace("self", variable))
        }
        _ => return None,
    })
}

/// A CEL expression about the values to which the steps lead from the variable.
fn about(variable: String, tail: &[Step], depth: usize, rule: &dyn Fn(&str) -> String) -> Option<String> {
    let Some((step, rest)) = tail.split_first() else { return Some(rule(&variable)) };
    let name = ["x", "y", "z"].get(depth)?;
    match step {
        Step::Items => Some(format!("{variable}.all({name}, {})", about((*name).into(), rest, depth + 1, rule)?)),
        Step::Values => {
            let inner = about(format!("{variable}[{name}]"), rest, depth + 1, rule)?;
            Some(format!("{variable}.all({name}, {inner})"))
        }
        Step::Property(field) if field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            let field = format!("{variable}.{field}");
            let inner = about(field.clone(), rest, depth, rule)?;
            Some(format!("(!has({field}) || {inner})"))
        }
        Step::Property(_) => None,
    }
}

/// The way out where no schema helps.
fn otherwise(reads: &Reads, value: &Value) -> String {
    match reads {
        Reads::Parsed(parsed) if value.is_string() => {
            format!("use `String` here, and parse it as `{}` where it is used, where an error can go into a condition", parsed.name)
        }
        _ if value.is_null() => "make it an `Option`".into(),
        _ => "let the schema be that of the type (remove `#[schemars(…)]` or `#[serde(…)]` that makes them differ), or use `serde_json::Value`".into(),
    }
}
