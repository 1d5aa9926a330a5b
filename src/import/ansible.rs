//! Requests for the kinds of an Ansible operator: each kind runs the same role or playbook as before.

use serde_json::{Map, Value as Json};

use super::{OtherVersion, add_environment, other_versions, request, samples};
use crate::api::Request;
use crate::api::ansible::{self, Files, Imported};
use crate::scaffold;
use opctl_charts::ansible::diagnostics::OP484;
use opctl_charts::ansible::{Rules, Source};
use opctl_charts::operator_sdk::Project;
use opctl_charts::operator_sdk::ansible::{Own, VERBS, Watch, further_rules, locate};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::ProjectFile;

/// A request for each watch. `files` are the roles and playbooks of the project.
pub fn requests(
    source: &Project,
    watches: &[Watch],
    files: &mut Files,
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
) -> Vec<Request> {
    let runs: Vec<(Option<Source>, Option<Source>)> = watches
        .iter()
        .map(|watch| {
            let of_finalizer = watch.finalizer.as_ref().and_then(|finalizer| finalizer.runs.as_ref());
            (
                locate(source, &watch.runs, files, found),
                of_finalizer.and_then(|runs| locate(source, runs, files, found)),
            )
        })
        .collect();
    let mut file = file.clone();
    let mut requests: Vec<Request> = Vec::new();
    let mut rules = Rules::new();
    for (watch, (main, finalizer)) in watches.iter().zip(runs) {
        let crd = if watch.gvk.builtin().is_none() { source.crd(&watch.gvk, found) } else { None };
        let existing = crd.as_ref().map(|crd| crd.existing.clone()).unwrap_or_default();
        let Some(mut request) = request(&watch.gvk, crd.as_ref(), &file, found) else { continue };
        if let Some(main) = main {
            let imported = Imported {
                watch: calls(watch, finalizer.as_ref()),
                sources: [Some(main), finalizer].into_iter().flatten().collect(),
                existing,
                samples: samples(source, &watch.gvk, &request.resource, found).0,
                is_snake_case: watch.snake_case,
            };
            let (operator, needed) = ansible::import(imported, files, &mut request.resource, &file, found);
            for (resource, verbs) in needed {
                rules.entry(resource).or_default().extend(verbs);
            }
            request.ansible = Some(operator);
        }
        file.resources.push(request.resource.clone());
        let operator = request.ansible.clone();
        requests.push(request);
        let others =
            crd.iter().flat_map(|crd| other_versions(source, &watch.gvk, crd, &file, found)).collect::<Vec<_>>();
        for OtherVersion { mut request, existing, samples } in others {
            let version = |operator: &ansible::Operator| operator.version(&mut request.resource, existing, samples);
            request.ansible = operator.as_ref().map(version);
            file.resources.push(request.resource.clone());
            requests.push(request);
        }
    }
    // If permissions of a task are unknown, it may need more on the operator's own kinds than the controllers.
    let are_unknown = found.iter().any(|diagnostic| diagnostic.code == OP484);
    let mut own = Own::new();
    for resource in requests.iter().map(|request| &request.resource).filter(|resource| resource.api.is_some()) {
        let (group, plural) = (resource.full_group(), resource.plural().to_string());
        let status = format!("{plural}/status");
        // Each controller has these permissions.
        rules.entry((group.clone(), plural.clone())).or_default().extend(["list", "patch", "watch"]);
        rules.entry((group.clone(), status.clone())).or_default().insert("patch");
        own.entry(group).or_default().extend(are_unknown.then_some([plural, status]).into_iter().flatten());
    }
    let markers = further_rules(source, &rules, &own, found);
    add_environment(source, &mut requests, found);
    if let Some(operator) = requests.iter_mut().find_map(|request| request.ansible.as_mut()) {
        let watch = operator.scaffold.watch.get_or_insert_default();
        // `opctl check` cannot determine which verbs of a wildcard are used.
        watch.has_unused = markers.iter().flat_map(|marker| &marker.verbs).any(|verb| VERBS.contains(&verb.as_str()));
        watch.markers = markers.into_iter().map(|marker| marker.text).collect();
    }
    requests
}

/// The width of a call in a controller: 100 columns without an indentation of 8.
const LINE: usize = 92;

/// The builder calls with which a controller has the settings of the watch.
fn calls(watch: &Watch, finalizer: Option<&Source>) -> scaffold::Watch {
    let mut calls = Vec::new();
    if !watch.vars.is_empty() {
        calls.push(format!(".vars({})", variables(&watch.vars, 2)));
    }
    if let Some(own) = &watch.finalizer {
        let mut parts = vec![format!("Finalizer::new({:?})", own.name)];
        parts.extend(finalizer.map(|source| match source {
            Source::Role(name) => format!(".role({name:?})"),
            Source::Playbook(path) => format!(".playbook({path:?})"),
        }));
        let vars = (!own.vars.is_empty()).then_some(&own.vars);
        let of_vars = |levels| vars.map(|vars| format!(".vars({})", variables(vars, levels)));
        let line = format!(".finalizer({}{})", parts.concat(), of_vars(2).unwrap_or_default());
        // rustfmt breaks chains of several calls that are longer than 60 columns.
        let longest = if parts.len() + usize::from(vars.is_some()) > 2 { 60 } else { LINE };
        calls.push(match line.len() <= longest && !line.contains('\n') {
            true => line,
            false => {
                let parts: Vec<String> = parts.into_iter().chain(of_vars(4)).collect();
                format!(".finalizer(\n            {},\n        )", parts.join("\n                "))
            }
        });
    }
    if let Some(period) = watch.period {
        calls.push(scaffold::period_call(period));
    }
    for (is_set, call) in [
        (!watch.manage_status, ".manage_status(false)"),
        (!watch.watch_dependents, ".watch_dependents(false)"),
        (watch.watch_cluster_scoped, ".watch_cluster_scoped(true)"),
        (watch.watch_annotations, ".watch_annotations(true)"),
        (!watch.snake_case, ".snake_case(false)"),
        (!watch.mark_unsafe, ".mark_unsafe(false)"),
        // As in the images of operator-sdk, whose Ansible is older than 2.19.
        (true, ".allow_broken_conditionals(true)"),
    ] {
        calls.extend(is_set.then(|| call.to_owned()));
    }
    calls.extend(watch.keep_runs.map(|number| format!(".keep_runs({number})")));
    calls.extend(watch.unwatched.iter().map(|(version, kind)| format!(".unwatched({version:?}, {kind:?})")));
    if let Some(selector) = &watch.selector {
        calls.push(scaffold::selector_call(selector));
    }
    scaffold::Watch {
        has_duration: watch.period.is_some(),
        has_watcher: watch.selector.is_some(),
        has_finalizer: watch.finalizer.is_some(),
        has_json: calls.iter().any(|call| call.contains("json!(")),
        markers: Vec::new(),
        has_unused: false,
        calls,
    }
}

/// `json!({ "a": 1 })`, on several lines if it is long. `levels` is the indentation of its line.
fn variables(vars: &Map<String, Json>, levels: usize) -> String {
    let line = format!("json!({})", literal(&vars.clone().into(), None));
    match line.len() <= 60 {
        true => line,
        false => format!("json!({})", literal(&vars.clone().into(), Some(levels))),
    }
}

/// JSON as Rust tokens. With `levels`, the indentation, it is on several lines.
fn literal(value: &Json, levels: Option<usize>) -> String {
    let below = levels.map(|levels| levels + 1);
    let items: Vec<String> = match value {
        Json::String(text) => return format!("{text:?}"),
        Json::Array(items) => items.iter().map(|item| literal(item, below)).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key:?}: {}", literal(value, below))).collect()
        }
        other => return other.to_string(),
    };
    let [open, close] = if value.is_array() { ["[", "]"] } else { ["{", "}"] };
    match levels {
        _ if items.is_empty() => format!("{open}{close}"),
        None if value.is_array() => format!("[{}]", items.join(", ")),
        None => format!("{{ {} }}", items.join(", ")),
        Some(levels) => {
            let indent = "    ".repeat(levels);
            let items: String = items.iter().map(|item| format!("{indent}    {item},\n")).collect();
            format!("{open}\n{items}{indent}{close}")
        }
    }
}
