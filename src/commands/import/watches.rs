//! `watches.yaml` of operator-sdk's Helm operators → [`Watch`], and what it has in common with that of Ansible operators. Their operators
//! ignore keys that they do not know; here they are errors.

use std::sync::Arc;

use crate::commands::diagnostics::{OP482, OP483};
use opctl_kustomize::yaml::{self, Dialect, Entry, Node, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::selector::{LabelSelector, Requirement};

/// The kind of a watch.
#[derive(Clone, Debug)]
pub struct Subject {
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The whole entry, and a part of it.
    pub span: Span,
    pub group_span: Span,
}

impl Subject {
    pub fn at(node: &Node) -> Self {
        let (group, version, kind) = Default::default();
        Self { group, version, kind, span: node.span.clone(), group_span: node.span.clone() }
    }
}

/// A kind, and the chart that is installed for each of its objects.
#[derive(Clone, Debug)]
pub struct Watch {
    pub subject: Subject,
    /// From the project's folder.
    pub chart: String,
    pub chart_span: Span,
    /// As in `helm --set`.
    pub overrides: Vec<(String, String)>,
    /// As in `kubectl --selector`.
    pub selector: Option<String>,
    /// In milliseconds.
    pub period: Option<u64>,
}

/// The entries of the file; what is wrong is added to `found`, and so are warnings of what has no counterpart.
pub fn read(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Watch> {
    let entries = entries(file, found);
    let mut reader = Reader { found };
    let watches: Vec<Watch> = entries.iter().filter_map(|entry| reader.watch(entry)).collect();
    reader.refuse_twice(watches.iter().map(|watch| &watch.subject));
    watches
}

/// The items of the list that the file is.
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

pub struct Reader<'a> {
    pub found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    pub fn refuse_twice<'a>(&mut self, subjects: impl Iterator<Item = &'a Subject>) {
        let mut known: Vec<&Subject> = Vec::new();
        for subject in subjects {
            if known.iter().any(|other| other.group == subject.group && other.kind == subject.kind) {
                let message = format!("`{}` of `{}` is watched twice", subject.kind, subject.group);
                let help = "one controller serves all versions of a kind: keep the storage version";
                self.wrong(&subject.span, &message, help);
            }
            known.push(subject);
        }
    }

    pub fn wrong(&mut self, at: &Span, message: &str, help: &str) {
        self.found.push(OP482.error(message).at(at.clone(), "").help(help));
    }

    pub fn dropped(&mut self, at: &Span, message: &str, help: &str) {
        self.found.push(OP483.warning(message).at(at.clone(), "").help(help));
    }

    fn watch(&mut self, node: &Node) -> Option<Watch> {
        const KEYS: &str = "`group`, `version`, `kind`, `chart`, `overrideValues`, `selector`, `reconcilePeriod`, \
                            `watchDependentResources`, `dryRunOption` and `maxConcurrentReconciles`";
        let mut watch = Watch {
            subject: Subject::at(node),
            chart: String::new(),
            chart_span: node.span.clone(),
            overrides: Vec::new(),
            selector: None,
            period: None,
        };
        for Entry { key, key_span, value } in node.entries() {
            match key.as_str() {
                "group" | "version" | "kind" => self.name(&mut watch.subject, key, value),
                "chart" => (watch.chart, watch.chart_span) = (self.text(value), value.span.clone()),
                _ if value.is_null() => {}
                "overrideValues" => watch.overrides = self.overrides(value),
                "selector" => watch.selector = self.selector(value),
                "reconcilePeriod" => watch.period = self.period(value),
                "watchDependentResources" if value.is_true() => {}
                "watchDependentResources" => self.dropped(
                    key_span,
                    "the objects of a release are always watched",
                    "to leave their changes alone, add `.drift(Drift::Ignore)` to the controller",
                ),
                // Releases are compared by their inputs, so there is no dry run that `lookup` could spoil.
                "dryRunOption" => {}
                "maxConcurrentReconciles" => self.dropped(
                    key_span,
                    "the number of concurrent reconciles is an option of the operator",
                    "add `--concurrency` to the arguments in config/manager/manager.yaml",
                ),
                _ => self.wrong(key_span, &format!("a watch has no key `{key}`"), &format!("its keys are {KEYS}")),
            }
        }
        self.has_names(&watch.subject, [("chart", &watch.chart)]).then_some(watch)
    }

    /// Sets the group, version or kind.
    pub fn name(&mut self, subject: &mut Subject, key: &str, value: &Node) {
        match key {
            "group" => (subject.group, subject.group_span) = (self.text(value), value.span.clone()),
            "version" => subject.version = self.text(value),
            _ => subject.kind = self.text(value),
        }
    }

    /// Whether none of the texts that a watch needs is missing.
    pub fn has_names<const N: usize>(&mut self, subject: &Subject, others: [(&str, &String); N]) -> bool {
        let names = [("group", &subject.group), ("version", &subject.version), ("kind", &subject.kind)];
        let missing = names.into_iter().chain(others).filter(|(_, text)| text.is_empty());
        let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
        if !missing.is_empty() {
            let message = format!("this watch has no `{}`", missing.join("` and no `"));
            self.wrong(&subject.span, &message, "add it, as a text");
        }
        missing.is_empty()
    }

    pub fn text(&mut self, node: &Node) -> String {
        node.as_text().unwrap_or_default().to_owned()
    }

    fn overrides(&mut self, node: &Node) -> Vec<(String, String)> {
        if !matches!(node.value, Value::Map(_)) {
            self.wrong(&node.span, "`overrideValues` is no mapping", "write `path.of.the.value: \"text\"` below it");
        }
        let mut overrides = Vec::new();
        for Entry { key, value, .. } in node.entries() {
            match value.as_text() {
                None => self.wrong(&value.span, &format!("the override of `{key}` is no text"), "put it in quotes"),
                Some(text) if text.contains("{{") => self.wrong(
                    &value.span,
                    &format!("the override of `{key}` is a template"),
                    "replace it by its result; or leave it out, and compute it in `.values(…)` of the controller after the import",
                ),
                Some(text) => {
                    if text.contains('$') {
                        self.dropped(
                            &value.span,
                            &format!("the override of `{key}` has environment variables, whose values were not imported"),
                            "set them in config/manager/manager.yaml: the operator does not start without them",
                        );
                    }
                    overrides.push((key.clone(), text.to_owned()));
                }
            }
        }
        overrides
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
                _ => self.wrong(key_span, "this is no label selector", "it has `matchLabels` and `matchExpressions`"),
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
            self.wrong(&node.span, "this is no requirement of a label selector", help);
        }
        requirement
    }
}

/// Milliseconds of a Go duration that is not negative, rounded.
fn milliseconds(text: &str) -> Option<u64> {
    let nanoseconds = u64::try_from(opctl_cel::parse_duration(text)?).ok()?;
    Some((nanoseconds + 500_000) / 1_000_000)
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

    #[test]
    fn selectors_are_one_line() {
        let text = "- {group: g, version: v1, kind: K, chart: c, selector: {matchLabels: {app: web}, matchExpressions: [\
                    {key: tier, operator: NotIn, values: [a, b]}, {key: new, operator: Exists}, {key: old, operator: DoesNotExist}]}}";
        let mut found = Vec::new();
        let watches = read(&SourceFile::new("watches.yaml", text), &mut found);
        assert_eq!(found, []);
        assert_eq!(watches[0].selector.as_deref(), Some("app=web,tier notin (a,b),new,!old"));
    }
}
