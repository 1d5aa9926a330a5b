//! Parses `watches.yaml` of operator-sdk's Ansible operators into [`Watch`], and reads the roles, playbooks and
//! permissions of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::diagnostics::{OP482, OP483};
use super::watches::{self, Gvk, Reader};
use super::{Project, below, layout};
use crate::ansible::{Rules, Source, is_in_collection, role_path};
use opctl_kustomize::yaml::{self, Dialect, Entry, Node, Value};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::builtin::{in_group, with_plural};
use opctl_model::project::{Intake, ReadError};

/// Texts of files by their paths from the project's folder.
pub type Files = BTreeMap<String, String>;

/// A kind, and the role or playbook that runs for each of its objects.
#[derive(Clone, Debug)]
pub struct Watch {
    pub gvk: Gvk,
    pub runs: Runs,
    pub vars: Map<String, Json>,
    pub finalizer: Option<Finalizer>,
    /// In milliseconds.
    pub period: Option<u64>,
    pub manage_status: bool,
    pub watch_dependents: bool,
    pub watch_cluster_scoped: bool,
    pub watch_annotations: bool,
    pub snake_case: bool,
    pub mark_unsafe: bool,
    pub keep_runs: Option<u64>,
    /// `apiVersion` and kind of dependents that are not watched.
    pub unwatched: Vec<(String, String)>,
    /// In the syntax of `kubectl --selector`.
    pub selector: Option<String>,
}

/// A role or playbook in watches.yaml.
#[derive(Clone, Debug)]
pub struct Runs {
    pub source: Source,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Finalizer {
    pub name: String,
    /// `None` for the role or playbook of the watch.
    pub runs: Option<Runs>,
    pub vars: Map<String, Json>,
}

/// Parses the watches of a file. Adds errors to `found`, and warnings about settings without a counterpart.
pub fn read(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Watch> {
    watches::read(file, found, watch, |watch| &watch.gvk)
}

fn watch(reader: &mut Reader, node: &Node) -> Option<Watch> {
    const KEYS: &str = "`group`, `version`, `kind`, `role`, `playbook`, `vars`, `finalizer`, `reconcilePeriod`, `manageStatus`, \
                        `watchDependentResources`, `watchClusterScopedResources`, `watchAnnotationsChanges`, `snakeCaseParameters`, \
                        `markUnsafe`, `maxRunnerArtifacts`, `blacklist` and `selector`";
    let (mut role, mut playbook, mut finalizer) = (None, None, None);
    let mut watch = Watch {
        gvk: Gvk::at(node),
        runs: Runs { source: Source::Role(String::new()), span: node.span.clone() },
        vars: Map::new(),
        finalizer: None,
        period: None,
        manage_status: true,
        watch_dependents: true,
        watch_cluster_scoped: false,
        watch_annotations: false,
        snake_case: true,
        mark_unsafe: false,
        keep_runs: None,
        unwatched: Vec::new(),
        selector: None,
    };
    for Entry { key, key_span, value } in node.entries() {
        match key.as_str() {
            "group" | "version" | "kind" => reader.name(&mut watch.gvk, key, value),
            _ if value.is_null() => {}
            "role" => role = runs(reader, key, value),
            "playbook" => playbook = runs(reader, key, value),
            "vars" => watch.vars = vars(reader, value),
            "finalizer" => finalizer = self::finalizer(reader, value),
            "reconcilePeriod" => watch.period = reader.period(value),
            "manageStatus" => watch.manage_status = flag(reader, key, value),
            "watchDependentResources" => watch.watch_dependents = flag(reader, key, value),
            "watchClusterScopedResources" => watch.watch_cluster_scoped = flag(reader, key, value),
            "watchAnnotationsChanges" => watch.watch_annotations = flag(reader, key, value),
            "snakeCaseParameters" => watch.snake_case = flag(reader, key, value),
            "markUnsafe" => watch.mark_unsafe = flag(reader, key, value),
            "maxRunnerArtifacts" => match value.json().as_u64().filter(|number| *number <= u64::from(u16::MAX)) {
                // operator-sdk's default, which is also the default here.
                Some(0 | 20) => {}
                Some(number) => watch.keep_runs = Some(number),
                None => reader.wrong(&value.span, "`maxRunnerArtifacts` must be a number of runs", "write e.g. `20`"),
            },
            "blacklist" => watch.unwatched = unwatched(reader, value),
            "selector" => watch.selector = reader.selector(value),
            _ => reader.wrong(key_span, &format!("a watch has no key `{key}`"), &format!("its keys are {KEYS}")),
        }
    }
    if !watch.mark_unsafe {
        reader.dropped(
            &node.span,
            "whoever may create an object can have Ansible evaluate templates in the operator, as `markUnsafe` is not set",
            "remove `.mark_unsafe(false)` from the controller, unless objects have to contain templates",
        );
    }
    if !reader.has_names(&watch.gvk, []) {
        return None;
    }
    if watch.gvk.is_core && watch.gvk.builtin().is_none() {
        let message = format!("Kubernetes has no kind `{}` in the version `{}`", watch.gvk.kind, watch.gvk.version);
        reader.wrong(&watch.gvk.span, &message, "correct the kind or the version, or add the group");
        return None;
    }
    if watch.gvk.builtin().is_some() && watch.manage_status {
        watch.manage_status = false;
        reader.dropped(
            &node.span,
            "the status of a kind of Kubernetes itself is not written, although `manageStatus` is not false",
            "see the events of the object, and the logs of the operator",
        );
    }
    let Some(runs) = playbook.or(role) else {
        reader.wrong(&node.span, "this watch has neither a `role` nor a `playbook`", "add one of the two");
        return None;
    };
    Some(Watch { runs, finalizer, ..watch })
}

fn flag(reader: &mut Reader, key: &str, node: &Node) -> bool {
    if !matches!(node.value, Value::Bool(_)) {
        reader.wrong(&node.span, &format!("`{key}` is neither true nor false"), "write `true` or `false`");
    }
    node.is_true()
}

/// Parses `role: memcached`, or a path in the image.
fn runs(reader: &mut Reader, key: &str, node: &Node) -> Option<Runs> {
    let text = reader.text(node);
    if text.is_empty() || text.contains('$') {
        reader.wrong(&node.span, &format!("invalid `{key}`"), "write its path, relative to the folder of watches.yaml");
        return None;
    }
    let text = text.trim_start_matches("/opt/ansible/").trim_start_matches("./").trim_end_matches('/');
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        let message = format!("this `{key}` is outside of the folder of watches.yaml");
        reader.wrong(&node.span, &message, "copy it into that folder, and correct the path");
        return None;
    }
    let source = match key {
        "role" => Source::Role(text.trim_start_matches("roles/").to_owned()),
        _ => Source::Playbook(text.to_owned()),
    };
    Some(Runs { source, span: node.span.clone() })
}

fn finalizer(reader: &mut Reader, node: &Node) -> Option<Finalizer> {
    let (mut role, mut playbook) = (None, None);
    let mut finalizer = Finalizer { name: String::new(), runs: None, vars: Map::new() };
    for Entry { key, key_span, value } in node.entries() {
        match key.as_str() {
            "name" => finalizer.name = reader.text(value),
            _ if value.is_null() => {}
            "role" => role = runs(reader, key, value),
            "playbook" => playbook = runs(reader, key, value),
            "vars" => finalizer.vars = vars(reader, value),
            _ => {
                let help = "its keys are `name`, `role`, `playbook` and `vars`";
                reader.wrong(key_span, &format!("a finalizer has no key `{key}`"), help);
            }
        }
    }
    finalizer.runs = playbook.or(role);
    if finalizer.name.is_empty() {
        reader.wrong(&node.span, "this finalizer has no `name`", "add it, e.g. `cache.example.com/finalizer`");
    } else if finalizer.runs.is_none() && finalizer.vars.is_empty() {
        let help = "add one of them, such as `vars: {state: absent}`";
        reader.wrong(&node.span, "this finalizer has no `role`, no `playbook` and no `vars`", help);
    }
    Some(finalizer)
}

fn vars(reader: &mut Reader, node: &Node) -> Map<String, Json> {
    if !matches!(node.value, Value::Map(_)) {
        reader.wrong(&node.span, "`vars` must be a mapping", "write `name: value` below it");
    }
    let vars = node.entries().iter().map(|entry| (entry.key.clone(), var(reader, &entry.value)));
    vars.collect()
}

/// The first line of the output of `ansible-vault encrypt_string`.
const VAULT: &str = "$ANSIBLE_VAULT;";

/// Parses a variable. operator-sdk replaces environment variables in the whole file before it parses it.
fn var(reader: &mut Reader, node: &Node) -> Json {
    match &node.value {
        Value::Text(text) if text.trim_start().starts_with(VAULT) => match is_tagged(node) {
            true => json!({ "__ansible_vault": text }),
            false => text.as_str().into(),
        },
        Value::Text(text) => match with_lookups(text) {
            Some(template) => {
                reader.dropped(
                    &node.span,
                    "the environment variables in this value are read by Ansible when it runs",
                    "set them in config/manager/manager.yaml",
                );
                template.into()
            }
            None => text.as_str().into(),
        },
        Value::List(items) => items.iter().map(|item| var(reader, item)).collect(),
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), var(reader, &entry.value))).collect(),
        _ => node.json(),
    }
}

/// `true` if the value has the tag `!vault`. The parser drops tags, so the source text is searched.
fn is_tagged(node: &Node) -> bool {
    let (before, value) = node.span.file.text.split_at(node.span.range.start);
    let style = |letter: char| letter.is_whitespace() || "|>+-".contains(letter) || letter.is_ascii_digit();
    value.starts_with("!vault") || before.trim_end_matches(style).ends_with("!vault")
}

/// Converts `${NAME}` and `$NAME` to `lookup` templates; `None` if the text has neither.
fn with_lookups(text: &str) -> Option<String> {
    watches::expanded(text, |name| format!("{{{{ lookup('env', '{name}') }}}}"))
}

fn unwatched(reader: &mut Reader, node: &Node) -> Vec<(String, String)> {
    let mut kinds = Vec::new();
    for item in node.items() {
        let text = |name: &str| {
            let entry = item.entries().iter().find(|entry| entry.key.eq_ignore_ascii_case(name));
            entry.and_then(|entry| entry.value.as_text()).unwrap_or_default()
        };
        match (text("group"), text("version"), text("kind")) {
            (_, "", _) | (_, _, "") => {
                reader.wrong(&item.span, "expected a kind", "it has a `group`, a `version` and a `kind`");
            }
            ("", version, kind) => kinds.push((version.to_owned(), kind.to_owned())),
            (group, version, kind) => kinds.push((format!("{group}/{version}"), kind.to_owned())),
        }
    }
    kinds
}

/// Reads the text files of roles and playbooks.
///
/// # Errors
///
/// If one of them cannot be read.
pub fn files(project: &Project, found: &mut Vec<Diagnostic>) -> Result<Files, ReadError> {
    let dir = &project.dir;
    let mut intake = Intake::default();
    let mut files = Files::new();
    for folder in ["roles", "playbooks"] {
        for (path, content) in intake.folder(dir, folder)? {
            let name = path.rsplit('/').next();
            match String::from_utf8(content) {
                Ok(_) if matches!(name, Some(".placeholder" | ".gitkeep")) => {}
                Ok(text) => _ = files.insert(path, text),
                Err(_) => {
                    let message = format!("`{}` is not text, and was not copied", dir.join(&path).display());
                    let help = format!("copy it after the import, to `{path}`");
                    found.push(OP483.warning(message).help(help));
                }
            }
        }
    }
    Ok(files)
}

/// Locates the role or playbook in the new project. A playbook next to watches.yaml is added to `files`.
pub fn locate(project: &Project, runs: &Runs, files: &mut Files, found: &mut Vec<Diagnostic>) -> Option<Source> {
    let mut wrong = |message: String| {
        let help = "correct the path, from the folder of watches.yaml";
        found.push(OP482.error(message).at(runs.span.clone(), "").help(help));
        None
    };
    match &runs.source {
        Source::Role(name) => {
            let folder = format!("{}/", role_path(name));
            match is_in_collection(name) || files.keys().any(|path| path.starts_with(&folder)) {
                true => Some(Source::Role(name.clone())),
                false => wrong(format!("role `{}` not found", project.dir.join(role_path(name)).display())),
            }
        }
        Source::Playbook(path) if files.contains_key(path) => Some(Source::Playbook(path.clone())),
        Source::Playbook(path) => match project.tree.read(path) {
            Ok(Some(text)) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let target = format!("playbooks/{name}");
                if files.insert(target.clone(), text).is_some() {
                    return wrong(format!("`{target}` would be another file, too"));
                }
                let message = format!("`{path}` is `{target}` in the new project");
                let help = "correct the paths in it that are relative to its folder";
                found.push(OP483.warning(message).at(runs.span.clone(), "").help(help));
                Some(Source::Playbook(target))
            }
            Err(error) => wrong(below(&project.dir, error).to_string()),
            Ok(None) => wrong(format!("playbook `{}` not found", project.dir.join(path).display())),
        },
    }
}

/// An RBAC marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The comment.
    pub text: String,
    /// The verbs on resources; empty for URLs.
    pub verbs: Vec<String>,
}

/// Resources by group.
pub type Own = BTreeMap<String, BTreeSet<String>>;

/// RBAC markers for the rules of the operator's own role that are not derived from tasks, since tasks may need them.
/// `own` are the operator's own groups with the resources that tasks may need.
pub fn further_rules(project: &Project, rules: &Rules, own: &Own, found: &mut Vec<Diagnostic>) -> Vec<Marker> {
    let mut markers = Vec::new();
    for path in layout::ROLES {
        let Some(file) = super::read(&project.tree, path, found) else { continue };
        let documents = match yaml::documents(&file, Dialect::Kubectl) {
            Ok(documents) => documents,
            Err(error) => {
                found.push(*error);
                continue;
            }
        };
        let roles = documents.iter().filter(|it| it.text_at(&["kind"]).is_some_and(|kind| kind.ends_with("Role")));
        let before = markers.len();
        for rule in roles.flat_map(|role| role.items_at(&["rules"])) {
            markers.extend(
                unlisted_permissions(rule, rules, own)
                    .into_iter()
                    .filter(|marker| !markers.contains(marker))
                    .collect::<Vec<_>>(),
            );
        }
        if markers.len() > before {
            let message = "rules of this role were not derived from the tasks, and were imported as markers";
            let help = "they are above the first controller: remove those that no task needs";
            found.push(OP483.warning(message).at(Span { file: file.clone(), range: 0..0 }, "").help(help));
        }
    }
    markers
}

/// The verbs of requests.
pub const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// The part of a rule that is not derived from tasks, as markers.
fn unlisted_permissions(rule: &Node, rules: &Rules, own: &Own) -> Vec<Marker> {
    let texts = |key: &str| -> Vec<&str> { rule.items_at(&[key]).iter().filter_map(Node::as_text).collect() };
    let list = |items: &[&str]| items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(";");
    let mut markers = Vec::new();
    let urls = texts("nonResourceURLs");
    if !urls.is_empty() {
        let text = format!("// +kubebuilder:rbac:urls={},verbs={}", list(&urls), list(&texts("verbs")));
        markers.push(Marker { text, verbs: Vec::new() });
    }
    let (resources, verbs) = (texts("resources"), texts("verbs"));
    for group in texts("apiGroups") {
        let mut more: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
        let is_listed = |resource: &&str| resources.contains(resource) || resources.contains(&"*");
        // The wildcards of an own group are known.
        let (resources, verbs): (Vec<&str>, &[&str]) = match own.get(group) {
            Some(own) if verbs.contains(&"*") => (own.iter().map(String::as_str).filter(is_listed).collect(), &VERBS),
            Some(own) => (own.iter().map(String::as_str).filter(is_listed).collect(), &verbs),
            None => (resources.iter().copied().filter(|resource| exists(group, resource)).collect(), &verbs),
        };
        for resource in resources {
            let derived = rules.get(&(group.to_owned(), resource.to_owned()));
            let is_derived = |verb: &&str| derived.is_some_and(|derived| derived.contains(verb));
            let verbs: Vec<&str> = verbs.iter().copied().filter(|verb| !is_derived(verb)).collect();
            if !verbs.is_empty() {
                more.entry(verbs).or_default().push(resource);
            }
        }
        let group = if group.is_empty() { "core" } else { group };
        let names = texts("resourceNames");
        let names = if names.is_empty() { String::new() } else { format!(",resourceNames={}", list(&names)) };
        for (verbs, resources) in more {
            let (group, resources) = (quoted(group), list(&resources));
            markers.push(Marker {
                text: format!(
                    "// +kubebuilder:rbac:groups={group},resources={resources},verbs={}{names}",
                    list(&verbs)
                ),
                verbs: verbs.into_iter().map(str::to_owned).collect(),
            });
        }
    }
    markers
}

/// `false` if Kubernetes has the resource in another group, since a rule grants each of its resources in each of its
/// groups, or if it is the name of a kind instead of a plural, which grants nothing.
fn exists(group: &str, resource: &str) -> bool {
    let plural = resource.split('/').next().unwrap_or(resource);
    let group = if group.is_empty() { "core" } else { group };
    let has_plural = |name: &str| in_group(group).any(|builtin| builtin.plural == name);
    let is_kind = in_group(group).any(|builtin| builtin.kind.to_lowercase() == plural);
    let is_elsewhere = in_group(group).next().is_some() && with_plural(plural).next().is_some();
    let is_lowercase = !plural.contains(|letter: char| letter.is_ascii_uppercase());
    has_plural(plural) || is_lowercase && !is_kind && !is_elsewhere
}

/// Quotes a value of a marker if necessary.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/".contains(letter);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("{text:?}") }
}

/// Reports roles and folders below `config` that are not imported. Helper roles and the operator's own manifests are
/// generated by opctl.
pub fn report_configuration(project: &Project, found: &mut Vec<Diagnostic>) {
    const KNOWN: [&str; 9] = [
        "role.yaml",
        "role_binding.yaml",
        "service_account.yaml",
        "kustomization.yaml",
        "leader_election_",
        "auth_proxy_",
        "metrics_",
        "editor_role.yaml",
        "viewer_role.yaml",
    ];
    for path in project.tree.files_below("config/rbac").unwrap_or_default() {
        let name = path.trim_start_matches("config/rbac/");
        let is_known = KNOWN.iter().any(|known| match known.ends_with('_') {
            true => name.starts_with(known),
            false => name == *known || name.ends_with(&format!("_{known}")) && known.ends_with("r_role.yaml"),
        });
        if is_known || name.ends_with("_admin_role.yaml") {
            continue;
        }
        let Some(file) = super::read(&project.tree, &path, found) else { continue };
        let help =
            "copy it to config/rbac, and list it in the kustomization there, if the operator or an operand needs it";
        found.push(OP483.warning("this file was not imported").at(Span { file, range: 0..0 }, "").help(help));
    }
}

/// Reports files and collections that are not imported.
pub fn report_leftovers(project: &Project, found: &mut Vec<Diagnostic>) {
    for name in
        ["collections", "library", "filter_plugins", "action_plugins", "module_utils", "inventory", "ansible.cfg"]
    {
        if project.dir.join(name).exists() {
            let message = format!("`{}` was not imported", project.dir.join(name).display());
            found.push(OP483.warning(message).help("copy it, and add it to the Dockerfile, if it is needed"));
        }
    }
    let Some(file) = super::read(&project.tree, "requirements.yml", found) else { return };
    let documents = match yaml::documents(&file, Dialect::Kubectl) {
        Ok(documents) => documents,
        Err(error) => return found.push(*error),
    };
    for collection in documents.iter().flat_map(|document| document.items_at(&["collections"])) {
        let name = collection.as_text().or(collection.text_at(&["name"])).unwrap_or_default();
        // Each project has `kubernetes.core`, and opctl's runtime replaces `operator_sdk.util`.
        if name == "kubernetes.core" || name == "operator_sdk.util" {
            continue;
        }
        let message = format!("the collection `{name}` was not imported");
        let help = "if a role needs it, add it to requirements.yml, and its checksum to requirements.sha256: `make .venv` prints it";
        let at = Span { ..collection.span.clone() };
        found.push(OP483.warning(message).at(at, "").help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resources_that_a_group_may_have_are_granted() {
        for (group, resource, expected) in [
            ("apps", "deployments", true),
            ("apps", "deployments/scale", true),
            ("", "endpoints", true),
            ("apps", "newthings", true),
            ("example.com", "deployment", true),
            ("apps", "pods", false),
            ("apps", "deployment", false),
            ("apps", "Deployments", false),
            ("example.com", "Thing", false),
        ] {
            assert_eq!(exists(group, resource), expected, "{group} {resource}");
        }
    }

    #[test]
    fn environment_variables_become_lookups() {
        for (text, expected) in [
            ("${A}", Some("{{ lookup('env', 'A') }}")),
            ("x-$B_1/y", Some("x-{{ lookup('env', 'B_1') }}/y")),
            ("5$", None),
            ("$1", None),
            ("plain", None),
        ] {
            assert_eq!(with_lookups(text).as_deref(), expected, "{text}");
        }
    }
}
