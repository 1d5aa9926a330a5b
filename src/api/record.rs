//! The record of the scaffold in `.opctl`: the texts of files as opctl wrote them.

use opctl_edit::plan::{InverseError, Record, RecordError};
use opctl_model::project::{ReadError, Tree};

use super::rescaffold::Texts;
use crate::error::{USE_A_NEWER_OPCTL, UserError};
use crate::scaffold;

/// The error for a record that cannot be read, with possible fixes.
pub fn refusal(error: RecordError<ReadError>) -> anyhow::Error {
    match error {
        RecordError::Read(error) => error.into(),
        error @ RecordError::Conflict { .. } => UserError::new(error.to_string())
            .help("delete the lines with `<<<<<<<`, `=======` and `>>>>>>>`, and keep those between them")
            .help("`.gitattributes` spares you this with the line `.opctl/** merge=union`")
            .into(),
        error => UserError::new(error.to_string())
            .help("restore `.opctl` from version control")
            .help("or delete `.opctl`, and run `opctl update --adopt` to start a new record")
            .into(),
    }
}

/// The error for a creation that cannot be undone.
pub fn inverse_error(error: InverseError<ReadError>) -> anyhow::Error {
    match error {
        InverseError::Record(error) => refusal(error),
        InverseError::Edit { path, error } => UserError::edit(&path, error).into(),
    }
}

/// The record of a project, and the recorded texts by path.
pub fn texts(tree: &Tree) -> anyhow::Result<Option<(Record, Texts)>> {
    let read = |path: &str| tree.read(path);
    let Some(record) = Record::read(read).map_err(refusal)? else { return Ok(None) };
    let newest = record.files.values().map(|entry| entry.revision).max().unwrap_or_default();
    if newest > scaffold::revisions::newest() {
        let own = scaffold::revisions::newest();
        return Err(UserError::new(format!("the scaffold has revision {newest}, newer than this opctl's {own}"))
            .help(USE_A_NEWER_OPCTL)
            .into());
    }
    let texts = record.files.iter().map(|(path, entry)| (path.clone(), entry.text.clone())).collect();
    Ok(Some((record, texts)))
}

/// Removes markers from recorded texts that an earlier `opctl check --fix` added to the record: no template renders
/// them, so an update would delete them from the user's files.
pub fn without_fixes(record: &Record, recorded: &mut Texts, rendered: &Texts) {
    let is_marker =
        |line: &&str| line.trim_start().trim_start_matches('/').trim_start().starts_with("+kubebuilder:rbac:");
    let other_lines = |text: &str| text.lines().filter(|line| !is_marker(line)).map(str::to_owned).collect::<Vec<_>>();
    let is_of_today =
        |path: &str| record.files.get(path).is_some_and(|entry| entry.revision == scaffold::revisions::newest());
    for (path, text) in recorded.iter_mut().filter(|(path, _)| path.ends_with(".rs") && is_of_today(path)) {
        let differs = |rendered: &&String| *rendered != text;
        let Some(rendered) = rendered.get(path).filter(differs) else { continue };
        if other_lines(rendered) == other_lines(text) {
            text.clone_from(rendered);
        }
    }
}

/// The text of a file as opctl wrote it. Without a record, the current text.
pub fn written(tree: &Tree, path: &str) -> anyhow::Result<Option<String>> {
    match recorded(tree, path)? {
        Some(text) => Ok(Some(text)),
        None => Ok(tree.read(path)?),
    }
}

/// The recorded text of a file, as opctl wrote it.
pub fn recorded(tree: &Tree, path: &str) -> anyhow::Result<Option<String>> {
    let read = |path: &str| tree.read(path);
    let record = Record::read(read).map_err(refusal)?;
    Ok(record.and_then(|record| record.text(path).map(str::to_owned)))
}
