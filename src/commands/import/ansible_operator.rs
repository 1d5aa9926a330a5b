//! `opctl import ansible-operator`: a kind for each watch of operator-sdk's Ansible operator, with the same roles and playbooks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value as Json};

use super::ansible_watches::{self, Runs, Watch};
use super::project::{self, SdkProject};
use super::target;
use super::watches::Subject;
use crate::api::Request;
use crate::api::ansible::{self, Files};
use crate::commands::error::Refusal;
use crate::commands::{Console, Outcome};
use crate::scaffold;
use opctl_charts::ansible::{Rules, Source, is_in_collection, role_path};
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::project::{Intake, ProjectFile};

/// Convert an Ansible operator of operator-sdk: its kinds, roles, playbooks, samples and watches.yaml
///
/// In a project of opctl, the kinds are added to it; in an empty folder, a project with the same name and domain is created. The
/// imported operator adopts existing objects. DIR is not changed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In an empty folder
  opctl import ansible-operator ../memcached-operator

  # Show what would be created
  opctl import ansible-operator ../memcached-operator --dry-run")]
pub struct AnsibleOperatorArgs {
    /// The folder with watches.yaml
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub fn run(args: &AnsibleOperatorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    let source = SdkProject::read(&args.dir, "ansible", &mut found)?;
    let watches = ansible_watches::read(&source.watches, &mut found);
    let mut files = copy(&source.dir, &mut found)?;
    leftovers(&source, &mut found);
    let subjects: Vec<&Subject> = watches.iter().map(|watch| &watch.subject).collect();
    target::import(&source, &subjects, found, console, |file, found| {
        Ok(requests(&source, &watches, &mut files, file, found))
    })
}

/// One for each watch.
fn requests(
    source: &SdkProject,
    watches: &[Watch],
    files: &mut Files,
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
) -> Vec<Request> {
    let runs: Vec<(Option<Source>, Option<Source>)> = watches
        .iter()
        .map(|watch| {
            let of_finalizer = watch.finalizer.as_ref().and_then(|finalizer| finalizer.runs.as_ref());
            (place(source, &watch.runs, files, found), of_finalizer.and_then(|runs| place(source, runs, files, found)))
        })
        .collect();
    let mut file = file.clone();
    let mut requests = Vec::new();
    let mut rules = Rules::new();
    for (watch, (main, finalizer)) in watches.iter().zip(runs) {
        let crd = source.crd(&watch.subject, found);
        let Some(mut request) = target::request(&watch.subject, crd, &file, found) else { continue };
        if let Some(main) = main {
            let (samples, _) = target::samples(source, &watch.subject, &request.resource);
            let all = [Some(main), finalizer.clone()].into_iter().flatten().collect::<Vec<_>>();
            let calls = calls(watch, finalizer.as_ref());
            let (operator, needed) = ansible::import(&all, calls, samples, files, &mut request.resource, &file, found);
            for (resource, verbs) in needed {
                rules.entry(resource).or_default().extend(verbs);
            }
            request.ansible = Some(operator);
        }
        file.resources.push(request.resource.clone());
        requests.push(request);
    }
    let own: BTreeSet<&str> = watches.iter().map(|watch| watch.subject.group.as_str()).collect();
    compare(source, &rules, &own, found);
    requests
}

/// Reads the text files of roles and playbooks.
fn copy(dir: &Path, found: &mut Vec<Diagnostic>) -> Result<Files, Refusal> {
    let mut intake = Intake::default();
    let mut files = Files::new();
    for folder in ["roles", "playbooks"] {
        let contents = intake.folder(dir, folder).map_err(|error| {
            Refusal::new(error.to_string()).help("correct it in a copy of the project, and import the copy")
        })?;
        for (path, content) in contents {
            let name = path.rsplit('/').next();
            match String::from_utf8(content) {
                Ok(_) if matches!(name, Some(".placeholder" | ".gitkeep")) => {}
                Ok(text) => _ = files.insert(path, text),
                Err(_) => {
                    let message = format!("`{}` is not text, and was not copied", dir.join(&path).display());
                    let help = format!("copy it after the import, to `{path}`");
                    found.push(Diagnostic::warning("OP483", message).help(help));
                }
            }
        }
    }
    Ok(files)
}

/// Where a role or playbook is in the new project. A playbook beside watches.yaml is added to `files`.
fn place(source: &SdkProject, runs: &Runs, files: &mut Files, found: &mut Vec<Diagnostic>) -> Option<Source> {
    let mut wrong = |message: String| {
        let help = "correct the path, from the folder of watches.yaml";
        found.push(Diagnostic::error("OP482", message).at(runs.span.clone(), "").help(help));
        None
    };
    match &runs.source {
        Source::Role(name) => {
            let folder = format!("{}/", role_path(name));
            match is_in_collection(name) || files.keys().any(|path| path.starts_with(&folder)) {
                true => Some(Source::Role(name.clone())),
                false => wrong(format!("there is no role `{}`", source.dir.join(role_path(name)).display())),
            }
        }
        Source::Playbook(path) if files.contains_key(path) => Some(Source::Playbook(path.clone())),
        Source::Playbook(path) => match source.tree.read(path) {
            Ok(Some(text)) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let target = format!("playbooks/{name}");
                if files.insert(target.clone(), text).is_some() {
                    return wrong(format!("`{target}` would be another file, too"));
                }
                let message = format!("`{path}` is `{target}` in the new project");
                let help = "correct the paths in it that are relative to its folder";
                found.push(Diagnostic::warning("OP483", message).at(runs.span.clone(), "").help(help));
                Some(Source::Playbook(target))
            }
            Err(error) => wrong(project::below(&source.dir, error).to_string()),
            Ok(None) => wrong(format!("there is no playbook `{}`", source.dir.join(path).display())),
        },
    }
}

/// Of 100 columns, the calls of a controller are indented by 8.
const LINE: usize = 92;

/// The calls of the controller.
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
        // rustfmt breaks chains of several calls that are longer than 60.
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
        calls,
    }
}

/// `json!({ "a": 1 })`, on several lines if it is long; `levels` is how far its line is indented.
fn variables(vars: &Map<String, Json>, levels: usize) -> String {
    let line = format!("json!({})", literal(&vars.clone().into(), None));
    match line.len() <= 60 {
        true => line,
        false => format!("json!({})", literal(&vars.clone().into(), Some(levels))),
    }
}

/// JSON as Rust's tokens; `levels`: on several lines.
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

/// The rules of their role that no task needs; they are not carried over.
fn compare(source: &SdkProject, rules: &Rules, own: &BTreeSet<&str>, found: &mut Vec<Diagnostic>) {
    let Some(file) = project::read(&source.tree, "config/rbac/role.yaml", found) else { return };
    let documents = match yaml::documents(&file, Dialect::Kubectl) {
        Ok(documents) => documents,
        Err(error) => return found.push(*error),
    };
    for rule in documents.iter().flat_map(|document| document.items_at(&["rules"])) {
        let texts = |key: &str| -> Vec<&str> { rule.items_at(&[key]).iter().filter_map(Node::as_text).collect() };
        for group in texts("apiGroups").into_iter().filter(|group| !own.contains(group)) {
            let mut more: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
            for resource in texts("resources") {
                let needed = rules.get(&(group.to_owned(), resource.to_owned()));
                let is_needed = |verb: &&str| needed.is_some_and(|needed| needed.contains(verb));
                let verbs: Vec<&str> = texts("verbs").into_iter().filter(|verb| !is_needed(verb)).collect();
                if !verbs.is_empty() {
                    more.entry(verbs).or_default().push(resource);
                }
            }
            for (verbs, resources) in more {
                let (verbs, resources) = (verbs.join(";"), resources.join(";"));
                let group = if group.is_empty() { "core" } else { group };
                let message =
                    format!("no task needs `{verbs}` on `{resources}` of `{group}`, so it was not carried over");
                let marker = format!("// +kubebuilder:rbac:groups={group},resources={resources},verbs={verbs}");
                let help = format!("if one does, add a marker to its controller: `{marker}`");
                found.push(Diagnostic::warning("OP483", message).at(rule.span.clone(), "").help(help));
            }
        }
    }
}

/// What is left behind.
fn leftovers(source: &SdkProject, found: &mut Vec<Diagnostic>) {
    for name in
        ["collections", "library", "filter_plugins", "action_plugins", "module_utils", "inventory", "ansible.cfg"]
    {
        if source.dir.join(name).exists() {
            let message = format!("`{}` was not imported", source.dir.join(name).display());
            found.push(
                Diagnostic::warning("OP483", message).help("copy it, and add it to the Dockerfile, if it is needed"),
            );
        }
    }
    let Some(file) = project::read(&source.tree, "requirements.yml", found) else { return };
    let documents = match yaml::documents(&file, Dialect::Kubectl) {
        Ok(documents) => documents,
        Err(error) => return found.push(*error),
    };
    for collection in documents.iter().flat_map(|document| document.items_at(&["collections"])) {
        let name = collection.as_text().or(collection.text_at(&["name"])).unwrap_or_default();
        // The first is in every project, and opctl's runtime does what the second is for.
        if name == "kubernetes.core" || name == "operator_sdk.util" {
            continue;
        }
        let message = format!("the collection `{name}` was not imported");
        let help = "if a role needs it, add it to requirements.yml, and its checksum to requirements.sha256: `make .venv` prints it";
        let at = Span { ..collection.span.clone() };
        found.push(Diagnostic::warning("OP483", message).at(at, "").help(help));
    }
}
