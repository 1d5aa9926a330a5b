//! Embedded objects: `x-kubernetes-embedded-resource`.
//!
//! Source: `pkg/apiserver/schema/objectmeta`. The schema requires `apiVersion` and `kind`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Map, Value};

use super::{ObjectFinding, ObjectStep, metadata, shown};
use crate::apiserver::diagnostics::OP457;
use crate::apiserver::value::brief;
use crate::apiserver::{items, property, values};
use opctl_model::names::is_dns_1035_label;

pub fn check(
    value: &Value,
    schema: Option<&JSONSchemaProps>,
    path: &mut Vec<ObjectStep>,
    findings: &mut Vec<ObjectFinding>,
) {
    let Some(schema) = schema else { return };
    match value {
        Value::Object(map) => {
            if schema.x_kubernetes_embedded_resource == Some(true) {
                resource(map, path, findings);
            }
            for (name, value) in map {
                path.push(ObjectStep::Key(name.clone()));
                check(value, property(schema, name).or_else(|| values(schema)), path, findings);
                path.pop();
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                path.push(ObjectStep::Index(index));
                check(value, items(schema), path, findings);
                path.pop();
            }
        }
        _ => {}
    }
}

fn resource(map: &Map<String, Value>, path: &mut Vec<ObjectStep>, findings: &mut Vec<ObjectFinding>) {
    type Check = fn(&str) -> bool;
    let parts: [(&str, Check); 2] = [
        ("apiVersion", |text| !text.is_empty() && text.matches('/').count() <= 1),
        ("kind", |text| is_dns_1035_label(&text.to_lowercase())),
    ];
    for (name, is_valid) in parts {
        let Some(value) = map.get(name) else { continue };
        if !value.as_str().is_some_and(is_valid) {
            path.push(ObjectStep::Key(name.to_owned()));
            let message = format!("{}: {} is no `{name}` of an object", shown(path), brief(value));
            findings.push(ObjectFinding::error(OP457, path, message));
            path.pop();
        }
    }
    metadata::check(map.get("metadata"), metadata::Of::Embedded, path, findings);
}
