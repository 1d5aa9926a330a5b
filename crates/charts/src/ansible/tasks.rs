//! The tasks of a role or playbook, and the possible values of their arguments, without executing anything.
//!
//! All files in `tasks` and `handlers` are included, whether or not another file includes them. A value is known if it
//! is literal, or a variable of the task, of a block or of `vars/main.yml`, or the item of a literal loop.

use std::collections::BTreeSet;

use super::expressions::{outside_of_quotes, quoted, split};
use super::{Content, Source, is_in_collection, role_path};
use crate::ansible::diagnostics::{OP484, OP486};
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Diagnostic, Span};

/// A task, block or play with the variables in scope.
pub struct Task<'a> {
    /// A mapping.
    pub node: &'a Node,
    /// The role that contains the task.
    pub role: Option<&'a str>,
    /// The `vars` mappings in scope, innermost first.
    scopes: Vec<Node>,
    /// The possible values of `item`.
    items: Option<Vec<Node>>,
}

impl Task<'_> {
    /// Names and arguments of possible module calls: `action`, and every key that is not a keyword of Ansible.
    pub fn calls(&self) -> Vec<(&str, &Span, &Node)> {
        let mut calls = Vec::new();
        for entry in self.node.entries() {
            match entry.key.as_str() {
                "action" | "local_action" => match entry.value.text_at(&["module"]) {
                    Some(module) => calls.push((module, &entry.key_span, &entry.value)),
                    None => {
                        let text = entry.value.as_text().unwrap_or_default();
                        calls.push((text.split_whitespace().next().unwrap_or_default(), &entry.key_span, &entry.value));
                    }
                },
                key if key.starts_with("with_") => {}
                key => calls.push((key, &entry.key_span, &entry.value)),
            }
        }
        calls
    }

    /// The argument of a call, by any of its names, or from `args`.
    pub fn argument(&self, arguments: &Node, names: &[&str]) -> Option<Node> {
        let given = [Some(arguments), self.node.get("args")].into_iter().flatten();
        let mut given = given.flat_map(|node| names.iter().filter_map(move |name| node.get(name).cloned()));
        given.next().or_else(|| {
            // `k8s: state=present src=web.yml`
            let text = arguments.as_text()?;
            let mut pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
            let (_, value) = pairs.find(|(key, _)| names.contains(key))?;
            Some(Node::text(value.trim_matches(['"', '\'']), arguments.span.clone()))
        })
    }

    /// The possible values; `None` if they are computed. A partly computed text is returned unchanged.
    pub fn values(&self, node: &Node) -> Option<Vec<Node>> {
        self.resolved(node, 0)
    }

    fn resolved(&self, node: &Node, depth: usize) -> Option<Vec<Node>> {
        let Some(text) = node.as_text().filter(|text| text.contains("{{") || text.contains("{%")) else {
            return Some(vec![node.clone()]);
        };
        if depth == 8 {
            return None;
        }
        let start = text.find("{{")?;
        let end = start + 2 + outside_of_quotes(&text[start + 2..], &['}']).next()? + 2;
        let expression = text.get(start + 2..end - 2)?.trim();
        let is_whole = text[..start].trim().is_empty() && text[end..].trim().is_empty();
        let mut values = Vec::new();
        for value in self.evaluated(expression, &node.span)? {
            // `{{ item }}.yml`
            let value = match is_whole {
                true => value,
                false => {
                    Node::text(format!("{}{}{}", &text[..start], scalar(&value)?, &text[end..]), node.span.clone())
                }
            };
            values.extend(self.resolved(&value, depth + 1)?);
        }
        Some(values)
    }

    /// The possible values of a Jinja expression.
    fn evaluated(&self, expression: &str, span: &Span) -> Option<Vec<Node>> {
        let parts = split(expression, &['+', '~']);
        let [part] = parts[..] else {
            let mut texts = vec![String::new()];
            for part in parts {
                let part: Vec<String> = self.evaluated(part, span)?.iter().map(scalar).collect::<Option<_>>()?;
                texts = texts.iter().flat_map(|text| part.iter().map(move |part| format!("{text}{part}"))).collect();
            }
            return Some(texts.into_iter().map(|text| Node::text(text, span.clone())).collect());
        };
        let part = part.trim();
        if let Some(text) = quoted(part) {
            return Some(vec![Node::text(text, span.clone())]);
        }
        if let Some(items) = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            let items = split(items, &[',']).into_iter().filter(|item| !item.trim().is_empty());
            let items = items.map(|item| self.evaluated(item, span)).collect::<Option<Vec<_>>>()?;
            return Some(vec![Node { value: Value::List(items.into_iter().flatten().collect()), span: span.clone() }]);
        }
        self.named(path(part)?)
    }

    /// The possible values of a path such as `item.name`.
    fn named(&self, path: &str) -> Option<Vec<Node>> {
        let mut keys = path.split('.').map(str::trim);
        let first = keys.next()?;
        let keys: Vec<&str> = keys.collect();
        if first == "item" {
            return self.items.as_ref()?.iter().map(|item| item.at(&keys).cloned()).collect();
        }
        if let ("role_path", Some(role), []) = (first, self.role, &keys[..]) {
            return Some(vec![Node::text(role_path(role), self.node.span.clone())]);
        }
        let scope = self.scopes.iter().find_map(|scope| scope.get(first))?;
        Some(vec![scope.at(&keys)?.clone()])
    }
}

/// The text, if it is a path such as `a.b`.
fn path(text: &str) -> Option<&str> {
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    text.split('.').all(is_name).then_some(text)
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Visits all tasks, blocks and plays that run, including those of the project's roles and of task files that a playbook
/// includes.
pub fn visit(content: &Content, found: &mut Vec<Diagnostic>, visitor: &mut dyn FnMut(&Task)) {
    for source in &content.sources {
        let Source::Playbook(path) = source else { continue };
        let mut open: Vec<Vec<Node>> = Vec::new();
        for play in plays(content, path, found) {
            visitor(&Task { node: &play, role: None, scopes: Vec::new(), items: None });
            open.extend(PLAY_TASKS.iter().map(|key| play.items_at(&[key]).to_vec()));
        }
        let mut known = BTreeSet::new();
        while let Some(tasks) = open.pop() {
            let mut files = Vec::new();
            walk(&tasks, None, &[], &mut |task| {
                files.extend(included_files(content, task, found));
                visitor(task);
            });
            for path in files.into_iter().filter(|path| known.insert(path.clone())) {
                let file = content.file(&path).into_iter();
                open.extend(file.flat_map(|file| content.read(file, found)).map(|document| document.items().to_vec()));
            }
        }
    }
    for role in content.roles(&mut Vec::new()) {
        let vars: Vec<Node> =
            content.main_files(&role, "vars").into_iter().flat_map(|file| content.read(file, found)).collect();
        for document in task_lists(content, &role, found) {
            walk(document.items(), Some(&role), &vars, visitor);
        }
    }
}

/// The task lists and handlers of a role. Files besides `main` may be something else, such as templates; they are
/// reported.
fn task_lists(content: &Content, role: &str, found: &mut Vec<Diagnostic>) -> Vec<Node> {
    let mut lists = Vec::new();
    for folder in ["tasks", "handlers"] {
        for file in content.yaml_below(&format!("{}/{folder}/", role_path(role))) {
            let mut problems = Vec::new();
            let documents = content.read(file, &mut problems);
            let (is_list, others): (Vec<Node>, Vec<Node>) =
                documents.into_iter().partition(|document| matches!(document.value, Value::List(_)));
            problems.extend(others.into_iter().map(|document| {
                OP486.error("expected a list of tasks").at(document.span, "").help("begin each task with `- name:`")
            }));
            let is_main = file.path.rsplit('/').next().is_some_and(|name| name.starts_with("main."));
            lists.extend(is_list);
            found.extend(problems.into_iter().map(|problem| match is_main || !problem.is_error() {
                true => problem,
                false => {
                    let message = "permissions cannot be derived: expected a list of tasks";
                    let help = format!("if a task includes it, correct it: {}", problem.message);
                    Diagnostic { span: problem.span, ..OP484.warning(message).help(help) }
                }
            }));
        }
    }
    lists
}

/// The keys of a play that contain tasks.
const PLAY_TASKS: [&str; 4] = ["pre_tasks", "tasks", "post_tasks", "handlers"];

/// The plays of a playbook, including imported playbooks.
fn plays(content: &Content, path: &str, found: &mut Vec<Diagnostic>) -> Vec<Node> {
    let (mut plays, mut open, mut known) = (Vec::new(), vec![path.to_owned()], BTreeSet::new());
    while let Some(path) = open.pop() {
        let file = content.file(&path).filter(|_| known.insert(path.clone())).into_iter();
        for document in file.flat_map(|file| content.read(file, found)).collect::<Vec<_>>() {
            let Value::List(items) = document.value else {
                let error = OP486.error("expected a list of plays");
                found.push(error.at(document.span, "").help("begin each play with `- hosts: localhost`"));
                continue;
            };
            for item in items {
                let imported =
                    ["import_playbook", "ansible.builtin.import_playbook"].iter().find_map(|key| item.get(key));
                match imported {
                    None => plays.push(item),
                    Some(name) => match name.as_text().and_then(|name| beside(content, &path, name)) {
                        Some(path) => open.push(path),
                        None => found.push(not_followed(&name.span, "playbook")),
                    },
                }
            }
        }
    }
    plays
}

/// Resolves a path relative to another file.
fn beside(content: &Content, path: &str, name: &str) -> Option<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let candidate = format!("{folder}/{}", name.trim_start_matches("./"));
    content.file(&candidate).map(|_| candidate)
}

fn not_followed(at: &Span, what: &str) -> Diagnostic {
    let message = format!("permissions cannot be derived: this {what} is computed, or not in the project");
    OP484.warning(message).at(at.clone(), "").help("add markers for what its tasks need to the controller")
}

/// The task files that a task of a playbook includes.
fn included_files(content: &Content, task: &Task, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut files = Vec::new();
    for (call, at, arguments) in task.calls() {
        let name = call.strip_prefix("ansible.builtin.").unwrap_or(call);
        if !["include_tasks", "import_tasks"].contains(&name) {
            continue;
        }
        let name = if arguments.as_text().is_some() { Some(arguments.clone()) } else { arguments.get("file").cloned() };
        let values = name.and_then(|name| task.values(&name)).unwrap_or_default();
        let paths: Vec<String> =
            values.iter().filter_map(|value| beside(content, &task.node.span.file.path, value.as_text()?)).collect();
        if paths.is_empty() || paths.len() < values.len() {
            found.push(not_followed(at, "file"));
        }
        files.extend(paths);
    }
    files
}

fn walk(tasks: &[Node], role: Option<&str>, scopes: &[Node], visitor: &mut dyn FnMut(&Task)) {
    for node in tasks {
        let scopes: Vec<Node> = node.get("vars").into_iter().chain(scopes).cloned().collect();
        if ["block", "rescue", "always"].iter().any(|part| node.get(part).is_some()) {
            visitor(&Task { node, role, scopes: scopes.clone(), items: None });
            for part in ["block", "rescue", "always"] {
                walk(node.items_at(&[part]), role, &scopes, visitor);
            }
            continue;
        }
        let mut task = Task { node, role, scopes, items: None };
        let list = ["loop", "with_items", "with_list"].iter().find_map(|key| node.get(key));
        // Each item may be a variable with a list.
        let lists = list.and_then(|list| task.values(list));
        let items = lists.filter(|lists| lists.iter().all(|list| matches!(list.value, Value::List(_))));
        task.items = items.map(|lists| lists.iter().flat_map(Node::items).cloned().collect());
        visitor(&task);
    }
}

/// The roles in the plays of a playbook.
pub fn roles_of_playbook(content: &Content, path: &str, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut roles = Vec::new();
    for play in plays(content, path, &mut Vec::new()) {
        for role in play.items_at(&["roles"]) {
            roles.extend(role.as_text().or(role.text_at(&["role"])).or(role.text_at(&["name"])).map(str::to_owned));
        }
        for key in PLAY_TASKS {
            walk(play.items_at(&[key]), None, &[], &mut |task| roles.extend(included(content, task, found)));
        }
    }
    roles
}

/// The roles that a role depends on or includes.
pub fn roles_of_role(content: &Content, role: &str, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut roles = Vec::new();
    for file in content.main_files(role, "meta") {
        for document in content.read(file, &mut Vec::new()) {
            for role in document.items_at(&["dependencies"]) {
                roles.extend(role.as_text().or(role.text_at(&["role"])).or(role.text_at(&["name"])).map(str::to_owned));
            }
        }
    }
    for document in task_lists(content, role, &mut Vec::new()) {
        walk(document.items(), Some(role), &[], &mut |task| roles.extend(included(content, task, found)));
    }
    roles
}

/// The roles that a task includes.
fn included(content: &Content, task: &Task, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut roles = Vec::new();
    for (call, at, arguments) in task.calls() {
        let name = call.strip_prefix("ansible.builtin.").unwrap_or(call);
        if !["include_role", "import_role"].contains(&name) {
            continue;
        }
        let name = task.argument(arguments, &["name", "role"]);
        let values = name.as_ref().and_then(|name| task.values(name));
        let matching = name.as_ref().and_then(Node::as_text).map(|name| matching(content, name)).unwrap_or_default();
        match values {
            Some(values) => roles.extend(values.iter().filter_map(Node::as_text).map(str::to_owned)),
            None if !matching.is_empty() => roles.extend(matching),
            None => {
                let message = "the role that this task includes is computed, so its permissions cannot be derived";
                let help = "write its name, or add markers for what it needs to the controller";
                found.push(OP484.warning(message).at(at.clone(), "").help(help));
            }
        }
    }
    roles
}

/// The roles of the project that a templated name can match, such as `{{ version }}/deploy`, by its literal parts.
fn matching(content: &Content, name: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = name.trim();
    while let Some((before, after)) = rest.split_once("{{") {
        literals.push(before);
        let Some((_, after)) = after.split_once("}}") else { return Vec::new() };
        rest = after;
    }
    literals.push(rest);
    if literals.iter().all(|literal| literal.is_empty()) {
        return Vec::new();
    }
    let is_it = |role: &&str| {
        let Some((first, others)) = literals.split_first() else { return false };
        let Some(mut rest) = role.strip_prefix(first) else { return false };
        others.iter().enumerate().all(|(number, literal)| match number + 1 == others.len() {
            true => rest.ends_with(literal),
            false => rest.find(literal).inspect(|at| rest = &rest[at + literal.len()..]).is_some(),
        })
    };
    content.role_names().into_iter().filter(is_it).map(str::to_owned).collect()
}

/// Roles that run but are neither in the project nor in a collection.
pub fn missing_roles(content: &Content) -> Vec<String> {
    let roles = content.roles(&mut Vec::new());
    roles.into_iter().filter(|role| !content.has_role(role) && !is_in_collection(role)).collect()
}
