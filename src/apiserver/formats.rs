//! Formats that the API server does not know. It warns of them since Kubernetes 1.34, and has never checked them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::{Finding, inside, junctors, shown, text};
use crate::model::{Place, Step};

/// Source: `supportedVersionedFormats` of `pkg/apiserver/validation/formats.go`, without hyphens, which do not count.
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
    walk(root, &mut Vec::new(), findings);
}

fn walk(schema: &JSONSchemaProps, path: &mut Vec<Step>, findings: &mut Vec<Finding>) {
    let (type_, format) = (text(&schema.type_), text(&schema.format));
    if !format.is_empty() && !is_known(type_, format) {
        let message =
            format!("{} has the format `{format}`, which the API server does not know and warns of", shown(path));
        let finding = Finding::warning("OP329", Place::Schema(path.clone()), message);
        let finding = finding.help(way_out(schema, format));
        findings.push(match path.last() {
            Some(Step::Items | Step::Values) => finding.help(
                "attributes are about the field as a whole: wrap the item in a type of your own to say more about it",
            ),
            _ => finding,
        });
    }
    for (step, inner) in inside(schema) {
        path.push(step);
        walk(inner, path, findings);
        path.pop();
    }
    for (_, inner) in junctors(schema) {
        walk(inner, path, findings);
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

/// What stands for the same values with a format that is known.
fn way_out(schema: &JSONSchemaProps, format: &str) -> String {
    let (format, max) = match format {
        "int8" | "int16" | "uint8" | "uint16" => ("int32", None),
        "uint32" => ("int64", Some(u32::MAX)),
        _ if text(&schema.type_) == "integer" => ("int64", None),
        _ => return "remove it: `#[schemars(extend(\"format\" = null))]`, or use a type without a format".into(),
    };
    let range = match max {
        Some(max) if schema.maximum.is_none() => format!("range(max = {max}), "),
        _ => String::new(),
    };
    let rust = format.replace("int", "i");
    format!(
        "`#[schemars({range}extend(\"format\" = \"{format}\"))]`, or the type `{rust}`; in a list, wrap the number in a type of your own"
    )
}
