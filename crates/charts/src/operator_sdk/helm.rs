//! Parses `watches.yaml` of operator-sdk's Helm operators into [`Watch`], and reads the charts that it refers to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Project;
use super::diagnostics::{OP482, OP483};
use super::watches::{self, Gvk, Reader};
use opctl_kustomize::yaml::{Entry, Node, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};

/// A kind, and the chart that is installed for each of its objects.
#[derive(Clone, Debug)]
pub struct Watch {
    pub gvk: Gvk,
    /// The path of the chart from the project's folder.
    pub chart: String,
    pub chart_span: Span,
    pub overrides: Vec<Override>,
    /// In the syntax of `kubectl --selector`.
    pub selector: Option<String>,
    /// In milliseconds.
    pub period: Option<u64>,
}

/// A value that each release gets, in the syntax of `helm --set`.
#[derive(Clone, Debug)]
pub struct Override {
    pub path: String,
    pub text: String,
    /// The value, if the text is a template.
    pub part: Option<Part>,
    pub span: Span,
}

/// A part of the value of an environment variable, such as the tag of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub variable: String,
    pub separator: String,
    pub index: usize,
}

impl Part {
    /// Parses `{{ ("$IMAGE" | split ":")._1 }}` and `{{ (split ":" "$IMAGE")._1 }}`.
    fn parse(template: &str) -> Option<Self> {
        let inside = template.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim_matches('-').trim();
        let (call, index) = inside.strip_prefix('(')?.rsplit_once(")._")?;
        let words: Vec<&str> = call.split_whitespace().collect();
        let [variable, separator] = match words[..] {
            [variable, "|", "split", separator] | ["split", separator, variable] => [variable, separator],
            _ => return None,
        };
        let quoted = |text: &str| text.strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
        let mut names = Vec::new();
        let rest = watches::expanded(&quoted(variable)?, |name| {
            names.push(name.to_owned());
            String::new()
        });
        match (rest?.is_empty(), names.pop(), names.is_empty()) {
            (true, Some(variable), true) => {
                Some(Self { variable, separator: quoted(separator)?, index: index.parse().ok()? })
            }
            _ => None,
        }
    }
}

/// Reports environment variables in overrides that are not among the names of `set`: to operator-sdk, such an override is
/// an empty text.
pub fn report_unset(watches: &[Watch], set: &[&str], found: &mut Vec<Diagnostic>) {
    for Override { path, text, span, .. } in watches.iter().flat_map(|watch| &watch.overrides) {
        let mut unset = Vec::new();
        watches::expanded(text, |name| {
            unset.extend((!set.contains(&name)).then(|| format!("`{name}`")));
            String::new()
        });
        if !unset.is_empty() {
            let message = format!(
                "the override of `{path}` has environment variables that neither the Dockerfile nor the Deployment sets: {}",
                unset.join(", ")
            );
            let help = "set them in config/manager/manager.yaml: without them, the operator does not start, or parts of them are empty";
            found.push(OP483.warning(message).at(span.clone(), "").help(help));
        }
    }
}

/// Parses the watches of a file. Adds errors to `found`, and warnings about settings without a counterpart.
pub fn read(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Watch> {
    watches::read(file, found, watch, |watch| &watch.gvk)
}

fn watch(reader: &mut Reader, node: &Node) -> Option<Watch> {
    const KEYS: &str = "`group`, `version`, `kind`, `chart`, `overrideValues`, `selector`, `reconcilePeriod`, \
                            `watchDependentResources`, `dryRunOption` and `maxConcurrentReconciles`";
    let mut watch = Watch {
        gvk: Gvk::at(node),
        chart: String::new(),
        chart_span: node.span.clone(),
        overrides: Vec::new(),
        selector: None,
        period: None,
    };
    for Entry { key, key_span, value } in node.entries() {
        match key.as_str() {
            "group" | "version" | "kind" => reader.name(&mut watch.gvk, key, value),
            "chart" => (watch.chart, watch.chart_span) = (reader.text(value), value.span.clone()),
            _ if value.is_null() => {}
            "overrideValues" => watch.overrides = overrides(reader, value),
            "selector" => watch.selector = reader.selector(value),
            "reconcilePeriod" => watch.period = reader.period(value),
            "watchDependentResources" if value.is_true() => {}
            "watchDependentResources" => reader.dropped(
                key_span,
                "the objects of a release are always watched",
                "to leave their changes alone, add `.drift(Drift::Ignore)` to the controller",
            ),
            // Not needed: releases are compared by their inputs, so there is no dry run in which `lookup` returns
            // nothing.
            "dryRunOption" => {}
            "maxConcurrentReconciles" => reader.dropped(
                key_span,
                "the number of concurrent reconciles is an option of the operator",
                "add `--concurrency` to the arguments in config/manager/manager.yaml",
            ),
            _ => reader.wrong(key_span, &format!("a watch has no key `{key}`"), &format!("its keys are {KEYS}")),
        }
    }
    reader.has_names(&watch.gvk, [("chart", &watch.chart)]).then_some(watch)
}

fn overrides(reader: &mut Reader, node: &Node) -> Vec<Override> {
    if !matches!(node.value, Value::Map(_)) {
        reader.wrong(&node.span, "`overrideValues` must be a mapping", "write `path.of.the.value: \"text\"` below it");
    }
    let mut overrides = Vec::new();
    for Entry { key, value, .. } in node.entries() {
        let text = match &value.value {
            Value::Text(text) => text.clone(),
            // operator-sdk reads all scalars as text.
            Value::Bool(_) | Value::Number(_) => value.json().to_string(),
            _ => {
                reader.wrong(&value.span, &format!("the override of `{key}` must be a string"), "put it in quotes");
                continue;
            }
        };
        let part = Part::parse(&text);
        if part.is_none() && text.contains("{{") {
            let message = format!("the override of `{key}` is a template");
            let help = "replace it by its result; or leave it out, and compute it in `.values(…)` of the controller after the import";
            reader.wrong(&value.span, &message, help);
            continue;
        }
        overrides.push(Override { path: key.clone(), text, part, span: value.span.clone() });
    }
    overrides
}

/// The name of a chart's folder in the new project, and its path. `charts` are those of previous watches.
pub fn chart(
    project: &Project,
    watch: &Watch,
    charts: &mut BTreeMap<String, PathBuf>,
    found: &mut Vec<Diagnostic>,
) -> Option<(String, PathBuf)> {
    let path = project.dir.join(&watch.chart);
    let name = path.file_name().map(|name| name.to_string_lossy().trim_end_matches(".tgz").to_owned());
    let mut wrong = |message: String, help: &str| {
        found.push(OP482.error(message).at(watch.chart_span.clone(), "").help(help));
        None
    };
    let root = project.dir.canonicalize().unwrap_or_else(|_| project.dir.clone());
    match (name, path.canonicalize()) {
        (_, Ok(path)) if !path.starts_with(&root) => wrong(
            format!("the chart `{}` is outside of `{}`", path.display(), project.dir.display()),
            "copy it into that folder, and correct the path",
        ),
        (Some(name), Ok(path)) => match charts.entry(name.clone()).or_insert_with(|| path.clone()) {
            same if *same == path => Some((name, path)),
            other => {
                let message = format!("`{}` is in a folder of the name `{name}`, too", other.display());
                wrong(message, "rename one of the two folders")
            }
        },
        _ => {
            wrong(format!("chart `{}` not found", path.display()), "correct the path, from the folder of watches.yaml")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_one_line() {
        let text = "- {group: g, version: v1, kind: K, chart: c, selector: {matchLabels: {app: web}, matchExpressions: [\
                    {key: tier, operator: NotIn, values: [a, b]}, {key: new, operator: Exists}, {key: old, operator: DoesNotExist}]}}";
        let mut found = Vec::new();
        let watches = read(&SourceFile::new("watches.yaml", text), &mut found);
        assert_eq!(found, []);
        assert_eq!(watches[0].selector.as_deref(), Some("app=web,tier notin (a,b),new,!old"));
    }
    #[test]
    fn a_part_of_a_variable_is_no_other_template() {
        let part = |variable: &str, separator: &str, index| {
            Some(Part { variable: variable.to_owned(), separator: separator.to_owned(), index })
        };
        for (template, expected) in [
            ("{{ (\"$IMAGE\" | split \":\")._0 }}", part("IMAGE", ":", 0)),
            ("{{- (split \"@\" \"${IMAGE}\")._1 -}}", part("IMAGE", "@", 1)),
            ("{{ (\"$A$B\" | split \":\")._0 }}", None),
            ("{{ (\"x-$A\" | split \":\")._0 }}", None),
            ("{{ (\"$A\" | split \":\")._0 }}:x", None),
            ("{{ (\"$A\" | split \":\")._0 | quote }}", None),
            ("{{ env \"A\" }}", None),
            ("$A", None),
        ] {
            assert_eq!(Part::parse(template), expected, "{template}");
        }
    }

    #[test]
    fn unset_variables_of_overrides_are_reported_with_their_place() {
        let text = "- {group: g, version: v1, kind: K, chart: c, overrideValues: {a: $SET, b: 'x-${UNSET}:$SET', c: 5$, d: false, e: 2}}";
        let mut found = Vec::new();
        let watches = read(&SourceFile::new("watches.yaml", text), &mut found);
        assert_eq!(found, []);
        let texts: Vec<&str> = watches[0].overrides[3..].iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["false", "2"]);
        report_unset(&watches, &["SET"], &mut found);
        let [warning] = &found[..] else { panic!("{found:?}") };
        assert!(warning.message.contains("override of `b`") && warning.message.ends_with(": `UNSET`"), "{warning:?}");
        assert!(warning.span.is_some());
    }
}
