//! The schema of a CRD → the descriptors of the CSV: how a console displays and edits each field.

use std::collections::BTreeMap;

use heck::ToTitleCase;
use serde_json::{Map, Value, json};

use super::object::{list, text};

/// Display settings for one version of a kind, from markers in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindHints {
    pub display_name: Option<String>,
    pub order: Option<i64>,
    /// Kind, version and name; each may be empty.
    pub resources: Vec<[String; 3]>,
    /// By path, starting with `spec.` or `status.`.
    pub fields: BTreeMap<String, DescriptorHint>,
}

/// Display settings for a field, from markers in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescriptorHint {
    pub display_name: Option<String>,
    pub x_descriptors: Vec<String>,
    pub order: Option<i64>,
}

/// An item of `customresourcedefinitions.owned`. `base` is the user's item, which is kept.
pub fn owned(crd: &Value, version: &Value, hints: &KindHints, base: Option<&Value>) -> Value {
    let schema = &version["schema"]["openAPIV3Schema"];
    let kind = text(crd, "/spec/names/kind");
    let mut item = Map::new();
    item.insert("name".into(), crd["metadata"]["name"].clone());
    item.insert("version".into(), version["name"].clone());
    item.insert("kind".into(), kind.into());
    let display_name = hints.display_name.clone().unwrap_or_else(|| words(kind));
    item.insert("displayName".into(), display_name.into());
    let description = match text(schema, "/description") {
        "" => format!("{} of `{}`", words(kind), text(crd, "/spec/group")),
        description => description.to_owned(),
    };
    item.insert("description".into(), description.into());
    if !hints.resources.is_empty() {
        let mut resources = hints.resources.clone();
        resources.sort_by(|a, b| [&a[2], &a[0], &a[1]].cmp(&[&b[2], &b[0], &b[1]]));
        resources.dedup();
        let resource = |[kind, version, name]: [String; 3]| json!({ "kind": kind, "version": version, "name": name });
        item.insert("resources".into(), resources.into_iter().map(resource).collect());
    }
    let replicas = text(version, "/subresources/scale/specReplicasPath");
    let pods = text(version, "/subresources/scale/statusReplicasPath");
    for (part, list, replicas) in [("spec", "specDescriptors", replicas), ("status", "statusDescriptors", pods)] {
        let descriptors = descriptors(schema, part, replicas, hints);
        if !descriptors.is_empty() {
            item.insert(list.into(), descriptors.into());
        }
    }
    let Some(Value::Object(base)) = base else { return item.into() };
    for (key, value) in base {
        match (key.as_str(), item.get_mut(key)) {
            ("specDescriptors" | "statusDescriptors", Some(Value::Array(derived))) => merge(derived, value),
            _ => drop(item.insert(key.clone(), value.clone())),
        }
    }
    item.into()
}

/// Merges the user's descriptors with derived ones for other paths.
fn merge(derived: &mut Vec<Value>, base: &Value) {
    let base = base.as_array().cloned().unwrap_or_default();
    derived.retain(|one| !base.iter().any(|other| other["path"] == one["path"]));
    derived.splice(..0, base);
}

/// The descriptors of the fields directly in `spec` or `status`, and of others with display settings.
fn descriptors(schema: &Value, part: &str, replicas: &str, hints: &KindHints) -> Vec<Value> {
    let mut found: Vec<(i64, usize, Value)> = Vec::new();
    let fields = schema["properties"][part]["properties"].as_object();
    let mut paths: Vec<String> = fields.into_iter().flatten().map(|(name, _)| format!("{part}.{name}")).collect();
    for path in hints.fields.keys().filter(|path| path.starts_with(&format!("{part}."))) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths.sort();
    for (number, path) in paths.iter().enumerate() {
        let Some(field) = at(&schema["properties"][part], &path[part.len() + 1..]) else { continue };
        let hint = hints.fields.get(path).cloned().unwrap_or_default();
        let own = &path[part.len() + 1..];
        let name = own.rsplit('.').next().unwrap_or(own).trim_end_matches("[0]");
        let is_replicas = replicas.trim_start_matches('.') == path;
        let mut x_descriptors = hint.x_descriptors;
        if x_descriptors.is_empty() {
            x_descriptors = match part {
                "spec" => of_spec(name, field, is_replicas),
                _ => of_status(name, field, is_replicas),
            };
        }
        let mut descriptor = json!({
            "path": own,
            "displayName": hint.display_name.unwrap_or_else(|| words(name)),
        });
        if let Some(description) = field.get("description") {
            descriptor["description"] = description.clone();
        }
        if !x_descriptors.is_empty() {
            descriptor["x-descriptors"] = x_descriptors.into();
        }
        found.push((hint.order.unwrap_or(i64::MAX), number, descriptor));
    }
    found.sort_by_key(|(order, number, _)| (*order, *number));
    found.into_iter().map(|(_, _, descriptor)| descriptor).collect()
}

/// The schema of the field at a path such as `a.b[0].c`.
fn at<'s>(schema: &'s Value, path: &str) -> Option<&'s Value> {
    path.split('.').try_fold(schema, |schema, name| match name.strip_suffix("[0]") {
        Some(name) => schema["properties"].get(name)?.get("items"),
        None => schema["properties"].get(name),
    })
}

const UI: &str = "urn:alm:descriptor:com.tectonic.ui:";
const KUBERNETES: &str = "urn:alm:descriptor:io.kubernetes";

fn of_spec(name: &str, field: &Value, is_replicas: bool) -> Vec<String> {
    let properties = field["properties"].as_object();
    let has = |key: &str| properties.is_some_and(|properties| properties.contains_key(key));
    let ends = |ends: [&str; 2]| ends.iter().any(|end| name.ends_with(end));
    let ui = |what: &str| vec![format!("{UI}{what}")];
    match text(field, "/type") {
        "boolean" => ui("booleanSwitch"),
        "integer" if is_replicas || name == "replicas" => ui("podCount"),
        "integer" | "number" => ui("number"),
        "string" if name == "imagePullPolicy" => ui("imagePullPolicy"),
        "string" => match list(field, "/enum") {
            [] if ends(["SecretName", "SecretRef"]) => vec![format!("{KUBERNETES}:Secret")],
            [] if ends(["ConfigMapName", "ConfigMapRef"]) => vec![format!("{KUBERNETES}:ConfigMap")],
            [] if ends(["password", "Password"]) => ui("password"),
            [] => ui("text"),
            values => values.iter().filter_map(Value::as_str).map(|value| format!("{UI}select:{value}")).collect(),
        },
        "object" if has("limits") && has("requests") => ui("resourceRequirements"),
        "object" if ["nodeAffinity", "podAffinity", "podAntiAffinity"].contains(&name) => ui(name),
        "object" if ends(["SecretRef", "secretRef"]) && has("name") => vec![format!("{KUBERNETES}:Secret")],
        "object" if ends(["ConfigMapRef", "configMapRef"]) && has("name") => vec![format!("{KUBERNETES}:ConfigMap")],
        _ => Vec::new(),
    }
}

fn of_status(name: &str, field: &Value, is_replicas: bool) -> Vec<String> {
    let known = match (name, text(field, "/type")) {
        ("conditions", "array") => format!("{KUBERNETES}.conditions"),
        ("phase", "string") => format!("{KUBERNETES}.phase"),
        ("reason", "string") => format!("{KUBERNETES}.phase:reason"),
        (_, "integer") if is_replicas => format!("{UI}podCount"),
        (_, "string") if text(field, "/format") == "uri" => "urn:alm:descriptor:org.w3:link".to_owned(),
        (_, "string") => "urn:alm:descriptor:text".to_owned(),
        _ => return Vec::new(),
    };
    vec![known]
}

/// `memcachedSize` → `Memcached Size`
pub fn words(name: &str) -> String {
    name.to_title_case()
}
