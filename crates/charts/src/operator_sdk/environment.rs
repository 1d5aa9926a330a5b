//! The environment of an operator-sdk operator: `ENV` in its Dockerfile, and `env` in its Deployment.

use std::sync::Arc;

use serde_json::{Value, json};

use super::diagnostics::OP483;
use super::{Project, read};
use opctl_kustomize::yaml::{self, Dialect};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};

/// Variables that the new project sets itself or does not use.
const OTHERS: [&str; 12] = [
    "ANSIBLE_DEBUG_LOGS",
    "ANSIBLE_GATHERING",
    "ANSIBLE_LOCAL_TEMP",
    "ANSIBLE_VERBOSITY",
    "HOME",
    "OPERATOR",
    "OPERATOR_NAME",
    "POD_NAME",
    "POD_NAMESPACE",
    "USER_NAME",
    "WATCHES_FILE",
    "WATCH_NAMESPACE",
];

/// The entries of `env` for the new Deployment, as JSON, with unique names. Values that a build replaces are reported.
pub fn variables(project: &Project, found: &mut Vec<Diagnostic>) -> Vec<Value> {
    let mut variables: Vec<Value> = Vec::new();
    for path in ["config/manager/manager.yaml", "deploy/operator.yaml"] {
        let Some(file) = read(&project.tree, path, found) else { continue };
        let Ok(documents) = yaml::documents(&file, Dialect::Kubectl) else { continue };
        let containers = documents.iter().flat_map(|it| it.items_at(&["spec", "template", "spec", "containers"]));
        for entry in containers.flat_map(|container| container.items_at(&["env"])) {
            if let Some(name) = entry.text_at(&["name"]) {
                let value = entry.text_at(&["value"]).unwrap_or_default();
                add(&mut variables, (name, value), entry.json(), &entry.span, found);
            }
        }
    }
    for path in ["Dockerfile", "build/Dockerfile"] {
        let Some(file) = read(&project.tree, path, found) else { continue };
        for (range, line) in instructions(&file.text) {
            let Some(rest) = line.strip_prefix("ENV ") else { continue };
            let span = Span { file: file.clone(), range };
            for (name, value) in pairs(rest) {
                add(&mut variables, (&name, &value), json!({ "name": name, "value": value }), &span, found);
            }
        }
    }
    variables
}

/// Adds an entry, unless its value is a placeholder that a build replaces: `$NAME` or `${NAME}` is text to Kubernetes.
fn add(
    variables: &mut Vec<Value>,
    (name, value): (&str, &str),
    entry: Value,
    span: &Span,
    found: &mut Vec<Diagnostic>,
) {
    if OTHERS.contains(&name) || variables.iter().any(|it| it["name"] == name) {
        return;
    }
    if value.contains('$') && !value.contains("$(") {
        let message = format!("the variable `{name}` was not imported: a build fills in its value, `{value}`");
        let help = "if a role needs it, add it with its value to `env` in config/manager/manager.yaml";
        found.push(OP483.warning(message).at(span.clone(), "").help(help));
        return;
    }
    variables.push(entry);
}

/// Reports instructions of the Dockerfile that the new image lacks.
pub fn report_instructions(project: &Project, found: &mut Vec<Diagnostic>) {
    for path in ["Dockerfile", "build/Dockerfile"] {
        let Some(file) = read(&project.tree, path, found) else { continue };
        report(&file, found);
    }
}

fn report(file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) {
    const KNOWN: [&str; 6] = ["roles", "playbook", "watches", "requirements", "ansible-galaxy", "dnf update"];
    for (range, line) in instructions(&file.text) {
        let is_step = ["RUN ", "COPY ", "ADD "].iter().any(|name| line.starts_with(name));
        if is_step && !KNOWN.iter().any(|known| line.contains(known)) {
            let at = Span { file: file.clone(), range };
            let help = "add it to the Dockerfile of the project, if a role needs it";
            found.push(OP483.warning("this step of the image was not imported").at(at, "").help(help));
        }
    }
}

/// The instructions of a Dockerfile in one line each, with the place of the first.
fn instructions(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut instructions: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let (mut start, mut continues) = (0, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let range = start..start + line.trim_end().len();
        start += line.len();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let part = trimmed.trim_end_matches('\\').trim();
        match instructions.last_mut().filter(|_| continues) {
            Some((_, whole)) => {
                whole.push(' ');
                whole.push_str(part);
            }
            None => instructions.push((range, part.to_owned())),
        }
        continues = trimmed.ends_with('\\');
    }
    instructions
}

/// Parses `A=1 B="x y"`, or `A 1`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let (name, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if !name.contains('=') {
        return vec![(name.to_owned(), value.trim().to_owned())];
    }
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let quote = after.chars().next().filter(|first| "'\"".contains(*first));
        let inside = if quote.is_some() { &after[1..] } else { after };
        let end = inside.find(|letter: char| quote.map_or(letter.is_whitespace(), |quote| letter == quote));
        let end = end.unwrap_or(inside.len());
        pairs.push((name.to_owned(), inside[..end].to_owned()));
        rest = inside[end..].trim_start_matches(['\'', '"']).trim_start();
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_dockerfile() {
        let text = "FROM x\nENV A=1 \\\n    B=\"x y\"\n# no\nENV C z w\n";
        let all: Vec<_> =
            instructions(text).iter().filter_map(|(_, it)| Some(pairs(it.strip_prefix("ENV ")?))).collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(all, [vec![pair("A", "1"), pair("B", "x y")], vec![pair("C", "z w")]]);
    }
}
