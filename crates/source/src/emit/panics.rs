//! Explains why kube's `crd()` panics for a kind, at the enum or field that causes it, and how to avoid it.

use serde_json::Value;

use super::structural::structural;
use crate::diagnostics::OP016;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::versions::Kube;
use opctl_model::{Api, Enumeration};

/// `reason` is the text of the panic.
pub fn explain(api: &Api, raw: &Value, reason: &str) -> Diagnostic {
    let error =
        |what: String| OP016.error(format!("kube cannot make a CRD of `{}`, its `crd()` panics: {what}", api.kind));
    let found = api.enums.iter().find_map(|found| match structural(&found.schema, api.kube) {
        Err(reason) if holds(raw, found) => Some((found, reason)),
        _ => None,
    });
    let Some((found, reason)) = found else {
        let (way, reason) = deepest(raw, api.kube, String::new()).unwrap_or_else(|| (String::new(), reason.into()));
        return error(in_the_users_terms(&reason))
            .at(api.span.clone(), format!("at `{way}`"))
            .help("use another type there, or specify the schema: `#[schemars(schema_with = \"…\")]`");
    };
    let name = &found.name;
    let error = |what: String, label: &str| error(what).at(found.span.clone(), label);
    let one_schema = "a CRD has one schema per field, for all variants";
    match (conflict(&reason), &found.tag) {
        (Some(property), Some(tag)) if property == tag && are_empty(found) => {
            error(format!("each variant of `{name}` has its own `{tag}`"), one_schema)
                .help("remove the tag: variants without fields are then strings, which a CRD lists as an enum")
        }
        (Some(property), Some(tag)) if property == tag => {
            let variant = first_variant(found).unwrap_or("variant");
            error(format!("each variant of `{name}` has its own `{tag}`"), one_schema)
                .help(format!("remove the tag: then users write `{variant}: {{ … }}`, and each variant has its own fields"))
                .help(format!(
                    "or make it a struct: `{tag}` of an enum without fields, and an `Option` for what each variant holds"
                ))
        }
        (Some(property), _) => error(format!("two variants of `{name}` differ in `{property}`"), one_schema)
            .help(format!("give `{property}` the same type and words in all variants, or another name in each"))
            .help("or remove `untagged`: then users write `variant: { … }`, and each variant has its own fields"),
        (None, _) if reason.trim().starts_with("Enum variant set") => {
            let empty: Vec<String> = without_fields(found).iter().map(|name| format!("{name} {{}}")).collect();
            let what = format!("`{name}` has variants with fields and variants without");
            error(what, "some variants are objects and others strings, but a CRD has one type per field")
                .help(format!("give the others no fields, but braces: `{}`", empty.join(", ")))
                .help(format!("or leave them out, and use an `Option<{name}>`"))
        }
        (None, _) => error(in_the_users_terms(&reason), "")
            .help("give each variant fields of its own (`enum E { A { a: … }, B { b: … } }`) or none at all"),
    }
}

/// `true` if a schema contains the variants of an enum.
fn holds(schema: &Value, found: &Enumeration) -> bool {
    match schema {
        Value::Object(map) => {
            variants(schema).is_some_and(|own| variants(&found.schema) == Some(own))
                || map.values().any(|inner| holds(inner, found))
        }
        Value::Array(list) => list.iter().any(|inner| holds(inner, found)),
        _ => false,
    }
}

fn variants(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()
}

/// The deepest subschema at which kube panics on its own, as a path of fields, and the text of the panic.
fn deepest(schema: &Value, kube: Kube, way: String) -> Option<(String, String)> {
    let reason = structural(schema, kube).err()?;
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, inner)| (format!("{way}.{name}"), inner));
    let elements = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    let elements = elements.map(|inner| (format!("{way}[]"), inner));
    let mut inner = fields.chain(elements).filter(|(_, inner)| inner.is_object());
    Some(inner.find_map(|(way, inner)| deepest(inner, kube, way)).unwrap_or((way, reason)))
}

/// The property that differs between two variants, according to kube's panic.
fn conflict(reason: &str) -> Option<&str> {
    reason.trim().strip_prefix("Property \"")?.split('"').next()
}

/// The name of the first variant, as in the tag.
fn first_variant(found: &Enumeration) -> Option<&str> {
    let tag = found.tag.as_ref()?;
    variants(&found.schema)?.iter().find_map(|variant| variant["properties"][tag]["const"].as_str())
}

/// `true` if no variant has fields besides its tag.
fn are_empty(found: &Enumeration) -> bool {
    let mut variants = variants(&found.schema).into_iter().flatten();
    variants.all(|variant| variant["properties"].as_object().is_some_and(|fields| fields.len() == 1))
}

fn without_fields(found: &Enumeration) -> Vec<&str> {
    let names = variants(&found.schema).into_iter().flatten().flat_map(|variant| match &variant["enum"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::from_iter(variant["const"].as_str()),
    });
    names.collect()
}

/// kube's reason without the names of its own types.
fn in_the_users_terms(reason: &str) -> String {
    let reason = reason.trim();
    if let Some(property) = conflict(reason) {
        return format!("two variants of one enum differ in `{property}`");
    }
    if reason.starts_with("Enum variant set") {
        return "one enum has variants with fields and variants without".into();
    }
    match reason.lines().next().unwrap_or_default() {
        reason if reason.starts_with("invalid type: sequence, expected a string") => {
            "a schema has several types, and a CRD has one a field".into()
        }
        reason if reason.starts_with("invalid type: integer") && reason.ends_with("expected a boolean") => {
            "a schema has an exclusive bound that is a number, and a CRD has those as booleans".into()
        }
        reason if reason.starts_with("invalid type: boolean") => {
            "a schema allows any value, as `serde_json::Value` does, where kube does not support it".into()
        }
        reason => format!("kube reports: {reason}"),
    }
}
