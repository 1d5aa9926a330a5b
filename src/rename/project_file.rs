//! Renames in PROJECT: replaces names in place, so that the rest of the file does not change.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Target;
use crate::api::list;
use crate::error::{SourceErrors, UserError};
use opctl_kustomize::yaml::{self, Dialect, Entry, Node, Value};
use opctl_model::diagnostic::SourceFile;
use opctl_model::names::Group;
use opctl_model::project::{Origin, PROJECT, ProjectFile, Resource};

/// The text of PROJECT with the new names, and its content.
///
/// # Errors
///
/// If the target does not exist, already has the name, or the new name is taken.
pub fn rename(target: &Target, text: &str, file: &ProjectFile) -> anyhow::Result<(String, ProjectFile)> {
    let is_renamed = |resource: &Resource| {
        resource.origin == Origin::Own
            && match target {
                Target::Kind { group, kind, .. } => resource.group == *group && resource.kind == *kind,
                Target::Group { group, .. } => resource.group == *group,
                Target::Domain(_) => true,
                Target::Project(_) => false,
            }
    };
    refuse_unknown(target, file, &is_renamed)?;
    let source = SourceFile::new(PROJECT, text);
    let documents = yaml::documents(&source, Dialect::Kubectl).map_err(|error| SourceErrors::from(vec![*error]))?;
    let root = documents.first().ok_or_else(|| UserError::new("PROJECT is empty"))?;
    let mut changes = Changes { text, found: BTreeMap::new() };
    match target {
        Target::Domain(to) => changes.set(root.get("domain"), file.domain.as_str(), to.as_str()),
        Target::Project(to) => changes.set(root.get("projectName"), file.name.as_str(), to.as_str()),
        Target::Kind { .. } | Target::Group { .. } => {}
    }
    for (entry, resource) in root.items_at(&["resources"]).iter().zip(&file.resources) {
        if let Target::Kind { group, kind, to, .. } = target {
            changes.references(entry.get("options"), &(group, kind.as_str()), &(group, to.as_str()));
        }
        if let Target::Group { group, to } = target {
            let kinds =
                file.resources.iter().filter(|resource| is_renamed(resource)).map(|resource| resource.kind.as_str());
            for kind in kinds {
                changes.references(entry.get("options"), &(group, kind), &(to, kind));
            }
        }
        if !is_renamed(resource) {
            continue;
        }
        if resource.is_of_macro() {
            let Resource { kind, version, .. } = resource;
            return Err(UserError::new(format!("a macro makes `{kind}` {version}, so opctl cannot rename it"))
                .help("change the name in the source and in PROJECT by hand, then run `opctl manifests`")
                .into());
        }
        match target {
            Target::Kind { kind, to, plural, .. } => {
                changes.set(entry.get("kind"), kind.as_str(), to.as_str());
                if let Some(module) = resource.path.strip_suffix(kind.as_str()).filter(|_| resource.is_adopted()) {
                    changes.set(entry.get("path"), &resource.path, &format!("{module}{to}"));
                }
                let plural = plural.clone().filter(|plural| *plural != to.plural());
                changes.plural(entry, resource, plural.as_ref().map(|plural| plural.as_str()));
                let copied = entry.get("options").map_or(&[][..], |options| options.items_at(&["copied"]));
                for item in copied {
                    let path = item.as_text().unwrap_or_default();
                    if let Some(below) = path.strip_prefix(&format!("{}/", kind.module())) {
                        changes.set(Some(item), path, &format!("{}/{below}", to.module()));
                    }
                }
            }
            Target::Group { group, to } => {
                changes.set(entry.get("group"), group.as_str(), to.as_str());
                if !resource.is_adopted() {
                    let path = format!("crate::api::{}::{}", to.module(), resource.version);
                    changes.set(entry.get("path"), &resource.path, &path);
                }
            }
            Target::Domain(to) => changes.set(entry.get("domain"), file.domain.as_str(), to.as_str()),
            Target::Project(_) => {}
        }
    }
    let text = changes.apply();
    let new = ProjectFile::parse(&text).map_err(SourceErrors::from)?;
    refuse_taken(file, &new, &is_renamed)?;
    Ok((text, new))
}

fn refuse_unknown(
    target: &Target,
    file: &ProjectFile,
    is_renamed: &dyn Fn(&Resource) -> bool,
) -> Result<(), UserError> {
    let own = || file.resources.iter().filter(|resource| resource.origin == Origin::Own);
    let (is_same, name) = match target {
        Target::Kind { kind, to, plural, .. } => (kind == to && plural.is_none(), to.to_string()),
        Target::Group { group, to } => (group == to, to.to_string()),
        Target::Domain(to) => (*to == file.domain, to.to_string()),
        Target::Project(to) => (*to == file.name, to.to_string()),
    };
    if is_same {
        return Err(UserError::new(format!("it is already called `{name}`")).help("give another one with `--to`"));
    }
    let is_known = own().any(is_renamed);
    match target {
        Target::Kind { group, kind, .. } if !is_known => {
            let refusal =
                UserError::new(format!("the project does not define the kind `{kind}` in the group `{group}`"));
            Err(own().fold(refusal, |refusal, Resource { group, kind, .. }| {
                let help = format!("it has `--group {group} --kind {kind}`");
                if refusal.help.contains(&help) { refusal } else { refusal.help(help) }
            }))
        }
        Target::Group { group, .. } if !is_known => {
            let refusal = UserError::new(format!("the project defines no kinds in the group `{group}`"));
            Err(match own().next() {
                Some(_) => {
                    refusal.help(format!("its groups are {}", list(own().map(|resource| resource.group.as_str()))))
                }
                None => refusal,
            })
        }
        _ => Ok(()),
    }
}

/// Refuses the name of another kind, because both would become one kind.
fn refuse_taken(
    file: &ProjectFile,
    new: &ProjectFile,
    is_renamed: &dyn Fn(&Resource) -> bool,
) -> Result<(), UserError> {
    let pairs = || file.resources.iter().zip(&new.resources);
    for (_, new) in pairs().filter(|(old, _)| is_renamed(old)) {
        if pairs().any(|(old, other)| !is_renamed(old) && other.is_same_kind(new)) {
            let message = format!("the project has a kind `{}` in the group `{}` already", new.kind, new.full_group());
            return Err(UserError::new(message).help("choose another name"));
        }
    }
    Ok(())
}

struct Changes<'a> {
    text: &'a str,
    found: BTreeMap<usize, (Range<usize>, String)>,
}

impl Changes<'_> {
    /// Replaces a scalar, and keeps its quotes.
    fn set(&mut self, node: Option<&Node>, old: &str, new: &str) {
        let Some(node) = node.filter(|node| node.as_text() == Some(old)) else { return };
        let range = node.span.range.clone();
        let raw = &self.text[range.clone()];
        let is_word =
            ["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&new.to_lowercase().as_str());
        let renamed = if raw == old && is_word { format!("{new:?}") } else { raw.replacen(old, new, 1) };
        self.found.insert(range.start, (range, renamed));
    }

    /// Replaces `group/version/kind` in all options.
    fn references(&mut self, node: Option<&Node>, old: &(&Group, &str), new: &(&Group, &str)) {
        let Some(node) = node else { return };
        match &node.value {
            Value::Text(text) => {
                let version = text
                    .strip_prefix(&format!("{}/", old.0))
                    .and_then(|rest| rest.strip_suffix(&format!("/{}", old.1)));
                if let Some(version) = version {
                    self.set(Some(node), text, &format!("{}/{version}/{}", new.0, new.1));
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.references(Some(item), old, new)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.references(Some(&entry.value), old, new)),
            _ => {}
        }
    }

    /// Sets, adds or removes the plural. PROJECT contains only irregular plurals.
    fn plural(&mut self, entry: &Node, resource: &Resource, new: Option<&str>) {
        let line = |at: usize| self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = |at: usize| self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1);
        let field = |key: &str| entry.entries().iter().find(|entry| entry.key == key);
        let is_flow = self.text[entry.span.range.clone()].starts_with('{');
        match (field("plural"), new) {
            (Some(Entry { value, .. }), Some(new)) => {
                let old = resource.plural().to_string();
                self.set(Some(value), &old, new);
            }
            (Some(Entry { key_span, value, .. }), None) => {
                let (start, stop) = (key_span.range.start, value.span.range.end);
                let range = match is_flow {
                    // Includes the comma before or after it.
                    true => match self.text[..start].trim_end().strip_suffix(',') {
                        Some(before) => before.len()..stop,
                        None => start..stop + self.text[stop..].find(',').map_or(0, |comma| comma + 1),
                    },
                    false => line(start)..end(stop),
                };
                self.found.insert(range.start, (range, String::new()));
            }
            (None, Some(new)) => {
                if let Some(Entry { key_span, value, .. }) = field("path").or_else(|| field("kind")) {
                    let (start, stop) = (key_span.range.start, value.span.range.end);
                    let (at, text) = match is_flow {
                        true => (stop, format!(", plural: {new}")),
                        false => (end(stop), format!("{}plural: {new}\n", " ".repeat(start - line(start)))),
                    };
                    self.found.insert(at, (at..at, text));
                }
            }
            (None, None) => {}
        }
    }

    fn apply(self) -> String {
        let mut text = self.text.to_owned();
        for (range, new) in self.found.into_values().rev() {
            text.replace_range(range, &new);
        }
        text
    }
}
