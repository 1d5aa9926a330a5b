//! A bundle → its `olm.bundle` in a catalog. Source: `alpha/action/render.go`, `alpha/action/migrations` and
//! `pkg/registry` of operator-registry.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::bundle::Bundle;
use crate::object::{list, text};
use opctl_kustomize::yaml::Node;

/// The form in which manifests are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The parts of the ClusterServiceVersion for user interfaces: `olm.csv.metadata`. OLM pulls the image for the
    /// rest.
    #[default]
    Metadata,
    /// All manifests, for OLM before 0.28: `olm.bundle.object`.
    Objects,
}

/// The document of a bundle. Properties are sorted by type and value; those with manifests are last.
pub fn bundle(bundle: &Bundle, image: &str, content: Content) -> Value {
    let spec = bundle.spec().json();
    let mut properties: Vec<(String, Value)> = Vec::new();
    for property in bundle.properties.iter().flat_map(Node::items) {
        properties.push((
            property.text_at(&["type"]).unwrap_or_default().to_owned(),
            property.get("value").map_or(Value::Null, Node::json),
        ));
    }
    let deprecated = bundle.csv_annotation("olm.properties").and_then(Node::as_text).unwrap_or_default();
    for property in serde_json::from_str::<Vec<Value>>(deprecated).unwrap_or_default() {
        properties.push((property["type"].as_str().unwrap_or_default().to_owned(), property["value"].clone()));
    }
    for dependency in bundle.dependencies.iter().flat_map(Node::items) {
        let value = dependency.get("value").map_or(Value::Null, Node::json);
        properties.push(match dependency.text_at(&["type"]).unwrap_or_default() {
            "olm.gvk" => ("olm.gvk.required".into(), value),
            "olm.package" => {
                let required = json!({"packageName": value["packageName"], "versionRange": value["version"]});
                ("olm.package.required".into(), required)
            }
            other => (other.to_owned(), value),
        });
    }
    for crd in bundle.crds().filter_map(|crd| crd.node.get("spec")) {
        let [group, kind] = [&["group"][..], &["names", "kind"]].map(|path| crd.text_at(path).unwrap_or_default());
        let versions = crd.items_at(&["versions"]).iter().filter_map(|version| version.text_at(&["name"]));
        // A CRD of v1beta1 may have its only version here.
        for version in versions.chain(crd.text_at(&["version"])) {
            properties.push(("olm.gvk".into(), json!({"group": group, "kind": kind, "version": version})));
        }
    }
    for api in bundle.spec().items_at(&["customresourcedefinitions", "required"]) {
        let text = |key: &str| api.text_at(&[key]).unwrap_or_default();
        let group = text("name").split_once('.').map_or("", |(_, group)| group);
        let required = json!({"group": group, "kind": text("kind"), "version": text("version")});
        properties.push(("olm.gvk.required".into(), required));
    }
    for (list, kind) in [("owned", "olm.gvk"), ("required", "olm.gvk.required")] {
        for api in bundle.spec().items_at(&["apiservicedefinitions", list]) {
            let text = |key: &str| api.text_at(&[key]).unwrap_or_default();
            properties
                .push((kind.into(), json!({"group": text("group"), "kind": text("kind"), "version": text("version")})));
        }
    }
    // A package in `metadata/properties.yaml` takes precedence.
    if !properties.iter().any(|(kind, _)| kind == "olm.package") {
        let version = spec["version"].as_str().unwrap_or("0.0.0");
        let mut package = json!({"packageName": bundle.package(), "version": version});
        if let Some(release) = spec["release"].as_str().filter(|release| !release.is_empty()) {
            package["release"] = release.into();
        }
        properties.push(("olm.package".into(), package));
    }
    properties.sort_by_cached_key(|(kind, value)| (kind.clone(), value.to_string()));
    properties.dedup();
    match content {
        Content::Metadata => properties.push((METADATA.into(), metadata(&bundle.csv().node.json()))),
        Content::Objects => {
            for manifest in &bundle.manifests {
                let data = STANDARD.encode(manifest.node.json().to_string());
                properties.push((OBJECT.into(), json!({"data": data})));
            }
        }
    }
    let properties: Vec<Value> =
        properties.into_iter().map(|(kind, value)| json!({"type": kind, "value": value})).collect();
    json!({
        "schema": "olm.bundle",
        "package": bundle.package(),
        "name": bundle.csv().name(),
        "image": image,
        "properties": properties,
        "relatedImages": related(bundle, image),
    })
}

const METADATA: &str = "olm.csv.metadata";
const OBJECT: &str = "olm.bundle.object";

/// Replaces the manifests in an `olm.bundle` with the metadata of its ClusterServiceVersion, as OLM since 0.28 reads it.
/// A bundle without an image is left as it is.
pub fn migrate(document: &mut Value) {
    let has_image = document["schema"] == "olm.bundle" && !text(document, "/image").is_empty();
    let properties = list(document, "/properties");
    if !has_image || properties.iter().any(|property| property["type"] == METADATA) {
        return;
    }
    let objects = properties.iter().filter(|property| property["type"] == OBJECT).filter_map(|property| {
        let data = STANDARD.decode(text(property, "/value/data")).ok()?;
        serde_json::from_slice::<Value>(&data).ok()
    });
    let Some(csv) = objects.into_iter().find(|object| object["kind"] == "ClusterServiceVersion") else { return };
    let kept = properties.iter().filter(|property| property["type"] != OBJECT).cloned();
    document["properties"] = kept.chain([json!({"type": METADATA, "value": metadata(&csv)})]).collect();
}

/// The fields of `olm.csv.metadata`, without empty ones.
fn metadata(csv: &Value) -> Value {
    let spec = &csv["spec"];
    let mut fields = Map::new();
    let of_spec = [
        ("apiServiceDefinitions", "apiservicedefinitions"),
        ("crdDescriptions", "customresourcedefinitions"),
        ("description", "description"),
        ("displayName", "displayName"),
        ("installModes", "installModes"),
        ("keywords", "keywords"),
        ("links", "links"),
        ("maintainers", "maintainers"),
        ("maturity", "maturity"),
        ("minKubeVersion", "minKubeVersion"),
        ("nativeAPIs", "nativeAPIs"),
        ("provider", "provider"),
    ];
    for name in ["annotations", "labels"] {
        fields.insert(name.into(), csv["metadata"][name].clone());
    }
    for (name, field) in of_spec {
        fields.insert(name.into(), spec[field].clone());
    }
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    fields.retain(|name, value| {
        !is_empty(value) || matches!(name.as_str(), "apiServiceDefinitions" | "crdDescriptions" | "provider")
    });
    for name in ["apiServiceDefinitions", "crdDescriptions", "provider"] {
        if fields[name].is_null() {
            fields.insert(name.into(), json!({}));
        }
    }
    fields.into()
}

/// The images listed in the ClusterServiceVersion, the bundle image, and those of the containers; sorted by image.
fn related(bundle: &Bundle, image: &str) -> Vec<Value> {
    let mut related: Vec<(String, String)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |image: &str, name: &str, is_listed: bool| {
        if !image.is_empty() && (seen.insert(image.to_owned()) || is_listed) {
            related.push((image.to_owned(), name.to_owned()));
        }
    };
    for entry in bundle.spec().items_at(&["relatedImages"]) {
        let text = |key: &str| entry.text_at(&[key]).unwrap_or_default();
        add(text("image"), text("name"), true);
    }
    add(image, "", false);
    for pod in bundle.deployments().iter().filter_map(|deployment| deployment.at(&["spec", "template", "spec"])) {
        for container in pod.items_at(&["containers"]).iter().chain(pod.items_at(&["initContainers"])) {
            add(container.text_at(&["image"]).unwrap_or_default(), "", false);
        }
    }
    related.sort();
    related.into_iter().map(|(image, name)| json!({"image": image, "name": name})).collect()
}
