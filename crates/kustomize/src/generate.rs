//! `configMapGenerator` and `secretGenerator`: the objects, their keys and source files. Names lack the hash suffix,
//! because nobody writes it in a reference.

use super::kustomization::Kustomization;
use super::object::Object;
use super::render::{Render, Renderer};
use super::yaml::{Node, Value};
use crate::diagnostics::{OP432, OP437};

pub fn maps(renderer: &mut Renderer, kustomization: &Kustomization, render: &mut Render) {
    for (field, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
        for entry in kustomization.items(field) {
            map(renderer, kustomization, kind, entry, render);
        }
    }
}

fn map(renderer: &mut Renderer, kustomization: &Kustomization, kind: &str, entry: &Node, render: &mut Render) {
    let Some(name) = entry.get("name").filter(|name| name.as_text().is_some_and(|name| !name.is_empty())) else {
        render.is_closed = false;
        renderer.problem(OP432, "a generator needs a `name`".into(), entry).help("it is the name of what is made");
        return;
    };
    let keys = keys(renderer, kustomization, entry, render);
    let text = |text: &str| Node::text(text, name.span.clone());
    let empty = || Node { value: Value::map(), span: entry.span.clone() };
    let mut metadata = empty();
    metadata.set("name", name.clone());
    if let Some(namespace) = entry.get("namespace") {
        metadata.set("namespace", namespace.clone());
    }
    let mut data = empty();
    for key in keys {
        let Some(said) = key.as_text().map(str::to_owned) else { continue };
        data.set(&said, Node { value: Value::Text(String::new()), ..key });
    }
    let mut node = empty();
    node.set("apiVersion", text("v1"));
    node.set("kind", text(kind));
    node.set("metadata", metadata);
    node.set("data", data);
    let mut object = Object::new(node);
    object.hashed = ![entry.at(&["options"]), kustomization.node.get("generatorOptions")]
        .into_iter()
        .flatten()
        .any(|options| options.get("disableNameSuffixHash").is_some_and(Node::is_true));
    let behavior = entry.text_at(&["behavior"]).unwrap_or_default();
    if !matches!(behavior, "merge" | "replace") {
        renderer.add(object, render);
        return;
    }
    let id = object.id();
    let Some(old) = render.objects.iter_mut().find(|old| old.ids().any(|other| other.is_same(&id))) else {
        if render.is_closed {
            render.is_closed = false;
            renderer
                .problem(OP437, format!("there is no {id} to {behavior} with"), name)
                .help("take `behavior` out, so that it is created");
        }
        return;
    };
    if behavior == "merge" {
        for entry in old.node.at(&["data"]).map_or(&[][..], Node::entries).to_vec() {
            let data = object.node.get_mut("data").expect("it was set above");
            if data.get(&entry.key).is_none() {
                data.set(&entry.key, entry.value);
            }
        }
    }
    let namespace = old.node.at(&["metadata", "namespace"]).cloned();
    let metadata = object.node.get_mut("metadata").expect("it was set above");
    metadata.set("name", old.name_node().clone());
    if let Some(namespace) = namespace {
        metadata.set("namespace", namespace);
    }
    old.node = object.node;
    old.hashed = object.hashed;
}

/// The keys of the data, with the positions of their entries.
fn keys(renderer: &mut Renderer, kustomization: &Kustomization, entry: &Node, render: &mut Render) -> Vec<Node> {
    let mut keys = Vec::new();
    for literal in entry.items_at(&["literals"]) {
        let key = literal.as_text().and_then(|text| text.split_once('='));
        keys.extend(key.map(|(key, _)| Node::text(key, literal.span.clone())));
    }
    for file in entry.items_at(&["files"]) {
        let Some(text) = file.as_text() else { continue };
        let (key, path) = match text.split_once('=') {
            Some((key, path)) => (key, path),
            None => (text.rsplit('/').next().unwrap_or(text), text),
        };
        render.is_closed &= renderer.file(kustomization, path, file).is_some();
        keys.push(Node::text(key, file.span.clone()));
    }
    for file in entry.items_at(&["envs"]).iter().chain(entry.get("env")) {
        let path = file.as_text().and_then(|path| renderer.file(kustomization, path, file));
        render.is_closed &= path.is_some();
        let lines = path.and_then(|path| renderer.text(&path)).unwrap_or_default();
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        keys.extend(lines.map(|line| Node::text(line.split('=').next().unwrap_or(line), file.span.clone())));
    }
    keys
}
