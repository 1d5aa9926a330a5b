//! Updates references to renamed objects, as kustomize's name reference transformer does after all others.

use super::fields::{NameReference, selects};
use super::object::{Id, Object};
use super::render::Render;
use super::yaml::{Node, Value};

/// The names of an object. A copy, since the object may itself be changed as a referrer.
struct Candidate {
    id: Id,
    is_cluster_scoped: bool,
    past: Vec<Id>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

/// Updates the references in a finished render.
pub fn names(render: &mut Render) {
    let candidates: Vec<Candidate> = render
        .objects
        .iter()
        .map(|object| {
            let id = object.id();
            Candidate {
                is_cluster_scoped: id.is_cluster_scoped(),
                id,
                // The hash suffix renames an object, too.
                past: if object.hashed { object.ids().collect() } else { object.past.clone() },
                prefixes: object.prefixes.clone(),
                suffixes: object.suffixes.clone(),
            }
        })
        .collect();
    let references = render.configuration.all_references();
    for (at, object) in render.objects.iter_mut().enumerate() {
        let referrer = &candidates[at];
        let first = object.first_id();
        let fields = references.iter().flat_map(|reference| reference.fields.iter().map(move |spec| (reference, spec)));
        let fields: Vec<_> = fields.filter(|(_, spec)| spec.selects(&first) && spec.is_in(&object.node)).collect();
        if fields.is_empty() {
            continue;
        }
        let reachable: Vec<&Candidate> = candidates.iter().filter(|other| may_refer(object, referrer, other)).collect();
        for (reference, spec) in fields {
            let role = spec.path.ends_with("roleRef/name").then(|| role_kind(&object.node)).flatten();
            let mut follow = |node: &mut Node| set(node, reference, referrer, role.as_ref(), &reachable);
            spec.visit(&mut object.node, None, &mut follow);
        }
    }
}

/// `true` if the referrer can refer to the candidate: it is in the same namespace, or a subject of a binding.
fn may_refer(referrer: &Object, candidate: &Candidate, other: &Candidate) -> bool {
    let is_subject = |subject: &Node| {
        subject.text_at(&["kind"]) == Some("ServiceAccount")
            && subject.text_at(&["namespace"]).is_some_and(|namespace| {
                namespace == other.id.namespace || other.past.iter().any(|past| past.namespace == namespace)
            })
    };
    candidate.is_cluster_scoped
        || other.is_cluster_scoped
        || other.id.effective_namespace() == candidate.id.effective_namespace()
        || candidate.id.kind == "RoleBinding" && referrer.node.items_at(&["subjects"]).iter().any(is_subject)
}

fn role_kind(binding: &Node) -> Option<(String, String)> {
    let text = |key| Some(binding.text_at(&["roleRef", key])?.to_owned());
    Some((text("apiGroup")?, text("kind")?))
}

type Role = (String, String);

fn set(node: &mut Node, reference: &NameReference, referrer: &Candidate, role: Option<&Role>, all: &[&Candidate]) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| set(item, reference, referrer, role, all)),
        Value::Text(name) => {
            if let Some(found) = find(name, reference, referrer, role, all) {
                name.clone_from(&found.id.name);
            }
        }
        Value::Map(_) => {
            let Some(name) = node.text_at(&["name"]) else { return };
            let namespace = node.text_at(&["namespace"]);
            let in_first = |other: &&&Candidate| {
                let first = other.past.first().unwrap_or(&other.id);
                namespace.is_none_or(|namespace| first.namespace == namespace)
            };
            let in_present = |other: &&&Candidate| namespace.is_none_or(|namespace| other.id.namespace == namespace);
            let mut near: Vec<&Candidate> = all.iter().filter(in_first).copied().collect();
            if near.is_empty() {
                near = all.iter().filter(in_present).copied().collect();
            }
            let Some(found) = find(name, reference, referrer, role, &near) else { return };
            let id = found.id.clone();
            if let Some(name) = node.get_mut("name") {
                name.value = Value::Text(id.name);
            }
            if !id.namespace.is_empty() {
                let span = node.get("namespace").or_else(|| node.get("name")).unwrap_or(node).span.clone();
                node.set("namespace", Node::text(id.namespace, span));
            }
        }
        _ => {}
    }
}

fn find<'a>(
    name: &str,
    reference: &NameReference,
    referrer: &Candidate,
    role: Option<&Role>,
    all: &[&'a Candidate],
) -> Option<&'a Candidate> {
    let is_kind = |other: &Candidate| {
        let of =
            |group: &str, version: &str, kind: &str| other.past.iter().any(|past| selects(group, version, kind, past));
        of(&reference.group, &reference.version, &reference.kind)
            && role.is_none_or(|(group, kind)| of(group, "", kind))
    };
    let is_near = |other: &Candidate| {
        referrer.is_cluster_scoped
            || other.is_cluster_scoped
            || other.id.kind == "ServiceAccount"
            || other.id.effective_namespace() == referrer.id.effective_namespace()
    };
    let mut found: Vec<&Candidate> = all
        .iter()
        .copied()
        .filter(|other| other.past.iter().any(|past| past.name == name) && is_kind(other) && is_near(other))
        .collect();
    if found.len() > 1 {
        found.retain(|other| is_related(referrer, other, true));
    }
    if found.len() > 1 {
        found.retain(|other| is_related(referrer, other, false));
    }
    let first = *found.first()?;
    // Ambiguous: kustomize leaves the reference unchanged.
    found.iter().all(|other| other.id.name == first.id.name).then_some(first)
}

/// `true` if both went through the same kustomizations, judging by the prefixes and suffixes that these added.
fn is_related(one: &Candidate, two: &Candidate, may_be_empty: bool) -> bool {
    let same = |one: &[String], two: &[String]| {
        may_be_empty && (one.is_empty() || two.is_empty())
            || one.is_empty() == two.is_empty() && (one.ends_with(two) || two.ends_with(one))
    };
    same(&one.prefixes, &two.prefixes) && same(&one.suffixes, &two.suffixes)
}
