//! Checks the custom objects in `config/` against their CRDs: opctl-schema finds problems with a value, and
//! opctl-kustomize provides its position.

use opctl_kustomize::diagnostics::OP447;
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_schema::apiserver::diagnostics::{OP450, OP451};
use opctl_schema::apiserver::{ObjectFinding, ObjectStep, check_object};
use opctl_source::emit::CustomResourceDefinition;

/// Adds everything that an API server would reject in the objects of these kinds, unless `found` already contains it.
/// CRDs of other kinds are taken from the objects.
pub fn check(objects: &[Node], mut crds: Vec<CustomResourceDefinition>, found: &mut Vec<Diagnostic>) {
    for object in objects.iter().filter(|object| object.text_at(&["kind"]) == Some("CustomResourceDefinition")) {
        if let Ok(crd) = serde_json::from_value::<CustomResourceDefinition>(object.json())
            && !crds.iter().any(|known| kind_of(known) == kind_of(&crd))
        {
            crds.push(crd);
        }
    }
    // An unknown version is already reported as an unknown name.
    let is_reported = |one: &Diagnostic, found: &[Diagnostic]| {
        one.code == OP450 && found.iter().any(|other| other.code == OP447 && other.span == one.span)
    };
    for object in objects {
        let group = object.text_at(&["apiVersion"]).and_then(|version| version.split_once('/')).map(|(group, _)| group);
        let kind = (group.unwrap_or_default(), object.text_at(&["kind"]).unwrap_or_default());
        if let Some(crd) = crds.iter().find(|crd| kind_of(crd) == kind) {
            let findings = check_object(crd, &object.json()).into_iter().map(|finding| to_diagnostic(finding, object));
            let findings: Vec<Diagnostic> = findings.filter(|one| !is_reported(one, found)).collect();
            found.extend(findings);
        }
    }
}

fn kind_of(crd: &CustomResourceDefinition) -> (&str, &str) {
    (&crd.spec.group, &crd.spec.names.kind)
}

fn to_diagnostic(ObjectFinding { severity, code, message, path, help }: ObjectFinding, object: &Node) -> Diagnostic {
    // A field that must not exist is reported at its key.
    let span = span(object, &path, code == OP451);
    Diagnostic { severity, code, message, span: Some((span, String::new())), help }
}

/// The position of a value, or of its nearest existing ancestor. `of_key` selects the position of the key.
fn span(object: &Node, path: &[ObjectStep], of_key: bool) -> Span {
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
