//! The keys of `watches.yaml` that Helm and Ansible operators share. operator-sdk ignores unknown keys; here they are
//! errors.

use std::sync::Arc;

use super::diagnostics::{OP482, OP483};
use opctl_kustomize::yaml::{self, Dialect, Entry, Node, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::builtin::Builtin;
use opctl_model::selector::{LabelSelector, Requirement};

/// The group, version and kind of a watch.
#[derive(Clone, Debug)]
pub struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The watch has `group: ""`.
    pub is_core: bool,
    /// The entry of the watch.
    pub span: Span,
    pub group_span: Span,
}

impl Gvk {
    /// The kind, if it is one of Kubernetes.
    pub fn builtin(&self) -> Option<&'static Builtin> {
        Builtin::find(if self.is_core { "core" } else { &self.group }, &self.version, &self.kind)
    }

    pub fn at(node: &Node) -> Self {
        let (group, version, kind) = Default::default();
        Self { group, version, kind, is_core: false, span: node.span.clone(), group_span: node.span.clone() }
    }
}

/// Parses each entry of `watches.yaml` with `watch`. Adds errors to `found`, and warnings about settings without a
/// counterpart.
pub fn read<W>(
    file: &Arc<SourceFile>,
    found: &mut Vec<Diagnostic>,
    watch: impl Fn(&mut Reader, &Node) -> Option<W>,
    gvk: impl Fn(&W) -> &Gvk,
) -> Vec<W> {
    let entries = entries(file, found);
    let mut reader = Reader { found };
    let watches: Vec<W> = entries.iter().filter_map(|entry| watch(&mut reader, entry)).collect();
    reader.reject_duplicates(watches.iter().map(gvk));
    watches
}

/// The entries of `watches.yaml`.
fn entries(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Node> {
    // operator-sdk and kubectl parse YAML in the same way.
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
            reader.wrong(&node.span, "expected a list of watches", "begin each watch with `- group:`");
        }
        [] => {
            reader.wrong(
                &Span { file: file.clone(), range: 0..0 },
                "no watches found",
                "specify the folder of a project with watches",
            );
        }
    }
    Vec::new()
}

/// Reads values and collects diagnostics.
pub struct Reader<'a> {
    pub found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn reject_duplicates<'a>(&mut self, watched: impl Iterator<Item = &'a Gvk>) {
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
        self.found.push(OP482.error(message).at(at.clone(), "").help(help));
    }

    pub fn dropped(&mut self, at: &Span, message: &str, help: &str) {
        self.found.push(OP483.warning(message).at(at.clone(), "").help(help));
    }

    /// Sets the group, version or kind of a watch.
    pub fn name(&mut self, gvk: &mut Gvk, key: &str, value: &Node) {
        match key {
            "group" => {
                (gvk.group, gvk.group_span) = (self.text(value), value.span.clone());
                gvk.is_core = value.as_text() == Some("");
            }
            "version" => gvk.version = self.text(value),
            _ => gvk.kind = self.text(value),
        }
    }

    /// `true` if the watch has all required texts. Missing ones are reported.
    pub fn has_names<const N: usize>(&mut self, gvk: &Gvk, others: [(&str, &String); N]) -> bool {
        let names = [("group", &gvk.group), ("version", &gvk.version), ("kind", &gvk.kind)];
        let missing = names.into_iter().chain(others);
        let missing = missing.filter(|(name, text)| text.is_empty() && !(gvk.is_core && *name == "group"));
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

    /// Parses a Go duration, to milliseconds.
    pub fn period(&mut self, node: &Node) -> Option<u64> {
        let period = node.as_text().and_then(milliseconds);
        if period.is_none() {
            self.wrong(&node.span, "invalid duration", "write it as `90s`, `1h30m` or `500ms`");
        }
        // Zero means the period of all controllers.
        period.filter(|period| *period > 0)
    }

    /// A label selector in the syntax of `kubectl --selector`.
    pub fn selector(&mut self, node: &Node) -> Option<String> {
        let mut requirements = Vec::new();
        for Entry { key, key_span, value } in node.entries() {
            match (key.as_str(), &value.value) {
                (_, Value::Null) => {}
                ("matchLabels", Value::Map(labels)) => {
                    requirements
                        .extend(labels.iter().map(|label| Requirement::equals(&label.key, &self.text(&label.value))));
                }
                ("matchExpressions", Value::List(items)) => {
                    requirements.extend(items.iter().filter_map(|item| self.expression(item)));
                }
                _ => self.wrong(
                    key_span,
                    "invalid label selector",
                    "the fields of a label selector are `matchLabels` and `matchExpressions`",
                ),
            }
        }
        (!requirements.is_empty()).then(|| LabelSelector(requirements).to_string())
    }

    fn expression(&mut self, node: &Node) -> Option<Requirement> {
        let is_known = node.entries().iter().all(|entry| ["key", "operator", "values"].contains(&entry.key.as_str()));
        let values = node.items_at(&["values"]).iter().map(|value| value.as_text().map(str::to_owned));
        let values = values.collect::<Option<Vec<_>>>().filter(|_| is_known);
        let text = |key: &str| node.text_at(&[key]).unwrap_or_default();
        let requirement = values.and_then(|values| Requirement::new(text("key"), text("operator"), values));
        if requirement.is_none() {
            let help = "it has a `key`, an `operator` (In, NotIn, Exists or DoesNotExist) and `values`";
            self.wrong(&node.span, "invalid requirement of a label selector", help);
        }
        requirement
    }
}

/// Converts a non-negative Go duration to milliseconds, rounded.
fn milliseconds(text: &str) -> Option<u64> {
    let nanoseconds = u64::try_from(opctl_cel::parse_duration(text)?).ok()?;
    Some((nanoseconds + 500_000) / 1_000_000)
}

/// Replaces `${NAME}` and `$NAME` by the result of `value`; `None` if the text has neither.
pub fn expanded(text: &str, mut value: impl FnMut(&str) -> String) -> Option<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut expanded, mut rest, mut has_any) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once('$') {
        expanded += before;
        let (name, next) = match after.strip_prefix('{') {
            Some(after) => after.split_once('}').unwrap_or(("", after)),
            None => after.split_at(after.find(|letter| !is_name(letter)).unwrap_or(after.len())),
        };
        if !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
            expanded += &value(name);
            (rest, has_any) = (next, true);
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    has_any.then(|| expanded + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_to_milliseconds() {
        for (text, expected) in
            [("1h30m", Some(5_400_000)), ("1500us", Some(2)), ("0", Some(0)), ("5", None), ("-1s", None)]
        {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
