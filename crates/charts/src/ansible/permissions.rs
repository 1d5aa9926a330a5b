//! Derives RBAC markers for the permissions of the tasks of a role or playbook.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::expressions::{outside_of_quotes, quoted, split};
use super::modules::{Module, module, verbs_of_state};
use super::tasks::{self, Task};
use super::{Content, is_in_collection, role_path};
use crate::ansible::diagnostics::{OP484, OP488, OP492};
use crate::spec::{Known, group, written};
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Diagnostic, Span};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The markers, with comments.
    pub text: String,
    pub rules: Rules,
}

/// Verbs by group and resource.
pub type Rules = BTreeMap<(String, String), BTreeSet<&'static str>>;

/// The permissions of all tasks. Those that cannot be derived are added to `found` as warnings, and listed in the text.
pub fn permissions(content: &Content, known: &Known, found: &mut Vec<Diagnostic>) -> Permissions {
    let mut deriver = Deriver { content, known, rules: Rules::new(), files: BTreeMap::new(), unclear: Vec::new() };
    let mut others = Vec::new();
    tasks::visit(content, &mut others, &mut |task| deriver.task(task));
    let mut unclear = deriver.unclear;
    let (followed, others) = others.into_iter().partition(|it| it.code == OP484);
    unclear.extend::<Vec<_>>(followed);
    found.extend::<Vec<_>>(others);
    for role in content.roles(&mut unclear) {
        if is_in_collection(&role) && !content.has_role(&role) {
            let message = format!("the role `{role}` is not in the project, so its permissions cannot be derived");
            unclear.push(OP484.warning(message).help(format!("add markers to the controller, such as {MARKER}")));
        }
    }
    let text = print(&deriver.rules, &deriver.files, &unclear);
    found.extend(unclear);
    Permissions { text, rules: deriver.rules }
}

/// The marker that users complete.
const MARKER: &str = "`// +kubebuilder:rbac:groups=GROUP,resources=PLURAL,verbs=create;get;list;patch;watch`";

struct Deriver<'a> {
    content: &'a Content,
    known: &'a Known,
    rules: Rules,
    /// The files that need each resource.
    files: BTreeMap<(String, String), BTreeSet<String>>,
    unclear: Vec<Diagnostic>,
}

/// Arguments of modules with which they do not use the kubeconfig of the run.
const OF_MODULES: [&str; 5] = ["kubeconfig", "host", "api_key", "username", "client_cert"];
/// The same for environment variables, which kubectl and helm also read.
const OF_ENVIRONMENT: [&str; 5] =
    ["KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST", "K8S_AUTH_API_KEY", "K8S_AUTH_USERNAME"];

impl Deriver<'_> {
    fn task(&mut self, task: &Task) {
        if let Some(environment) = task.node.get("environment") {
            self.own_credentials(environment, &OF_ENVIRONMENT);
        }
        for defaults in task.node.get("module_defaults").into_iter().flat_map(Node::entries) {
            let short = defaults.key.rsplit(['.', '/']).next().unwrap_or_default();
            if ["k8s", "helm"].contains(&short) || module(&defaults.key).is_some_and(Module::has_credentials) {
                self.own_credentials(&defaults.value, &OF_MODULES);
            }
        }
        for (name, at, arguments) in task.calls() {
            let Some(module) = module(name) else { continue };
            if module.has_credentials() {
                self.own_credentials(arguments, &OF_MODULES);
            }
            match module {
                Module::Apply => self.apply(task, at, arguments),
                Module::OnKind(verbs) => self.on_kind(task, at, arguments, None, verbs),
                Module::OnSubresource(part, verbs) => self.on_kind(task, at, arguments, Some(part), verbs),
                Module::Fixed(rules) => {
                    rules.iter().for_each(|(group, resource, verbs)| self.grant(group, resource, verbs, at));
                }
                Module::Opaque => self.unclear(at, &format!("the requests of `{name}` are not in its arguments")),
                Module::Status => self.status(task, at, arguments),
                Module::WithoutEffect(why) => {
                    let message = format!("`{name}` has an effect in operator-sdk only");
                    self.unclear.push(OP488.warning(message).at(at.clone(), "").help(why));
                }
                Module::Removed(instead) => {
                    let message = format!("`{name}` was removed from Ansible, and a run that gets to this task fails");
                    let help = format!("use `{instead}`");
                    self.unclear.push(OP488.warning(message).at(at.clone(), "").help(help));
                }
                Module::Command => {
                    let text = arguments.as_text().or(arguments.text_at(&["cmd"])).unwrap_or_default();
                    let mut words = text.split(|letter: char| letter.is_whitespace() || "|;&()`".contains(letter));
                    if let Some(program) = words.find(|word| ["kubectl", "oc", "helm", "kustomize"].contains(word)) {
                        self.unclear(at, &format!("`{program}` makes requests that depend on the command"));
                    }
                }
            }
        }
        self.lookups(task.node);
    }

    /// Reports keys of a mapping with credentials for the API server.
    fn own_credentials(&mut self, node: &Node, names: &[&str]) {
        for entry in node.entries().iter().filter(|entry| names.contains(&entry.key.as_str())) {
            let message = format!("`{}`: objects created with other credentials get no owner", entry.key);
            let help = "remove it: a run has the credentials of the operator; for another cluster, delete its objects in a finalizer";
            let warning = OP492.warning(message).at(entry.key_span.clone(), "").help(help);
            if !self.unclear.contains(&warning) {
                self.unclear.push(warning);
            }
        }
    }

    /// `lookup('kubernetes.core.k8s', …)` in the texts of a task.
    fn lookups(&mut self, node: &Node) {
        match &node.value {
            Value::Text(text) => {
                for call in calls(text) {
                    // Discovery, which `cluster_info` asks for, is open to everyone.
                    if call.plugin.rsplit('.').next() != Some("k8s") || call.named("cluster_info").is_some() {
                        continue;
                    }
                    match (call.named("kind"), call.named("api_version")) {
                        (Some(kind), version) => {
                            self.grant_kind(&group(version.unwrap_or("v1")), kind, None, &["get", "list"], &node.span);
                        }
                        (None, _) => self.unclear(&node.span, "the kind of this lookup is not written in it"),
                    }
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.lookups(item)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.lookups(&entry.value)),
            _ => {}
        }
    }

    fn apply(&mut self, task: &Task, at: &Span, arguments: &Node) {
        let state = match task.argument(arguments, &["state"]) {
            Some(state) => match task.values(&state).as_deref() {
                Some([state]) => state.as_text().map(str::to_owned),
                _ => None,
            },
            None => Some("present".into()),
        };
        let mut verbs = verbs_of_state(state.as_deref()).to_vec();
        if task.argument(arguments, &["force"]).is_some_and(|force| force.json() != Json::Bool(false)) {
            verbs.push("update");
        }
        let lists = ["delete_all", "label_selectors"];
        if state.as_deref().is_none_or(|state| state == "absent")
            && lists.iter().any(|name| task.argument(arguments, &[name]).is_some())
        {
            verbs.push("list");
        }
        let mut is_given = false;
        if let Some(definition) = task.argument(arguments, &["definition", "resource_definition", "inline"]) {
            is_given = true;
            self.definition(task, &definition, arguments, &verbs);
        }
        for (name, folder) in [("src", "files"), ("template", "templates")] {
            let Some(path) = task.argument(arguments, &[name]) else { continue };
            is_given = true;
            let paths = match &path.value {
                Value::List(items) => items.to_vec(),
                Value::Map(_) => path.get("path").into_iter().cloned().collect(),
                _ => vec![path.clone()],
            };
            for path in paths {
                let path = path.get("path").cloned().unwrap_or(path);
                self.file(task, &path, folder, &verbs);
            }
        }
        if !is_given {
            self.on_kind(task, at, arguments, None, &verbs);
        }
    }

    /// Objects, or a text that contains them.
    fn definition(&mut self, task: &Task, node: &Node, arguments: &Node, verbs: &[&'static str]) {
        let Some(values) = task.values(node) else { return self.text(task, node, verbs) };
        for value in &values {
            match &value.value {
                Value::List(items) => items.iter().for_each(|item| self.definition(task, item, arguments, verbs)),
                Value::Map(_) => {
                    let own = |key: &str, names: &[&str]| value.get(key).cloned().or(task.argument(arguments, names));
                    let (kind, version) =
                        (own("kind", &["kind"]), own("apiVersion", &["api_version", "api", "version"]));
                    match (kind, value.get("items")) {
                        (Some(kind), Some(items)) if kind.as_text().is_some_and(|kind| kind.ends_with("List")) => {
                            items.items().iter().for_each(|item| self.definition(task, item, arguments, verbs));
                        }
                        (kind, _) => self.kinds(task, kind, version, None, verbs, &value.span),
                    }
                }
                _ => self.text(task, value, verbs),
            }
        }
    }

    /// A text with YAML, or with a `lookup` that reads a file.
    fn text(&mut self, task: &Task, node: &Node, verbs: &[&'static str]) {
        let text = node.as_text().unwrap_or_default();
        let mut is_clear = false;
        for call in calls(text) {
            let folder = match call.plugin.trim_start_matches("ansible.builtin.") {
                "template" => "templates",
                "file" => "files",
                _ => continue,
            };
            is_clear = true;
            let path = call.arguments.first().copied().unwrap_or_default();
            self.file(task, &Node::text(format!("{{{{ {path} }}}}"), node.span.clone()), folder, verbs);
        }
        if !is_clear && !self.objects(text, verbs, &node.span) {
            self.unclear(&node.span, "the objects of this definition are computed");
        }
    }

    /// A file or template that contains objects.
    fn file(&mut self, task: &Task, path: &Node, folder: &str, verbs: &[&'static str]) {
        let paths = task.values(path).filter(|paths| paths.iter().all(|path| path.as_text().is_some()));
        let Some(paths) = paths else { return self.unclear(&path.span, "the path of this file is computed") };
        for path in paths.iter().filter_map(Node::as_text) {
            let bases: Vec<String> = match task.role {
                Some(role) => {
                    let role = role_path(role);
                    vec![format!("{role}/{folder}/"), format!("{role}/"), format!("{role}/tasks/"), String::new()]
                }
                None => vec![format!("playbooks/{folder}/"), "playbooks/".into(), String::new()],
            };
            let file = bases.iter().find_map(|base| self.content.file(&joined(base, path)?)).cloned();
            let place = &paths[0].span;
            match file {
                None => self.unclear(place, &format!("file `{path}` not found")),
                Some(file) => {
                    let at = Span { file: file.clone(), range: 0..0 };
                    if !self.objects(&file.text, verbs, &at) {
                        self.unclear(place, &format!("the kinds in `{}` are computed", file.path));
                    }
                }
            }
        }
    }

    /// Grants the kinds in a text with templates. Returns `true` if it contains any.
    fn objects(&mut self, text: &str, verbs: &[&'static str], at: &Span) -> bool {
        let found = written(text);
        for it in &found {
            let groups: Vec<String> = match &it.group {
                Some(group) => vec![group.clone()],
                None => self.known.groups(&it.kind).map(str::to_owned).collect(),
            };
            if groups.is_empty() {
                self.unclear(at, &format!("the group of the kind `{}` is computed", it.kind));
            }
            groups.iter().for_each(|group| self.grant_kind(group, &it.kind, None, verbs, at));
        }
        !found.is_empty()
    }

    /// Handles a module that writes a status. A computed kind is assumed to be that of the run's object: roles read it
    /// from their defaults.
    fn status(&mut self, task: &Task, at: &Span, arguments: &Node) {
        let names = [&["api_version", "api", "version"][..], &["kind"]];
        let is_literal = |names: &[&str]| task.argument(arguments, names).is_some_and(|it| task.values(&it).is_some());
        if names.into_iter().all(is_literal) {
            self.on_kind(task, at, arguments, None, &["list"]);
            self.on_kind(task, at, arguments, Some("status"), &["patch"]);
        }
    }

    /// Grants the kind in the arguments of a call.
    fn on_kind(&mut self, task: &Task, at: &Span, arguments: &Node, part: Option<&str>, verbs: &[&'static str]) {
        let version = task.argument(arguments, &["api_version", "api", "version"]);
        let kind = task.argument(arguments, &["kind"]);
        self.kinds(task, kind, version, part, verbs, at);
    }

    fn kinds(
        &mut self,
        task: &Task,
        kind: Option<Node>,
        version: Option<Node>,
        part: Option<&str>,
        verbs: &[&'static str],
        at: &Span,
    ) {
        let texts = |node: &Node| -> Option<Vec<String>> {
            task.values(node)?.iter().map(|value| value.as_text().map(str::to_owned)).collect()
        };
        let Some(kind) = kind else { return self.unclear(at, "this task does not name a kind") };
        let Some(kinds) = texts(&kind) else { return self.unclear(&kind.span, "the kind is computed") };
        let versions = match &version {
            None => vec!["v1".to_owned()],
            Some(version) => match texts(version) {
                Some(versions) => versions,
                None => return self.unclear(&version.span, "the `apiVersion` is computed"),
            },
        };
        // Kinds and versions of a loop's items belong together.
        let is_paired = kinds.len() == versions.len();
        for (number, kind) in kinds.iter().enumerate() {
            let versions = if is_paired { &versions[number..=number] } else { &versions[..] };
            versions.iter().for_each(|version| self.grant_kind(&group(version), kind, part, verbs, at));
        }
    }

    fn grant_kind(&mut self, group: &str, kind: &str, part: Option<&str>, verbs: &[&'static str], at: &Span) {
        if group == "rbac.authorization.k8s.io" && verbs.contains(&"create") {
            self.unclear(at, &format!("a `{kind}` grants permissions, and the operator must have them itself"));
        }
        match self.known.plural(group, kind).map(str::to_owned) {
            Some(plural) => match part {
                Some(part) => {
                    if part != "status" {
                        self.grant(group, &plural, &["get"], at);
                    }
                    self.grant(group, &format!("{plural}/{part}"), verbs, at);
                }
                None => self.grant(group, &plural, verbs, at),
            },
            None => {
                let group = if group.is_empty() { "core" } else { group };
                self.unclear(at, &format!("the plural of the kind `{kind}` in the group `{group}` is not known"));
            }
        }
    }

    fn grant(&mut self, group: &str, resource: &str, verbs: &[&'static str], at: &Span) {
        let key = (group.to_owned(), resource.to_owned());
        self.files.entry(key.clone()).or_default().insert(at.file.path.clone());
        self.rules.entry(key).or_default().extend(verbs);
    }

    fn unclear(&mut self, at: &Span, why: &str) {
        let message = format!("permissions cannot be derived: {why}");
        let diagnostic = OP484.warning(message).at(at.clone(), "");
        let diagnostic = diagnostic.help(format!("add a marker for it to the controller, such as {MARKER}"));
        if !self.unclear.contains(&diagnostic) {
            self.unclear.push(diagnostic);
        }
    }
}

/// A path from a folder, which may begin with `..`; `None` if it leads out of the project.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A call of a lookup plugin.
struct Call<'a> {
    plugin: &'a str,
    /// The expressions after its name.
    arguments: Vec<&'a str>,
}

impl Call<'_> {
    /// A keyword argument, such as `kind='Deployment'`.
    fn named(&self, name: &str) -> Option<&str> {
        let value = self.arguments.iter().find_map(|argument| {
            let (key, value) = argument.split_once('=')?;
            (key.trim() == name).then_some(value.trim())
        });
        quoted(value?)
    }
}

/// The calls of lookup plugins: `lookup('template', 'web.yml')`, `query` and `q`.
fn calls(text: &str) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    for name in ["lookup(", "query(", "q("] {
        for (at, _) in text.match_indices(name) {
            if text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
                continue;
            }
            let inside = &text[at + name.len()..];
            let inside = &inside[..outside_of_quotes(inside, &[')']).next().unwrap_or(inside.len())];
            let mut arguments = split(inside, &[',']).into_iter().map(str::trim);
            let Some(plugin) = arguments.next().and_then(quoted) else { continue };
            calls.push(Call { plugin, arguments: arguments.collect() });
        }
    }
    calls
}

/// Prints the markers. Rules of the same files share a comment; underivable permissions follow.
fn print(rules: &Rules, files: &BTreeMap<(String, String), BTreeSet<String>>, unclear: &[Diagnostic]) -> String {
    let mut resources: BTreeMap<(String, &str, String), Vec<&str>> = BTreeMap::new();
    for (key @ (group, resource), verbs) in rules {
        let files = files[key].iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let verbs = verbs.iter().copied().collect::<Vec<_>>().join(";");
        resources.entry((files, group, verbs)).or_default().push(resource);
    }
    let (mut text, mut last) = (String::new(), "");
    for ((files, group, verbs), resources) in &resources {
        if files != last {
            text += &format!("\n// {files}\n");
            last = files;
        }
        let group = if group.is_empty() { "core" } else { group };
        text += &format!("// +kubebuilder:rbac:groups={group},resources={},verbs={verbs}\n", resources.join(";"));
    }
    let unclear: Vec<_> = unclear.iter().filter(|it| it.code == OP484).collect();
    if !unclear.is_empty() {
        text += "\n// Not derived; add markers for these to the controller:\n";
        for diagnostic in unclear {
            let place = diagnostic.span.as_ref().map(|(span, _)| format!("{span}: ")).unwrap_or_default();
            let message = diagnostic.message.trim_start_matches("permissions cannot be derived: ");
            text += &format!("// {place}{message}\n");
        }
    }
    text
}
