//! Diagnostics for fields whose schema accepts values that the Rust type rejects, with the attributes to add.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{CustomResourceDefinition, Problem, Unchecked, Undecodable, takes_rule, undecodable};
use crate::apiserver::diagnostics::{OP470, OP471};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::reads::{Code, Integer, Parsed, Reads, Remedy, Tag};
use opctl_model::{Api, Step};

/// Compares each version of a kind with its CRD. Skips kinds without a CRD.
pub fn check_decoding(apis: &[Api], crds: &[CustomResourceDefinition]) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut codes: Vec<(Code, Vec<String>, Option<Span>)> = Vec::new();
    for api in apis {
        let of_kind =
            |crd: &&CustomResourceDefinition| (&crd.spec.group, &crd.spec.names.kind) == (&api.group, &api.kind);
        let Some(crd) = crds.iter().find(of_kind) else { continue };
        let comparison = undecodable(crd, &api.version, &api.reads);
        let mut found: Vec<Vec<&Undecodable>> = Vec::new();
        for one in &comparison.found {
            // One attribute fixes all fields of the same type.
            let is_of_value = one.problem.is_of_value();
            match found.iter_mut().find(|same| {
                one.span.is_some() && same[0].span == one.span && same[0].problem.is_of_value() == is_of_value
            }) {
                Some(same) => same.push(one),
                None => found.push(vec![one]),
            }
        }
        let takes_rule = |path: &[Step], rule: &str| takes_rule(crd, &api.version, path, rule);
        for diagnostic in found.iter().map(|found| report(found, &takes_rule)) {
            let is_same = |other: &Diagnostic| other.span == diagnostic.span && other.help == diagnostic.help;
            if diagnostic.span.is_none() || !diagnostics.iter().any(is_same) {
                diagnostics.push(diagnostic);
            }
        }
        for Unchecked { path, span, code } in &comparison.unchecked {
            let path = format!("{path} of `{}`", api.kind);
            match codes.iter_mut().find(|(same, ..)| (&same.name, &same.span) == (&code.name, &code.span)) {
                Some((_, paths, _)) if paths.contains(&path) => {}
                Some((_, paths, _)) => paths.push(path),
                None => codes.push(((*code).clone(), vec![path], span.cloned())),
            }
        }
    }
    diagnostics.extend(codes.iter().map(|(code, paths, field)| unchecked(code, paths, field.as_ref())));
    diagnostics
}

/// Code that may reject values that the API server accepts; reported once for all fields that it reads.
fn unchecked(code: &Code, paths: &[String], field: Option<&Span>) -> Diagnostic {
    let more = match paths.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let name = &code.name;
    let message = format!("{}{more}: opctl cannot determine which values `{name}` refuses", paths[0]);
    let diagnostic = OP471
        .warning(message)
        .help("limit the schema to the values that it reads, for example with `#[schemars(regex(pattern = \"…\"))]`")
        .help("if it reads every value that the schema accepts, add `// +opctl:allow:OP471 reason` above it");
    match code.span.as_ref().or(field) {
        Some(span) => diagnostic.at(span.clone(), ""),
        None => diagnostic,
    }
}

/// The diagnostic for all findings at one location of the source.
fn report(found: &[&Undecodable], takes_rule: &dyn Fn(&[Step], &str) -> bool) -> Diagnostic {
    let first = found[0];
    let path = &first.path;
    let (problem, help) = match &first.problem {
        Problem::Missing { by_function } => (
            "the API server accepts an object without this field, and serde requires it".to_owned(),
            match by_function {
                true => "add `#[serde(default)]`: serde requires every field that a function deserializes, even an `Option`".into(),
                false => "make the field an `Option`, add `#[serde(default)]`, or let the schema require it".into(),
            },
        ),
        Problem::Unknown => (
            "the API server keeps this field, which `#[serde(deny_unknown_fields)]` refuses".to_owned(),
            "remove `deny_unknown_fields`, or describe all fields in the schema: without `x-kubernetes-preserve-unknown-fields`, the API server drops the others".into(),
        ),
        Problem::Key { by, keys } => (
            format!("the API server accepts the key {}, which {} refuses", shown(&keys[0].as_str().into()), name(by)),
            rules_fix(found, takes_rule).unwrap_or_else(|| {
                "use `String` as the key, and parse it in the reconciler, which can report an error in the status".into()
            }),
        ),
        Problem::Refused { by, values } => (
            format!("the API server accepts {}, which {} refuses", shown(&values[0]), name(by)),
            match first.is_undescribed {
                true => UNDESCRIBED.to_owned(),
                false => fix(found, takes_rule).unwrap_or_else(|| otherwise(by, &values[0])),
            },
        ),
    };
    let diagnostic = OP470.warning(format!("{path}: {problem}")).help(help);
    match first.span {
        Some(span) => diagnostic.at(span.clone(), ""),
        None => diagnostic,
    }
}

const UNDESCRIBED: &str = "describe the value in the schema, or use `serde_json::Value` and deserialize it in the reconciler: with `x-kubernetes-preserve-unknown-fields`, the API server accepts every value";

fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        text
    } else {
        format!("{}…", text.chars().take(LONGEST).collect::<String>())
    }
}

/// The name of the rejecting type, as in source.
fn name(reads: &Reads) -> String {
    let name = match reads {
        Reads::Integer(integer) => &integer.name,
        Reads::Parsed(parsed) => parsed.name,
        Reads::IntOrText(name) => *name,
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
        Reads::Tuple(items) => return format!("a tuple of {}", items.len()),
        Reads::Code(code) => &code.name,
        Reads::FromText(inner) => return format!("the parser of {}", name(inner)),
        _ => return "the type".into(),
    };
    format!("`{name}`")
}

/// The attribute for the location of all findings, if one makes the API server reject the values.
fn fix(found: &[&Undecodable], takes_rule: &dyn Fn(&[Step], &str) -> bool) -> Option<String> {
    let first = found[0];
    let attributes: Option<BTreeSet<String>> = found.iter().map(|one| attribute(one)).collect();
    if let Some(attributes) = attributes
        && attributes.len() == 1
    {
        let attribute = attributes.first()?;
        let verb = if has_bounds(first.span?) { "change the bounds to" } else { "add" };
        return Some(format!("{verb} `#[schemars({attribute})]`"));
    }
    if let Some(rules) = rules_fix(found, takes_rule) {
        return Some(rules);
    }
    let Problem::Refused { by, values } = &first.problem else { return None };
    let arguments = arguments(by, values)?;
    Some(format!("use a type of your own for the value: `struct Name(#[schemars({arguments})] …);`"))
}

/// The CEL rules for all findings, if the API server accepts them at the location.
fn rules_fix(found: &[&Undecodable], takes_rule: &dyn Fn(&[Step], &str) -> bool) -> Option<String> {
    let first = found[0];
    let mut rules: Vec<String> = found.iter().map(|one| rule(one)).collect::<Option<_>>()?;
    rules.dedup();
    let site = &first.steps[..first.steps.len() - first.tail.len()];
    rules.iter().all(|rule| takes_rule(site, rule)).then(|| format!("add `#[schemars({})]`", validations(&rules)))
}

fn validations(rules: &[String]) -> String {
    let rule = |rule: &String| match rule.contains(['"', '\\']) {
        true => format!("{{\"rule\": r#\"{rule}\"#}}"),
        false => format!("{{\"rule\": \"{rule}\"}}"),
    };
    format!("extend(\"x-kubernetes-validations\" = [{}])", rules.iter().map(rule).collect::<Vec<_>>().join(", "))
}

/// `true` if the field already has such an attribute: two of them do not compile.
fn has_bounds(span: &Span) -> bool {
    let before = &span.file.text[..span.range.start];
    let attributes = before.lines().rev().skip(1).take_while(|line| line.trim_start().starts_with(['#', '/']));
    attributes.map(str::trim_start).any(|line| line.starts_with("#[") && line.contains("range("))
}

/// The arguments of `#[schemars(…)]`, if the location is that of the value, or of a list of such values.
fn attribute(found: &Undecodable) -> Option<String> {
    let Problem::Refused { by, values } = &found.problem else { return None };
    let arguments = arguments(by, values)?;
    // `inner` does not support extensions.
    let is_inner = found.tail.iter().all(|step| *step == Step::Items) && !arguments.contains("extend(");
    let nested = || found.tail.iter().fold(arguments.clone(), |arguments, _| format!("inner({arguments})"));
    (found.tail.is_empty() || is_inner).then(nested)
}

/// The arguments of `#[schemars(…)]` for the value itself.
fn arguments(reads: &Reads, values: &[Value]) -> Option<String> {
    // The API server also accepts lists for strings with a known format.
    let (lists, values): (Vec<Value>, Vec<Value>) =
        values.iter().cloned().partition(|value| value.is_array() && reads_text(reads));
    let no_lists = (!lists.is_empty()).then(|| r#"extend("minItems" = 1, "maxItems" = 0)"#.to_owned());
    if values.is_empty() {
        return no_lists;
    }
    let is_text = values.iter().all(Value::is_string);
    let limit = match reads {
        Reads::Integer(integer) => match range(integer, &values) {
            Some(range) => range,
            None => validations(&[condition(reads, &values, "self")?]),
        },
        Reads::Char if is_text => "length(equal = 1)".into(),
        Reads::ShortText(most) if is_text => format!("regex(pattern = \"^[ -~]{{0,{most}}}$\")"),
        Reads::Parsed(Parsed { remedy: Remedy::Pattern(pattern), .. }) if is_text => {
            format!("regex(pattern = r\"{pattern}\")")
        }
        Reads::Parsed(Parsed { remedy: Remedy::Rule(..), .. }) if is_text => {
            validations(&[condition(reads, &values, "self")?])
        }
        Reads::List { length: Some(length), .. } if values.iter().all(Value::is_array) => {
            format!("length(equal = {length})")
        }
        Reads::Code(code) if values.iter().all(|value| code.from.reads(value) == Some(false)) => {
            return self::arguments(code.from.innermost(), &values);
        }
        Reads::FromText(inner) if is_text => validations(&[text_condition(inner, "self")?]),
        // kube makes fields nullable that are not required.
        Reads::IntOrText(_) if values.contains(&Value::Null) => "extend(\"nullable\" = false)".into(),
        _ => return None,
    };
    Some([Some(limit), no_lists].into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn reads_text(reads: &Reads) -> bool {
    matches!(reads, Reads::Text | Reads::ShortText(_) | Reads::Char | Reads::Parsed(_))
}

/// The bounds that exclude the values.
fn range(integer: &Integer, values: &[Value]) -> Option<String> {
    let plain = integer.name.trim_start_matches("NonZero").trim_start_matches("Atomic").to_lowercase();
    let is_type = plain.starts_with(['i', 'u']) && plain[1..].parse::<u8>().is_ok() || plain.ends_with("size");
    let bound = |name: &str, number: i128| match is_type {
        true => format!("{plain}::{name}"),
        false => format!("{number}i64"),
    };
    let positive = !integer.zero && integer.min == 0;
    let least = if positive { format!("1{plain}") } else { bound("MIN", integer.min) };
    let most = bound("MAX", integer.max);
    match beyond(integer, values)? {
        (true, true) => Some(format!("range(min = {least}, max = {most})")),
        (true, false) => Some(format!("range(min = {least})")),
        (false, true) => Some(format!("range(max = {most})")),
        // Only zero is excluded.
        (false, false) => None,
    }
}

/// `true` if some values are below the minimum, and if some are above the maximum; `None` if some are not integers.
fn beyond(Integer { min, max, zero, .. }: &Integer, values: &[Value]) -> Option<(bool, bool)> {
    let integer = |value: &Value| value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    let numbers: Vec<i128> = values.iter().map(integer).collect::<Option<_>>()?;
    let least = if !zero && *min == 0 { 1 } else { *min };
    Some((numbers.iter().any(|number| *number < least), numbers.iter().any(|number| number > max)))
}

/// A CEL rule for the location that holds for all accepted values.
fn rule(found: &Undecodable) -> Option<String> {
    match &found.problem {
        Problem::Refused { by, values } => {
            condition(by, values, "self")?;
            let of_value = |variable: &str| condition(by, values, variable).unwrap_or_default();
            about("self".into(), &found.tail, 0, &of_value)
        }
        Problem::Key { by, keys } => {
            let keys: Vec<Value> = keys.iter().map(|key| key.as_str().into()).collect();
            let rule = text_condition(by, "key").or_else(|| condition(by, &keys, "key"))?;
            about("self".into(), &found.tail, 0, &|map| format!("{map}.all(key, {rule})"))
        }
        Problem::Missing { .. } | Problem::Unknown => None,
    }
}

fn condition(reads: &Reads, values: &[Value], variable: &str) -> Option<String> {
    let is_text = values.iter().all(Value::is_string);
    Some(match reads {
        Reads::Integer(integer) => {
            let (below, above) = beyond(integer, values)?;
            let least = if !integer.zero && integer.min == 0 { 1 } else { integer.min };
            let parts = [
                below.then(|| format!("{variable} >= {least}")),
                above.then(|| format!("{variable} <= {}", integer.max)),
                (!integer.zero && integer.min < 0).then(|| format!("{variable} != 0")),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" && ")
        }
        Reads::Char if is_text => format!("size({variable}) == 1"),
        Reads::ShortText(most) if is_text => format!("{variable}.matches('^[ -~]{{0,{most}}}$')"),
        Reads::List { length: Some(length), .. } if values.iter().all(Value::is_array) => {
            format!("size({variable}) == {length}")
        }
        Reads::Parsed(Parsed { remedy: Remedy::Pattern(pattern), .. }) if is_text => {
            format!("{variable}.matches(r'{pattern}')")
        }
        Reads::Parsed(Parsed { remedy: Remedy::Rule(rule, longest), .. }) if is_text => {
            format!("size({variable}) <= {longest} && {}", rule.replace("self", variable))
        }
        Reads::FromText(inner) if is_text => text_condition(inner, variable)?,
        _ => return None,
    })
}

/// A CEL expression that holds for strings that can be parsed as the type.
fn text_condition(reads: &Reads, variable: &str) -> Option<String> {
    Some(match reads {
        Reads::Integer(Integer { min, max, .. }) => {
            let (sign, most) = (if *min < 0 { "-?" } else { "" }, (*max).min(i64::MAX.into()));
            let bounds = match min {
                0 => format!("int({variable}) <= {most}"),
                min => format!("int({variable}) >= {} && int({variable}) <= {most}", (*min).max(i64::MIN.into())),
            };
            let digits = most.to_string().len().min(18);
            format!("{variable}.matches('^{sign}[0-9]{{1,{digits}}}$') && {bounds}")
        }
        Reads::Bool => format!("{variable} in ['true', 'false']"),
        Reads::Float => format!("{variable}.matches('^-?[0-9]+([.][0-9]+)?$')"),
        Reads::Enum { tag: Tag::External, variants } if variants.iter().all(|variant| variant.content.is_none()) => {
            let names = variants.iter().flat_map(|variant| &variant.names).map(|name| format!("'{name}'"));
            format!("{variable} in [{}]", names.collect::<Vec<_>>().join(", "))
        }
        _ => return None,
    })
}

/// A CEL expression about the values at the end of the steps from the variable.
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

/// The help if no schema can reject the values.
fn otherwise(reads: &Reads, value: &Value) -> String {
    match reads {
        Reads::Code(code) => {
            let (limit, ty) = match value.is_string() {
                true => (r#"regex(pattern = "…")"#, "String"),
                false => ("range(…)", "i64"),
            };
            format!(
                "limit the schema to what `{}` reads, for example with `#[schemars({limit})]`; or use `{ty}`, and convert it in the reconciler, which can report an error in the status",
                code.name
            )
        }
        Reads::Parsed(parsed) if value.is_string() => format!(
            "use `String`, and parse it as `{}` in the reconciler, which can report an error in the status",
            parsed.name
        ),
        Reads::Tuple(_) => "use a struct or an array such as `[T; 2]`, which a schema can describe".into(),
        _ if value.is_null() => "make it an `Option`".into(),
        _ => "give the field the schema of its type: remove the `#[schemars(…)]` that makes them differ".into(),
    }
}
