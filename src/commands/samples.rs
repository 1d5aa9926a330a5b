//! The objects of custom kinds under `config/`, held against their kinds: `apiserver` says what is wrong with a value,
//! `config` knows where the value stands.

use crate::apiserver::{ObjectFinding, ObjectStep, check_object};
use crate::config::yaml::{Node, Value};
use crate::diagnostic::{Diagnostic, Span};
use crate::emit::CustomResourceDefinition;

/// What an API server says to the samples, and to all else that is of these kinds, beside what is found already. Kinds that
/// the source does not tell are taken from the CRDs among the objects.
pub fn check(objects: &[Node], mut crds: Vec<CustomResourceDefinition>, found: &mut Vec<Diagnostic>) {
    for object in objects.iter().filter(|object| object.text_at(&["kind"]) == Some("CustomResourceDefinition")) {
        if let Ok(crd) = serde_json::from_value::<CustomResourceDefinition>(object.json())
            && !crds.iter().any(|known| kind_of(known) == kind_of(&crd))
        {
            crds.push(crd);
        }
    }
    // A version that there is not is told as the name that it is.
    let is_told = |one: &Diagnostic, found: &[Diagnostic]| {
        one.code == "OP450" && found.iter().any(|other| other.code == "OP447" && other.place == one.place)
    };
    for object in objects {
        let group = object.text_at(&["apiVersion"]).and_then(|version| version.split_once('/')).map(|(group, _)| group);
        let kind = (group.unwrap_or_default(), object.text_at(&["kind"]).unwrap_or_default());
        if let Some(crd) = crds.iter().find(|crd| kind_of(crd) == kind) {
            let said = check_object(crd, &object.json()).into_iter().map(|finding| told(finding, object));
            let said: Vec<Diagnostic> = said.filter(|one| !is_told(one, found)).collect();
            found.extend(said);
        }
    }
}

fn kind_of(crd: &CustomResourceDefinition) -> (&str, &str) {
    (&crd.spec.group, &crd.spec.names.kind)
}

fn told(ObjectFinding { severity, code, message, path, help }: ObjectFinding, object: &Node) -> Diagnostic {
    // What is wrong with a field that there should not be is its name.
    let span = place(object, &path, code == "OP451");
    Diagnostic { severity, code, message, place: Some((span, String::new())), help }
}

/// Where a value stands, or what is nearest above it; `of_key`: where its name does.
fn place(object: &Node, path: &[ObjectStep], of_key: bool) -> Span {
    let mut node = object;
    let mut span = &object.span;
    for step in path {
        let inside = match step {
            ObjectStep::Key(key) => node.entries().iter().find(|entry| entry.key == *key).map(|entry| {
                let is_shown = !matches!(entry.value.value, Value::Map(_) | Value::List(_) | Value::Null);
                (&entry.value, if is_shown && !of_key { &entry.value.span } else { &entry.key_span })
            }),
            ObjectStep::Index(index) => node.items().get(*index).map(|item| (item, &item.span)),
        };
        let Some((value, at)) = inside else { break };
        (node, span) = (value, at);
    }
    span.clone()
}
