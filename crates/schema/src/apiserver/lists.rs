//! Checks `x-kubernetes-list-type` with its keys, and `x-kubernetes-map-type`.
//!
//! Source: `ValidateCustomResourceDefinitionOpenAPISchema` and `validateMapListKeysMapSet` of
//! `pkg/apis/apiextensions/validation`.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::{Finding, each, items, property, shown, text};
use crate::apiserver::diagnostics::{OP323, OP324};
use opctl_model::{CrdLocation, Step};

pub fn check(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    each(root, &mut Vec::new(), &mut |schema, path| {
        list(schema, path, findings);
        map(schema, path, findings);
    });
}

fn map(schema: &JSONSchemaProps, path: &[Step], findings: &mut Vec<Finding>) {
    let Some(strategy) = schema.x_kubernetes_map_type.as_deref() else { return };
    let at = shown(path);
    let problem = if text(&schema.type_) != "object" {
        format!("{at} has a merge strategy for maps, and is of type `{}`", text(&schema.type_))
    } else if !matches!(strategy, "atomic" | "granular") {
        format!("{at} has the map type `{strategy}`; the API server accepts `atomic` and `granular`")
    } else {
        return;
    };
    findings.push(Finding::error(OP324, CrdLocation::Schema(path.to_vec()), problem));
}

fn list(schema: &JSONSchemaProps, path: &[Step], findings: &mut Vec<Finding>) {
    let keys = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
    if schema.x_kubernetes_list_type.is_none() && keys.is_empty() {
        return;
    }
    let at = shown(path);
    let mut refuse = |message: String, help: &str| {
        let finding = Finding::error(OP323, CrdLocation::Schema(path.to_vec()), message);
        findings.push(if help.is_empty() { finding } else { finding.help(help) });
    };
    let Some(strategy) = schema.x_kubernetes_list_type.as_deref() else {
        return refuse(
            format!("{at} has list keys, but does not declare that it is merged by them"),
            "`ListMerge::Map(…)` declares both",
        );
    };
    if text(&schema.type_) != "array" {
        return refuse(format!("{at} has a merge strategy for lists, and is of type `{}`", text(&schema.type_)), "");
    }
    if !matches!(strategy, "atomic" | "set" | "map") {
        return refuse(
            format!("{at} has the list type `{strategy}`; the API server accepts `atomic`, `set` and `map`"),
            "",
        );
    }
    if strategy != "map" && !keys.is_empty() {
        return refuse(format!("{at} has keys, and only lists of the type `map` are merged by keys"), "");
    }
    // A list without a single schema for its items is reported elsewhere.
    let Some(item) = items(schema) else { return };
    if strategy != "atomic" && item.nullable == Some(true) {
        refuse(
            format!("an item of {at} can be null, and a {strategy} has no such items"),
            "use `Vec<T>`, not `Vec<Option<T>>`",
        );
    }
    match strategy {
        "set" => {
            let is_atomic = match text(&item.type_) {
                "array" => matches!(item.x_kubernetes_list_type.as_deref(), None | Some("atomic")),
                "object" => item.x_kubernetes_map_type.as_deref() == Some("atomic"),
                _ => true,
            };
            if !is_atomic {
                refuse(
                    format!(
                        "an item of {at} is merged by its parts, and in a set it is there as a whole or not at all"
                    ),
                    "merge the list by keys: `ListMerge::Map(vec![\"name\".into()])`; or add `#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]` to the item's type",
                );
            }
        }
        "map" => by_keys(item, keys, &at, &mut refuse),
        _ => {}
    }
}

fn by_keys(item: &JSONSchemaProps, keys: &[String], at: &str, refuse: &mut impl FnMut(String, &str)) {
    if keys.is_empty() {
        return refuse(format!("{at} is merged by keys, and has none"), "`ListMerge::Map(vec![\"name\".into()])`");
    }
    if text(&item.type_) != "object" {
        return refuse(
            format!("an item of {at} is merged by its keys, and is of type `{}`", text(&item.type_)),
            "use a struct with named fields as the item, or merge the list as a set",
        );
    }
    let mut seen = BTreeSet::new();
    for key in keys {
        if !seen.insert(key) {
            refuse(format!("`{key}` is twice among the keys of {at}"), "");
            continue;
        }
        let Some(field) = property(item, key) else {
            refuse(
                format!("the items of {at} have no field `{key}` to merge them by"),
                "give the name as it is in YAML",
            );
            continue;
        };
        if matches!(text(&field.type_), "array" | "object") {
            refuse(format!("`{key}` is a key of {at}, so it must be a string, a number or a boolean"), "");
        }
        let is_required = item.required.iter().flatten().any(|required| required == key);
        if field.nullable == Some(true) || !is_required && field.default.is_none() {
            refuse(
                format!("`{key}` is a key of {at}, so each item must have it, or have a default for it"),
                "remove the `Option`, or add `#[serde(default = \"…\")]`",
            );
        }
    }
}
