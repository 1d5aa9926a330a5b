//! Questions about names, and the selection of a kind of the project.

use super::Console;
use super::console::Question;
use opctl_edit::plan::Mode;
use opctl_model::project::{ProjectFile, Resource};

pub const GROUP: Question =
    Question::new("Group, e.g. cache", "the API group without the project's domain: `cache` of `cache.example.com`");
pub const VERSION: Question =
    Question::new("Version", "v1alpha1 while the API may change in any way, v1 once it is stable").or("v1alpha1");
pub const KIND: Question = Question::new("Kind, e.g. Memcached", "the name of the type in the singular, in CamelCase");

/// Lets the user select one of the entries of PROJECT that match the given names. `other` is a further item for kinds
/// that are not in the project. Returns `true` if an entry was selected.
pub fn choose_resource(
    names: [&mut Option<String>; 3],
    other: Option<&str>,
    file: &ProjectFile,
    console: &Console,
) -> anyhow::Result<bool> {
    let fits = |resource: &&Resource| {
        names.iter().zip(of(resource)).all(|(name, own)| name.as_ref().is_none_or(|name| *name == own))
    };
    let resources: Vec<&Resource> = file.resources.iter().filter(fits).collect();
    if names.iter().all(|name| name.is_some()) || resources.is_empty() {
        return Ok(false);
    }
    let items = resources.iter().map(|it| format!("{}/{} {}", it.group, it.version, it.kind));
    let items: Vec<String> = items.chain(other.map(String::from)).collect();
    // A given kind with one entry leaves no choice.
    let is_clear = names[2].is_some() && resources.len() == 1;
    let chosen = if is_clear { 0 } else { console.choose("Kind of the project", &items)? };
    let Some(resource) = resources.get(chosen) else { return Ok(false) };
    for (name, own) in names.into_iter().zip(of(resource)) {
        *name = Some(own);
    }
    Ok(true)
}

/// Like [`choose_resource`], for a command that deletes: asks for confirmation afterwards.
pub fn choose_to_delete(
    what: &str,
    [group, version, kind]: [&Option<String>; 3],
    file: &ProjectFile,
    console: &Console,
) -> anyhow::Result<Option<[Option<String>; 3]>> {
    let mut names = [group.clone(), version.clone(), kind.clone()];
    let [group, version, kind] = &mut names;
    if console.mode != Mode::Apply
        || !console.can_ask()
        || !choose_resource([group, version, kind], None, file, console)?
    {
        return Ok(Some(names));
    }
    let question = format!(
        "delete {what} of `{}` {}?",
        names[2].as_deref().unwrap_or_default(),
        names[1].as_deref().unwrap_or_default()
    );
    let may = console.ask_no(&question, "`--diff` shows the changes without writing them")?;
    Ok(may.then_some(names))
}

fn of(resource: &Resource) -> [String; 3] {
    [resource.group.to_string(), resource.version.to_string(), resource.kind.to_string()]
}
