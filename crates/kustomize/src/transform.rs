//! Applies the transformations of a kustomization to its objects, in kustomize's order.

use std::collections::HashMap;
use std::ops::Range;

use super::fields::{self, FieldSpec};
use super::kustomization::Kustomization;
use super::object::{CRD, Id, Object};
use super::render::{Render, Renderer};
use super::yaml::{self, Dialect, Node, Value};
use super::{patch, replace};
use crate::diagnostics::{OP434, OP437};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::names::nearest;

pub fn apply(renderer: &mut Renderer, kustomization: &Kustomization, render: &mut Render) {
    for (entry, place) in kustomization.texts("patchesStrategicMerge") {
        patch::listed(renderer, kustomization, entry, place, render);
    }
    for entry in kustomization.items("patches") {
        patch::entry(renderer, kustomization, entry, render);
    }
    if let Some(namespace) =
        kustomization.node.get("namespace").filter(|node| node.as_text().is_some_and(|t| !t.is_empty()))
    {
        set_namespace(renderer, namespace, render);
    }
    for (field, is_prefix) in [("namePrefix", true), ("nameSuffix", false)] {
        let text = kustomization.text(field);
        if !text.is_empty() {
            render.objects.iter_mut().for_each(|object| rename(object, text, is_prefix));
        }
    }
    label(kustomization, render);
    if let Some(annotations) = kustomization.node.get("commonAnnotations") {
        let places = fields::annotations();
        render.objects.iter_mut().for_each(|object| set_pairs(object, annotations, &places));
    }
    for entry in kustomization.items("patchesJson6902") {
        patch::entry(renderer, kustomization, entry, render);
    }
    for entry in kustomization.items("replicas") {
        replicas(renderer, entry, render);
    }
    for field in ["images", "imageTags"] {
        for entry in kustomization.items(field) {
            image(renderer, entry, render);
        }
    }
    for entry in kustomization.items("replacements") {
        replace::entry(renderer, kustomization, entry, render);
    }
}

fn set_namespace(renderer: &mut Renderer, namespace: &Node, render: &mut Render) {
    let specs = [fields::namespaces(), render.configuration.namespaces.clone()].concat();
    let mut ids: HashMap<Id, usize> = HashMap::new();
    for at in 0..render.objects.len() {
        let object = &mut render.objects[at];
        object.remember();
        let id = object.id();
        if !id.is_cluster_scoped() {
            let metadata = object.node.get_mut("metadata").expect("an object has a name");
            let span = metadata.get("namespace").map_or_else(|| namespace.span.clone(), |old| old.span.clone());
            metadata.set("namespace", Node { span, ..namespace.clone() });
        }
        let set = &mut |node: &mut Node| node.value = namespace.value.clone();
        if id.kind == "Namespace" && id.group.is_empty() {
            FieldSpec::new("Namespace", "metadata/name", false).visit(&mut object.node, None, set);
        }
        if matches!(id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
            && let Some(Value::List(subjects)) = object.node.get_mut("subjects").map(|subjects| &mut subjects.value)
        {
            for subject in subjects.iter_mut().filter(|subject| subject.text_at(&["name"]) == Some("default")) {
                subject.set("namespace", namespace.clone());
            }
        }
        for spec in specs.iter().filter(|spec| spec.path != "metadata/namespace" && spec.selects(&id)) {
            spec.visit(&mut object.node, Some(Value::Null), set);
        }
        let id = object.id();
        let place = object.name_node().clone();
        if let Some(other) = ids.get(&id.normal()) {
            let first = render.objects[*other].name_node().span.to_string();
            render.is_closed = false;
            renderer
                .problem(OP434, format!("{id} is in this twice, now that all are in one namespace"), &place)
                .help(format!("the other is at {first}; kustomize refuses both, so rename one"));
        }
        ids.entry(id.normal()).or_insert(at);
    }
}

fn rename(object: &mut Object, text: &str, is_prefix: bool) {
    let first = object.first_id();
    let is_fixed = first.kind == CRD
        || first.kind == "Namespace"
        || first.kind == "APIService" && first.group == "apiregistration.k8s.io";
    if is_fixed {
        return;
    }
    object.remember();
    let name = object.id().name;
    let (list, name) = if is_prefix {
        (&mut object.prefixes, format!("{text}{name}"))
    } else {
        (&mut object.suffixes, format!("{name}{text}"))
    };
    list.push(text.into());
    let metadata = object.node.get_mut("metadata").expect("an object has a name");
    metadata.get_mut("name").expect("an object has a name").value = Value::Text(name);
}

fn label(kustomization: &Kustomization, render: &mut Render) {
    let own = render.configuration.labels.clone();
    let metadata = || FieldSpec::new("", "metadata/labels", true);
    let everywhere = || [vec![metadata()], fields::template_labels(), fields::selectors(), own.clone()].concat();
    for entry in kustomization.items("labels") {
        let Some(pairs) = entry.get("pairs") else { continue };
        let is = |key: &str| entry.get(key).is_some_and(Node::is_true);
        let mut places: Vec<FieldSpec> = entry.items_at(&["fields"]).iter().filter_map(FieldSpec::read).collect();
        if is("includeSelectors") {
            places.extend(everywhere());
        } else {
            places.push(metadata());
            if is("includeTemplates") {
                places.extend(fields::template_labels());
            }
        }
        render.objects.iter_mut().for_each(|object| set_pairs(object, pairs, &places));
    }
    if let Some(pairs) = kustomization.node.get("commonLabels") {
        let places = everywhere();
        render.objects.iter_mut().for_each(|object| set_pairs(object, pairs, &places));
    }
}

fn set_pairs(object: &mut Object, pairs: &Node, places: &[FieldSpec]) {
    let id = object.id();
    for place in places.iter().filter(|place| place.selects(&id)) {
        place.visit(&mut object.node, Some(Value::map()), &mut |node| {
            for pair in pairs.entries() {
                node.set(&pair.key, pair.value.clone());
            }
        });
    }
}

fn replicas(renderer: &mut Renderer, entry: &Node, render: &mut Render) {
    let Some(name) = entry.get("name") else { return };
    let Some(text) = name.as_text() else { return };
    let scaled = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    let scales = |object: &&Object| scaled.contains(&object.id().kind.as_str());
    if render.objects.iter().filter(scales).any(|object| object.ids().any(|id| id.name == text)) || !render.is_closed {
        return;
    }
    render.is_closed = false;
    let names: Vec<String> = render.objects.iter().filter(scales).map(|object| object.first_id().name).collect();
    let near = nearest(text, names.iter().map(String::as_str)).map(str::to_owned);
    renderer
        .problem(OP437, format!("`replicas` names `{text}`, but there is no such Deployment or StatefulSet"), name)
        .help(meant(near.as_deref()));
}

fn image(renderer: &mut Renderer, entry: &Node, render: &mut Render) {
    let Some(name) = entry.get("name") else { return };
    let Some(text) = name.as_text() else { return };
    let mut found = Vec::new();
    let mut is_used = false;
    // kustomize skips CRDs, because a schema may have a field `containers`.
    for object in render.objects.iter_mut().filter(|object| !object.is_crd()) {
        images(&mut object.node, &mut |image| {
            let Some(reference) = image.as_text() else { return };
            let bare = bare_image(reference).to_owned();
            if bare == text {
                is_used = true;
                if let Some(new) = entry.text_at(&["newName"]) {
                    image.value = Value::Text(reference.replacen(&bare, new, 1));
                }
            }
            found.push(bare);
        });
    }
    if is_used || !render.is_closed {
        return;
    }
    let near = nearest(text, found.iter().map(String::as_str));
    let message = format!("`images` names `{text}`, but no container has this image");
    let problem = OP437.warning(message).at(name.span.clone(), "");
    renderer.problems.push(problem.help(meant(near)));
}

fn meant(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "take the entry out, or name what is here".into(),
    }
}

/// Calls `change` with the image of every container, at any depth.
fn images(node: &mut Node, change: &mut impl FnMut(&mut Node)) {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries.iter_mut() {
                if matches!(entry.key.as_str(), "containers" | "initContainers")
                    && let Value::List(containers) = &mut entry.value.value
                {
                    containers.iter_mut().filter_map(|container| container.get_mut("image")).for_each(&mut *change);
                } else {
                    images(&mut entry.value, change);
                }
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| images(item, change)),
        _ => {}
    }
}

/// An image in a rendered text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The range in the text.
    pub range: Range<usize>,
    /// The image as written.
    pub reference: String,
    /// The image without tag and digest.
    pub name: String,
}

/// The images that `images` in a kustomization can change.
///
/// # Errors
///
/// If the text is not YAML.
pub fn images_in(rendered: &str) -> Result<Vec<Image>, Box<Diagnostic>> {
    let mut found = Vec::new();
    for mut document in yaml::documents(&SourceFile::new("", rendered), Dialect::Kustomize)? {
        if document.text_at(&["kind"]) == Some(CRD) {
            continue;
        }
        images(&mut document, &mut |image| {
            let Some(reference) = image.as_text() else { return };
            let (range, name) = (image.span.range.clone(), bare_image(reference).to_owned());
            found.push(Image { range, reference: reference.to_owned(), name });
        });
    }
    Ok(found)
}

/// The image without tag and digest.
fn bare_image(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}

/// A similar name of an object of the same kind, for messages.
pub(super) fn near_name(id: &Id, render: &Render) -> Option<String> {
    let names: Vec<String> = render
        .objects
        .iter()
        .flat_map(Object::ids)
        .filter(|other| other.kind == id.kind && other.name != id.name)
        .map(|other| other.name)
        .collect();
    nearest(&id.name, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Warns about an entry that selects nothing, which kustomize ignores.
pub(super) fn selects_nothing(renderer: &mut Renderer, what: &str, span: Span) {
    let message = format!("this {what} selects nothing here");
    let problem = OP437.warning(message).at(span, "");
    renderer.problems.push(problem.help("kustomize passes over it silently; check kind, name, group and namespace"));
}
