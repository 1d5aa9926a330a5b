//! Formats unknown to the API server. It does not check them, and warns about them since Kubernetes 1.34.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::{Finding, inside, junctors, shown, text};
use crate::apiserver::diagnostics::OP329;
use opctl_model::{CrdLocation, Step};

/// Source: `supportedVersionedFormats` of `pkg/apiserver/validation/formats.go`. Hyphens are removed, as they are
/// ignored.
const OF_STRINGS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

pub fn check(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    walk(root, &mut Vec::new(), &mut BTreeSet::new(), findings);
}

/// `reported` contains the previous findings, since branches of an `anyOf` may cause the same finding for a location.
fn walk(
    schema: &JSONSchemaProps,
    path: &mut Vec<Step>,
    reported: &mut BTreeSet<(String, Vec<String>)>,
    findings: &mut Vec<Finding>,
) {
    let (type_, format) = (text(&schema.type_), text(&schema.format));
    if !format.is_empty() && !is_known(type_, format) {
        let at = shown(path);
        let message = format!("{at} has the format `{format}`, which the API server does not know and warns of");
        let finding = Finding::warning(OP329, CrdLocation::Schema(path.clone()), message);
        let finding = finding.help(way_out(schema, format, path.last()));
        if reported.insert((finding.message.clone(), finding.help.clone())) {
            findings.push(finding);
        }
    }
    for (step, inner) in inside(schema) {
        path.push(step);
        walk(inner, path, reported, findings);
        path.pop();
    }
    for (_, inner) in junctors(schema) {
        walk(inner, path, reported, findings);
    }
}

pub fn is_known(type_: &str, format: &str) -> bool {
    match type_ {
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        "" | "string" => OF_STRINGS.contains(&format.replace('-', "").as_str()),
        _ => false,
    }
}

/// Help: a known format, with limits, for the same values.
fn way_out(schema: &JSONSchemaProps, format: &str, step: Option<&Step>) -> String {
    let (format, max) = match format {
        "int8" | "int16" | "uint8" | "uint16" => ("int32", None),
        "uint32" => ("int64", Some(u32::MAX)),
        _ if text(&schema.type_) == "integer" => ("int64", None),
        _ => return "remove it: `#[schemars(extend(\"format\" = null))]`, or use a type without a format".into(),
    };
    let rust = format.replace("int", "i");
    if matches!(step, Some(Step::Items | Step::Values)) {
        return format!("use `{rust}`");
    }
    let range = match max {
        Some(max) if schema.maximum.is_none() => format!("range(max = {max}), "),
        _ => String::new(),
    };
    format!("use `{rust}`, or specify the format: `#[schemars({range}extend(\"format\" = \"{format}\"))]`")
}
