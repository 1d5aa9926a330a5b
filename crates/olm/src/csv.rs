//! The CSV: the base that the user maintains, completed with the parts derived from the objects.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::descriptors::{KindHints, owned};
use super::draft::{Draft, Fate};
use super::files::is_sample;
use super::object::{Object, list, text};
use super::{Options, base};
use crate::diagnostics::OP509;
use opctl_kustomize::yaml::Node;
use opctl_model::names;

/// The parts of the CSV derived from the objects.
pub struct Parts {
    pub deployments: Vec<Value>,
    pub permissions: Vec<Value>,
    pub cluster_permissions: Vec<Value>,
    pub webhooks: Vec<Value>,
    pub related: Vec<Value>,
}

#[expect(clippy::too_many_arguments, reason = "each is another part of the CSV")]
pub fn assemble(
    draft: &mut Draft,
    package: &str,
    version: &str,
    base: &Node,
    parts: Parts,
    samples: &[Node],
    hints: &BTreeMap<(String, String, String), KindHints>,
    options: &Options,
) -> Value {
    let base = Object::new(base.clone());
    let name = format!("{}.v{version}", package.to_lowercase());
    if !names::is_dns_subdomain(&name) || name.len() > 63 {
        let message = format!("`{name}` cannot be the name of a CSV");
        let help = "it has at most 63 lower-case letters, digits, `-` and `.`: use a shorter `--package`";
        draft.findings.push(OP509.error(message).help(help));
    }
    let converts = parts.webhooks.iter().any(|webhook| text(webhook, "/type") == "ConversionWebhook");
    let mut csv = base.value.clone();
    csv["metadata"]["name"] = name.into();
    if csv["metadata"].get("namespace").is_none() {
        csv["metadata"]["namespace"] = "placeholder".into();
    }
    annotate(draft, &mut csv, &parts, samples, options);
    let spec = &mut csv["spec"];
    spec["version"] = version.into();
    spec["install"] = install(&parts);
    spec["customresourcedefinitions"] = definitions(draft, &base, hints, options);
    set_or_remove(spec, "webhookdefinitions", parts.webhooks);
    let related = related(base.list("/spec/relatedImages"), parts.related);
    set_or_remove(spec, "relatedImages", related);
    if let Some(replaces) = &options.replaces {
        spec["replaces"] = replaces.clone().into();
    }
    if !options.skips.is_empty() {
        spec["skips"] = options.skips.clone().into();
    }
    install_modes(draft, &base, spec, converts);
    csv
}

fn set_or_remove(spec: &mut Value, key: &str, items: Vec<Value>) {
    let Some(spec) = spec.as_object_mut() else { return };
    match items.is_empty() {
        true => drop(spec.remove(key)),
        false => drop(spec.insert(key.into(), items.into())),
    }
}

fn install(parts: &Parts) -> Value {
    let mut spec = json!({ "deployments": parts.deployments });
    set_or_remove(&mut spec, "permissions", parts.permissions.clone());
    set_or_remove(&mut spec, "clusterPermissions", parts.cluster_permissions.clone());
    json!({ "strategy": "deployment", "spec": spec })
}

/// Merges the user's images with those of the bundle, sorted by name.
fn related(base: &[Value], made: Vec<Value>) -> Vec<Value> {
    let mut all: BTreeMap<(String, String), Value> = BTreeMap::new();
    let is_replaced = |image: &&Value| !made.iter().any(|other| other["name"] == image["name"]);
    for image in base.iter().filter(is_replaced).chain(&made) {
        all.insert((text(image, "/name").into(), text(image, "/image").into()), image.clone());
    }
    all.into_values().collect()
}

/// Adds derived annotations. Annotations of the base take precedence, except for the examples.
fn annotate(draft: &mut Draft, csv: &mut Value, parts: &Parts, samples: &[Node], options: &Options) {
    if !csv["metadata"]["annotations"].is_object() {
        csv["metadata"]["annotations"] = json!({});
    }
    let Some(annotations) = csv["metadata"]["annotations"].as_object_mut() else { return };
    annotations.insert("alm-examples".into(), examples(draft, samples).into());
    annotations.insert("operators.operatorframework.io/builder".into(), "opctl".into());
    annotations.insert("operators.operatorframework.io/project_layout".into(), "opctl/v1".into());
    let mut derive = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            annotations.entry(key).or_insert(value.into());
        }
    };
    let image = parts.deployments.iter().flat_map(|item| list(item, "/spec/template/spec/containers"));
    let image = image.map(|container| text(container, "/image").to_owned()).next();
    derive("containerImage", image);
    let namespace = draft.all("apps", "Deployment").map(|(_, it)| it.namespace()).next().unwrap_or_default();
    derive("operatorframework.io/suggested-namespace", Some(namespace.to_owned()));
    let template =
        draft.all("", "Namespace").find(|(_, it)| it.name() == namespace).map(|(_, it)| it.value.to_string());
    derive("operatorframework.io/suggested-namespace-template", template);
    if let Some(created_at) = &options.created_at {
        annotations.insert("createdAt".into(), created_at.clone().into());
    }
    if let Some(range) = &options.skip_range {
        annotations.insert("olm.skipRange".into(), range.clone().into());
    }
}

/// The custom resources among the objects and the samples, as JSON.
fn examples(draft: &mut Draft, samples: &[Node]) -> String {
    let samples: Vec<Object> = samples.iter().cloned().map(Object::new).collect();
    let mut all: Vec<Value> =
        samples.iter().filter(|sample| is_sample(draft, sample)).map(|it| it.value.clone()).collect();
    for (at, object) in
        draft.objects.iter().enumerate().filter(|(_, object)| is_sample(draft, object)).collect::<Vec<_>>()
    {
        draft.went(at, Fate::Csv("annotation alm-examples"));
        if !all.contains(&object.value) {
            all.push(object.value.clone());
        }
    }
    let key = |value: &Value| {
        let part = |pointer: &str| text(value, pointer).to_owned();
        [part("/apiVersion"), part("/kind"), part("/metadata/namespace"), part("/metadata/name")]
    };
    all.sort_by_key(key);
    serde_json::to_string_pretty(&all).expect("objects have string keys")
}

/// `customresourcedefinitions`: an item for each served version, sorted by name and version unless markers set the
/// order.
fn definitions(
    draft: &Draft,
    base: &Object,
    hints: &BTreeMap<(String, String, String), KindHints>,
    options: &Options,
) -> Value {
    let mut items: Vec<(i64, String, String, Value)> = Vec::new();
    let none = KindHints::default();
    for (_, crd) in draft.all("apiextensions.k8s.io", "CustomResourceDefinition") {
        for version in crd.list("/spec/versions").iter().filter(|version| version["served"] != false) {
            let (kind, group) = (crd.text("/spec/names/kind"), crd.text("/spec/group"));
            let key = (kind.to_owned(), group.to_owned(), text(version, "/name").to_owned());
            let hints = hints.get(&key).unwrap_or(&none);
            let is_it = |item: &&Value| {
                text(item, "/name") == crd.name() && text(item, "/version") == key.2 && text(item, "/kind") == kind
            };
            let written = base.list("/spec/customresourcedefinitions/owned").iter().find(is_it);
            let item = owned(&crd.value, version, hints, written);
            items.push((hints.order.unwrap_or(i64::MAX), crd.name().to_owned(), key.2, item));
        }
    }
    items.sort_by(|a, b| (a.0, &a.1, &a.2).cmp(&(b.0, &b.1, &b.2)));
    let mut definitions = Map::new();
    if !items.is_empty() {
        definitions.insert("owned".into(), items.into_iter().map(|(.., item)| item).collect());
    }
    let written = base.list("/spec/customresourcedefinitions/required");
    let key = |item: &Value| (text(item, "/name").to_owned(), text(item, "/version").to_owned());
    let mut required: BTreeMap<(String, String), Value> =
        options.required.iter().chain(written).map(|item| (key(item), item.clone())).collect();
    let own =
        |name: &str| draft.all("apiextensions.k8s.io", "CustomResourceDefinition").any(|(_, crd)| crd.name() == name);
    required.retain(|(name, _), _| !own(name));
    if !required.is_empty() {
        definitions.insert("required".into(), required.into_values().collect());
    }
    definitions.into()
}

/// A conversion webhook exists once per cluster, so `AllNamespaces` is then the only mode.
fn install_modes(draft: &mut Draft, base: &Object, spec: &mut Value, converts: bool) {
    let modes = base.list("/spec/installModes");
    if modes.is_empty() {
        spec["installModes"] = base::install_modes(false);
    } else if converts && modes.iter().any(|mode| (mode["type"] == "AllNamespaces") != (mode["supported"] == true)) {
        let error = OP509
            .error("a conversion webhook requires that `AllNamespaces` is the only install mode")
            .at(base.span("/spec/installModes"), "OLM refuses the bundle with others")
            .help("set `supported: true` for `AllNamespaces`, and `false` for all others");
        draft.findings.push(error);
    }
}
