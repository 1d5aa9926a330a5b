//! The keys that `watches.yaml` has for Helm and Ansible operators alike. Operators of operator-sdk ignore unknown keys; here they are
//! errors.

use std::sync::Arc;

use opctl_kustomize::yaml::{self, Dialect, Entry, Node, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};

/// The group, version and kind of a watch.
#[derive(Clone, Debug)]
pub struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The entry of the watch.
    pub span: Span,
    pub group_span: Span,
}

impl Gvk {
    pub fn at(node: &Node) -> Self {
        let (group, version, kind) = Default::default();
        Self { group, version, kind, span: node.span.clone(), group_span: node.span.clone() }
    }
}

/// The entries of `watches.yaml`.
pub fn entries(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Node> {
    // operator-sdk reads it like kubectl.
    let documents = match yaml::documents(file, Dialect::Kubectl) {
        Ok(documents) => documents,
        Err(error) => {
            found.push(*error);
            return Vec::new();
        }
    };
    let mut reader = Reader { found };
    match &documents[..] {
        [Node { value: Value::List(entries), .. }] if !entries.is_empty() => return entries.to_vec(),
        [node, ..] => {
            reader.wrong(&node.span, "this is no list of watches", "begin each watch with `- group:`");
        }
        [] => {
            reader.wrong(
                &Span { file: file.clone(), range: 0..0 },
                "there is no watch",
                "name the project that has one",
            );
        }
    }
    Vec::new()
}

/// Reads values, and collects diagnostics about them.
pub struct Reader<'a> {
    pub found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    pub fn reject_duplicates<'a>(&mut self, watched: impl Iterator<Item = &'a Gvk>) {
        let mut known: Vec<&Gvk> = Vec::new();
        for gvk in watched {
            if known.iter().any(|other| other.group == gvk.group && other.kind == gvk.kind) {
                let message = format!("`{}` of `{}` is watched twice", gvk.kind, gvk.group);
                let help = "one controller serves all versions of a kind: keep the storage version";
                self.wrong(&gvk.span, &message, help);
            }
            known.push(gvk);
        }
    }

    pub fn wrong(&mut self, at: &Span, message: &str, help: &str) {
        self.found.push(Diagnostic::error("OP482", message).at(at.clone(), "").help(help));
    }

    pub fn dropped(&mut self, at: &Span, message: &str, help: &str) {
        self.found.push(Diagnostic::warning("OP483", message).at(at.clone(), "").help(help));
    }

    /// Sets the group, version or kind.
    pub fn name(&mut self, gvk: &mut Gvk, key: &str, value: &Node) {
        match key {
            "group" => (gvk.group, gvk.group_span) = (self.text(value), value.span.clone()),
            "version" => gvk.version = self.text(value),
            _ => gvk.kind = self.text(value),
        }
    }

    /// Returns true if the watch has all required texts, and reports those that are missing.
    pub fn has_names<const N: usize>(&mut self, gvk: &Gvk, others: [(&str, &String); N]) -> bool {
        let names = [("group", &gvk.group), ("version", &gvk.version), ("kind", &gvk.kind)];
        let missing = names.into_iter().chain(others).filter(|(_, text)| text.is_empty());
        let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
        if !missing.is_empty() {
            let message = format!("this watch has no `{}`", missing.join("` and no `"));
            self.wrong(&gvk.span, &message, "add it, as a text");
        }
        missing.is_empty()
    }

    pub fn text(&mut self, node: &Node) -> String {
        node.as_text().unwrap_or_default().to_owned()
    }

    /// A Go duration.
    pub fn period(&mut self, node: &Node) -> Option<u64> {
        let period = node.as_text().and_then(milliseconds);
        if period.is_none() {
            self.wrong(&node.span, "this is no duration", "write it as `90s`, `1h30m` or `500ms`");
        }
        // Without one, it is that of all controllers.
        period.filter(|period| *period > 0)
    }

    /// A label selector, as one line.
    pub fn selector(&mut self, node: &Node) -> Option<String> {
        let mut parts = Vec::new();
        for Entry { key, key_span, value } in node.entries() {
            match (key.as_str(), &value.value) {
                (_, Value::Null) => {}
                ("matchLabels", Value::Map(labels)) => {
                    for label in labels.iter() {
                        parts.push(format!("{}={}", label.key, self.text(&label.value)));
                    }
                }
                ("matchExpressions", Value::List(items)) => {
                    parts.extend(items.iter().filter_map(|item| self.expression(item)));
                }
                _ => self.wrong(key_span, "this is no label selector", "it has `matchLabels` and `matchExpressions`"),
            }
        }
        (!parts.is_empty()).then(|| parts.join(","))
    }

    fn expression(&mut self, node: &Node) -> Option<String> {
        let key = node.text_at(&["key"]).unwrap_or_default();
        let values: Vec<&str> = node.items_at(&["values"]).iter().filter_map(Node::as_text).collect();
        let is_known = node.entries().iter().all(|entry| ["key", "operator", "values"].contains(&entry.key.as_str()));
        let values = (values.len() == node.items_at(&["values"]).len()).then(|| values.join(","));
        match (node.text_at(&["operator"]), values) {
            (Some("Exists"), Some(_)) if is_known && !key.is_empty() => Some(key.to_owned()),
            (Some("DoesNotExist"), Some(_)) if is_known && !key.is_empty() => Some(format!("!{key}")),
            (Some(operator @ ("In" | "NotIn")), Some(values)) if is_known && !key.is_empty() && !values.is_empty() => {
                Some(format!("{key} {} ({values})", operator.to_lowercase()))
            }
            _ => {
                let help = "it has a `key`, an `operator` (In, NotIn, Exists or DoesNotExist) and `values`";
                self.wrong(&node.span, "this is no requirement of a label selector", help);
                None
            }
        }
    }
}

/// `1h30m`, as Go's `ParseDuration` reads it, without a sign.
fn milliseconds(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1e-6), ("us", 1e-3), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3_600e3)];
    if text == "0" {
        return Some(0);
    }
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?);
        let (unit, next) = after.split_at(after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len()));
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum += number.parse::<f64>().ok()? * factor;
        rest = next;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is rounded, and has no sign")]
    (!text.is_empty()).then_some(sum.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for (text, expected) in [
            ("1m", Some(60_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1500)),
            ("250ms", Some(250)),
            ("0", Some(0)),
            ("0s", Some(0)),
            ("", None),
            ("5", None),
            ("1d", None),
            ("-1s", None),
            ("s", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
