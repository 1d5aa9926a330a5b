//! JSON paths in a version: printer columns, the scale subresource, selectable fields.
//!
//! Source: `ValidateCustomResourceColumnDefinition`, `ValidateCustomResourceDefinitionSubresources`,
//! `ValidateCustomResourceSelectableFields` of `pkg/apis/apiextensions/validation`. The API server accepts a path to a
//! missing field, except for selectable fields; the column then stays empty.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, CustomResourceSubresourceScale, JSONSchemaProps,
    JSONSchemaPropsOrBool,
};

use super::{Finding, items, property, text, values};
use crate::apiserver::diagnostics::{OP308, OP309, OP310, OP311};
use opctl_model::CrdLocation;
use opctl_model::names::nearest;

pub fn check(version: &CustomResourceDefinitionVersion, root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    for (nth, definition) in version.additional_printer_columns.iter().flatten().enumerate() {
        column(definition, CrdLocation::Argument("printcolumn", nth), root, findings);
    }
    if let Some(paths) = version.subresources.as_ref().and_then(|subresources| subresources.scale.as_ref()) {
        scale(paths, root, findings);
    }
    selectable(version, root, findings);
}

const TYPES: &[&str] = &["integer", "number", "string", "boolean", "date"];
const FORMATS: &[&str] = &["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];

fn column(
    column: &CustomResourceColumnDefinition,
    location: CrdLocation,
    root: &JSONSchemaProps,
    findings: &mut Vec<Finding>,
) {
    let (name, type_, path, format) = (&column.name, &column.type_, &column.json_path, text(&column.format));
    let mut refuse = |message: String, help: &str| {
        findings.push(Finding::error(OP308, location.clone(), message).help(help));
    };
    if name.is_empty() {
        refuse("a printer column has no name".into(), "add `name = \"…\"`");
    }
    if !TYPES.contains(&type_.as_str()) {
        let types = TYPES.join(", ");
        refuse(format!("the type of the column `{name}` cannot be `{type_}`"), &format!("use one of {types}"));
    }
    if !(format.is_empty() || FORMATS.contains(&format)) {
        let formats = FORMATS.join(", ");
        refuse(
            format!("the format of the column `{name}` cannot be `{format}`"),
            &format!("use one of {formats}, or none"),
        );
    }
    if !path.starts_with('.') {
        refuse(
            format!("the path `{path}` of the column `{name}` does not start with a dot"),
            "write it from the object's top: `.spec.replicas`",
        );
    } else {
        leads_nowhere(&format!("the column `{name}` is always empty"), path, location, root, findings);
    }
}

fn scale(scale: &CustomResourceSubresourceScale, root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    let paths = [
        ("spec_replicas_path", scale.spec_replicas_path.as_str(), &[".spec."][..]),
        ("status_replicas_path", &scale.status_replicas_path, &[".status."]),
        ("label_selector_path", text(&scale.label_selector_path), &[".spec.", ".status."]),
    ];
    for (name, path, below) in paths {
        if path.is_empty() && name == "label_selector_path" {
            continue;
        }
        let location = CrdLocation::Argument("scale", 0);
        if !below.iter().any(|below| path.starts_with(below)) {
            let message = format!("`{name}` is `{path}`, and it must start with `{}`", below.join("` or `"));
            findings.push(Finding::error(OP309, location, message).help("for example `.spec.replicas`"));
        } else {
            leads_nowhere(&format!("`{name}` of the scale subresource has no value"), path, location, root, findings);
        }
    }
}

fn leads_nowhere(what: &str, path: &str, location: CrdLocation, root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    let Err((missing, names)) = follow(path, root) else { return };
    let finding = Finding::warning(OP311, location, format!("{what}: no field `{missing}` is at `{path}`"));
    findings.push(match nearest(&missing, names) {
        Some(nearest) => finding.help(format!("did you mean `{nearest}`?")),
        None => finding.help("give the names as they are in YAML; what is not in the schema is dropped"),
    });
}

/// Follows a JSONPath as far as it consists of plain names. `Err` contains the missing name and the existing ones.
fn follow<'a>(path: &str, root: &'a JSONSchemaProps) -> Result<(), (String, Vec<&'a str>)> {
    let Some(path) = path.strip_prefix('.') else { return Ok(()) };
    let mut schema = root;
    for (depth, segment) in path.split('.').enumerate() {
        let (name, index) = segment.split_once('[').map_or((segment, None), |(name, index)| (name, Some(index)));
        let is_plain = !name.is_empty() && !name.contains(['\\', '*', '?', '@', '(', '{', '\'', '"']);
        let is_everywhere = depth == 0 && matches!(name, "metadata" | "apiVersion" | "kind");
        let preserves = schema.x_kubernetes_preserve_unknown_fields == Some(true);
        if !is_plain || is_everywhere || preserves || schema.x_kubernetes_embedded_resource == Some(true) {
            return Ok(());
        }
        schema = match (property(schema, name), values(schema), &schema.additional_properties) {
            (Some(property), ..) => property,
            (None, Some(values), _) => values,
            (None, None, Some(JSONSchemaPropsOrBool::Bool(true))) => return Ok(()),
            (None, None, _) => {
                let names = schema.properties.iter().flatten().map(|(name, _)| name.as_str());
                return Err((name.into(), names.collect()));
            }
        };
        match index {
            None => {}
            // `[0]` and `[*]`. Filters are not supported.
            Some(index) if index.ends_with(']') && !index.contains(['?', '\'', '"']) => match items(schema) {
                Some(items) => schema = items,
                None => return Ok(()),
            },
            Some(_) => return Ok(()),
        }
    }
    Ok(())
}

fn selectable(version: &CustomResourceDefinitionVersion, root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for (nth, field) in version.selectable_fields.iter().flatten().enumerate() {
        let path = &field.json_path;
        let mut refuse = |message: String, help: &str| {
            findings.push(Finding::error(OP310, CrdLocation::Argument("selectable", nth), message).help(help));
        };
        match selected(path, root) {
            Err(reason) => refuse(format!("`{path}` cannot be selected by: {reason}"), "write it as `.spec.name`"),
            Ok(schema) if !matches!(text(&schema.type_), "string" | "boolean" | "integer") => refuse(
                format!("`{path}` cannot be selected by: it is of type `{}`", text(&schema.type_)),
                "select by a string, a boolean or an integer",
            ),
            Ok(_) if path.starts_with(".metadata.") => {
                refuse(
                    format!("`{path}` is metadata, which cannot be declared selectable"),
                    "`metadata.name` always is",
                );
            }
            Ok(_) if !seen.insert(path) => refuse(format!("`{path}` is declared selectable twice"), "remove one"),
            Ok(_) => {}
        }
    }
    if seen.len() > 8 {
        let message = format!("{} fields are selectable, and the API server takes 8 at most", seen.len());
        findings.push(
            Finding::error(OP310, CrdLocation::Argument("selectable", 8), message).help("select the others by labels"),
        );
    }
}

/// Source: `ValidFieldPath` of `pkg/apiserver/schema/cel`.
fn selected<'a>(path: &str, root: &'a JSONSchemaProps) -> Result<&'a JSONSchemaProps, String> {
    let rest = path.strip_prefix('.').ok_or("it does not start with a dot")?;
    if path.contains(['[', ']']) {
        return Err("it leads into a list".into());
    }
    rest.split('.').try_fold(root, |schema, name| {
        let inner = if schema.properties.is_some() { property(schema, name) } else { values(schema) };
        inner.ok_or_else(|| format!("there is no field `{name}`"))
    })
}
