//! Parses `watches.yaml` of operator-sdk's Helm operators into [`Watch`], and reads the charts that it refers to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Project;
use super::diagnostics::OP482;
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
    /// Path and value, in the syntax of `helm --set`.
    pub overrides: Vec<(String, String)>,
    /// In the syntax of `kubectl --selector`.
    pub selector: Option<String>,
    /// In milliseconds.
    pub period: Option<u64>,
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

fn overrides(reader: &mut Reader, node: &Node) -> Vec<(String, String)> {
    if !matches!(node.value, Value::Map(_)) {
        reader.wrong(&node.span, "`overrideValues` is no mapping", "write `path.of.the.value: \"text\"` below it");
    }
    let mut overrides = Vec::new();
    for Entry { key, value, .. } in node.entries() {
        match value.as_text() {
                None => reader.wrong(&value.span, &format!("the override of `{key}` is no text"), "put it in quotes"),
                Some(text) if text.contains("{{") => reader.wrong(
                    &value.span,
                    &format!("the override of `{key}` is a template"),
                    "replace it by its result; or leave it out, and compute it in `.values(…)` of the controller after the import",
                ),
                Some(text) => {
                    if text.contains('$') {
                        reader.dropped(
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
        _ => wrong(
            format!("there is no chart `{}`", path.display()),
            "correct the path, from the folder of watches.yaml",
        ),
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
}
