//! Formats that the API server does not know. It warns of them since Kubernetes 1.34, and has never checked them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::{Finding, each};
use crate::model::Place;

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
    each(root, &mut Vec::new(), &mut |schema, path| {
        let Some(format) = schema.format.as_deref().filter(|format| !format.is_empty()) else { return };
        let type_ = schema.type_.as_deref().unwrap_or_default();
        if is_known(type_, format) {
            return;
        }
        let message = format!("the API server does not know the format `{format}` of {type_} values and warns of it");
        let finding = Finding::warning("OP329", Place::Schema(path.to_vec()), message);
        findings.push(match type_ {
            "integer" => finding.help("use `i32` or `i64`"),
            _ => finding,
        });
    });
}

fn is_known(type_: &str, format: &str) -> bool {
    match type_ {
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        "" | "string" => OF_STRINGS.contains(&format.replace('-', "").as_str()),
        _ => false,
    }
}
