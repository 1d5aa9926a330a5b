//! Patches of a kustomization: strategic merges and JSON patches, in files or inline.

use super::kustomization::Kustomization;
use super::object::Object;
use super::render::{Render, Renderer};
use super::select::Selector;
use super::transform::{near_name, selects_nothing};
use super::yaml::{self, Node, Value};
use super::{json_patch, merge};
use crate::diagnostics::{OP432, OP437, OP438};
use opctl_model::project::builtin;

/// Applies an entry of `patches` or `patchesJson6902`.
pub fn entry(renderer: &mut Renderer, kustomization: &Kustomization, entry: &Node, render: &mut Render) {
    let path = entry.get("path").filter(|node| node.as_text().is_some_and(|text| !text.is_empty()));
    let inline = entry.get("patch").filter(|node| node.as_text().is_some_and(|text| !text.trim().is_empty()));
    let documents = match (path, inline) {
        (Some(path), None) => {
            let text = path.as_text().unwrap_or_default();
            let file = renderer.file(kustomization, text, path);
            file.and_then(|file| renderer.documents(&file)).map(|documents| documents.to_vec())
        }
        (None, Some(inline)) => inside(renderer, inline),
        (Some(_), Some(both)) => {
            renderer
                .problem(OP432, "a patch is given by `path` or by `patch`, not by both".into(), both)
                .help("take one of them out");
            None
        }
        (None, None) => {
            renderer
                .problem(OP432, "a patch needs a `path` or a `patch`".into(), entry)
                .help("name a file, or write the patch here");
            None
        }
    };
    let Some(documents) = documents else {
        render.is_closed = false;
        return;
    };
    let target = entry.get("target");
    if let [Node { value: Value::List(operations), span }] = documents.as_slice() {
        let Some(target) = target else {
            render.is_closed = false;
            let place = Node { value: Value::Null, span: span.clone() };
            renderer
                .problem(OP438, "a JSON patch needs a `target`".into(), &place)
                .help("add `target:` with `kind` and `name` to the entry");
            return;
        };
        json(renderer, operations, target, render);
        return;
    }
    let options = |key: &str| entry.at(&["options", key]).is_some_and(Node::is_true);
    let allowed = Allowed { name: options("allowNameChange"), kind: options("allowKindChange") };
    match (target, documents.as_slice()) {
        (Some(target), [patch]) => {
            let Some(selector) = selector(renderer, target, render) else { return };
            if render.is_closed && !render.objects.iter().any(|object| selector.selects(object)) {
                selects_nothing(renderer, "patch", place_of(target));
            }
            apply(render, patch, allowed, |object| selector.selects(object));
        }
        _ => documents.iter().for_each(|patch| strategic(renderer, patch, allowed, render)),
    }
}

/// Applies an entry of `patchesStrategicMerge`: a file, or an inline patch.
pub fn listed(renderer: &mut Renderer, kustomization: &Kustomization, entry: &str, place: &Node, render: &mut Render) {
    let documents = if entry.contains('\n') {
        inside(renderer, place)
    } else {
        let file = renderer.file(kustomization, entry, place);
        file.and_then(|file| renderer.documents(&file)).map(|documents| documents.to_vec())
    };
    let Some(documents) = documents else {
        render.is_closed = false;
        return;
    };
    documents.iter().for_each(|patch| strategic(renderer, patch, Allowed::default(), render));
}

/// The parts of an object's identity that a strategic merge may change.
#[derive(Clone, Copy, Default)]
struct Allowed {
    name: bool,
    kind: bool,
}

fn inside(renderer: &mut Renderer, inline: &Node) -> Option<Vec<Node>> {
    match yaml::documents_in(inline.as_text().unwrap_or_default(), &inline.span) {
        Ok(documents) => Some(documents),
        Err(problem) => {
            renderer.problems.push(*problem);
            None
        }
    }
}

fn selector(renderer: &mut Renderer, target: &Node, render: &mut Render) -> Option<Selector> {
    let known = ["group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector"];
    if let Some(entry) = target.entries().iter().find(|entry| !known.contains(&entry.key.as_str())) {
        let place = Node { value: Value::Null, span: entry.key_span.clone() };
        render.is_closed = false;
        renderer
            .problem(OP432, format!("a `target` has no field `{}`", entry.key), &place)
            .help(format!("it has `{}`", known.join("`, `")));
        return None;
    }
    let selector = Selector::read(target);
    render.is_closed &= selector.is_some();
    selector
}

fn place_of(target: &Node) -> opctl_model::diagnostic::Span {
    target.get("name").or_else(|| target.get("kind")).unwrap_or(target).span.clone()
}

/// Applies a patch that identifies its object by kind and name.
fn strategic(renderer: &mut Renderer, patch: &Node, allowed: Allowed, render: &mut Render) {
    if !renderer.is_object(patch) {
        render.is_closed = false;
        return;
    }
    let id = Object::new(patch.clone()).id();
    let fits = |object: &Object| object.ids().any(|other| other.is_same(&id));
    if render.objects.iter().any(fits) {
        apply(render, patch, allowed, fits);
        return;
    }
    let was_closed = std::mem::replace(&mut render.is_closed, false);
    if !was_closed {
        return;
    }
    let place = patch.at(&["metadata", "name"]).unwrap_or(patch);
    let near = near_name(&id, render);
    let same_name =
        render.objects.iter().flat_map(Object::ids).find(|other| other.name == id.name && other.kind == id.kind);
    renderer.problem(OP437, format!("no object matches the target of this patch: {id}"), place).help(
        match (same_name, near) {
            (Some(other), _) if other.effective_namespace() != id.effective_namespace() => {
                format!("it must name the namespace of the object as its file does: `{}`", other.effective_namespace())
            }
            (Some(other), _) => format!("the object's `apiVersion` is of `{}/{}`", other.group, other.version),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => {
                "name an object that the resources of this kustomization make, or take the patch out".into()
            }
        },
    );
}

fn apply(render: &mut Render, patch: &Node, allowed: Allowed, fits: impl Fn(&Object) -> bool) {
    let mut kept = Vec::new();
    for mut object in std::mem::take(&mut render.objects) {
        if !fits(&object) {
            kept.push(object);
            continue;
        }
        if allowed.name || allowed.kind {
            object.remember();
        }
        let id = object.id();
        let is_builtin = builtin::groups().any(|group| group == id.group || group == "core" && id.group.is_empty());
        let old = object.node.clone();
        let Some(mut node) = merge::merge(object.node, patch, is_builtin) else { continue };
        let keep = |node: &mut Node, path: &[&str]| {
            let (holder, key) = match path {
                [key] => (Some(node), *key),
                [above, key] => (node.get_mut(above), *key),
                _ => return,
            };
            let Some(holder) = holder else { return };
            match old.at(path) {
                Some(value) => holder.set(key, value.clone()),
                None => drop(holder.remove(key)),
            }
        };
        if node.get("metadata").is_none_or(Node::is_null) {
            node.set("metadata", old.get("metadata").expect("an object has a name").clone());
        }
        if !allowed.kind {
            keep(&mut node, &["kind"]);
            keep(&mut node, &["apiVersion"]);
        }
        if !allowed.name || node.text_at(&["metadata", "name"]).is_none() {
            keep(&mut node, &["metadata", "name"]);
        }
        keep(&mut node, &["metadata", "namespace"]);
        object.node = node;
        kept.push(object);
    }
    render.objects = kept;
}

fn json(renderer: &mut Renderer, operations: &[Node], target: &Node, render: &mut Render) {
    let Some(selector) = selector(renderer, target, render) else { return };
    let mut is_used = false;
    let mut problem = None;
    let mut doubts = Vec::new();
    for object in render.objects.iter_mut().filter(|object| selector.selects(object)) {
        is_used = true;
        object.remember();
        let name = object.id().to_string();
        let old = object.node.clone();
        if let Err((span, message)) = json_patch::apply(&mut object.node, operations, &mut doubts) {
            problem = Some(OP438.error(format!("this patch does not fit {name}: {message}")).at(span, ""));
        }
        // A patch may remove the fields that identify an object.
        if object.node.text_at(&["metadata", "name"]).is_none() || object.node.text_at(&["kind"]).is_none() {
            object.node = old;
            render.is_closed = false;
        }
    }
    doubts.dedup();
    for (span, message) in doubts {
        let doubt = OP438.warning(message).at(span, "");
        renderer.problems.push(doubt.help("to add a field, write `add`; otherwise, correct the path"));
    }
    if let Some(problem) = problem {
        render.is_closed = false;
        renderer.problems.push(problem.help("kustomize applies the operations in order and stops at this one"));
    }
    if !is_used && render.is_closed {
        selects_nothing(renderer, "patch", place_of(target));
    }
}
