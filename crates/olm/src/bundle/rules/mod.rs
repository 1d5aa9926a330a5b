//! The rules: bundle → findings. Each file is a topic; `../table.rs` lists the rules.

pub mod community;
pub mod crds;
pub mod csv;
pub mod examples;
pub mod extra;
pub mod format;
pub mod hub;
pub mod manifests;
pub mod multiarch;
pub mod objects;
pub mod olmv1;
pub mod practices;
pub mod removed;

use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::Span;

/// The string in a field; empty if the field is missing or has another type.
fn text<'a>(node: &'a Node, key: &str) -> &'a str {
    node.text_at(&[key]).unwrap_or_default()
}

/// The position of a field, or of its nearest parent.
fn place(node: &Node, path: &[&str]) -> Span {
    let mut span = head(node);
    let mut at = node;
    for key in path {
        let Some(entry) = at.entries().iter().find(|entry| entry.key == *key) else { break };
        at = &entry.value;
        let is_shown = at.entries().is_empty() && at.items().is_empty() && !at.is_null();
        span = if is_shown && is_one_line(&at.span) { at.span.clone() } else { entry.key_span.clone() };
    }
    span
}

/// The position of a mapping: its first key, since the whole mapping would fill the screen.
fn head(node: &Node) -> Span {
    node.entries().first().map_or_else(|| node.span.clone(), |entry| entry.key_span.clone())
}

fn is_one_line(span: &Span) -> bool {
    !span.file.text.get(span.range.clone()).unwrap_or_default().trim_end().contains('\n')
}

fn texts<'a>(node: &'a Node, key: &str) -> impl Iterator<Item = &'a str> {
    node.items_at(&[key]).iter().filter_map(Node::as_text)
}
