//! Inverts plans: files are removed unless they differ from the scaffold, and edits are undone.

use super::{Change, Plan, Record, RecordError};
use crate::{Edit, EditError};

/// The reason why a plan cannot be inverted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InverseError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Record(#[from] RecordError<E>),
    #[error("cannot edit `{path}`: {error}")]
    Edit { path: String, error: EditError },
}

impl Plan {
    /// Inverts each change of a plan that created something, except for the edits in `needed`, which other parts still
    /// require; each is listed with its file. Skips generated files, which depend on the source only. `read` returns
    /// the files of the project.
    ///
    /// # Errors
    ///
    /// If a file or the record cannot be read, or an edit cannot be undone.
    pub fn inverse<E: std::error::Error + 'static>(
        self,
        needed: &[(String, Edit)],
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<Self, InverseError<E>> {
        let record = Record::read(&read)?.unwrap_or_default();
        let mut plan = Self::default();
        for (path, change) in self.changes {
            let change = match change {
                // The text as it was written, possibly by an older opctl.
                Change::Scaffold(text) => Change::Remove(record.text(&path).map_or(text, str::to_owned)),
                Change::Edit { base, edits } => {
                    let Some(now) = read(&path).map_err(RecordError::Read)? else { continue };
                    let is_needed =
                        |edit: &&Edit| needed.iter().any(|(other, needed)| (other, needed) == (&path, edit));
                    let own = edits.iter().rev().filter(|edit| !is_needed(edit)).cloned();
                    let undo = |edit| Edit::Undo { edit: Box::new(edit), base: base.clone() };
                    let edits: Vec<Edit> = own.map(undo).collect();
                    let undone = edits.iter().try_fold(now.clone(), |text, edit| edit.apply(&text));
                    match (base, undone) {
                        (_, Err(error)) => return Err(InverseError::Edit { path, error }),
                        (Some(base), Ok(undone)) if base == undone => Change::Remove(now),
                        (_, Ok(undone)) if undone == now => continue,
                        _ => Change::Edit { base: None, edits },
                    }
                }
                _ => continue,
            };
            plan.changes.insert(path, change);
        }
        Ok(plan)
    }

    /// Adds the changes of the next plan, which was made for the files `between` the two. `read` returns the files
    /// before both.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn then<E>(
        &mut self,
        next: Self,
        read: impl Fn(&str) -> Result<Option<String>, E>,
        between: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> Result<(), E> {
        for (path, change) in next.changes {
            let change = match (self.changes.remove(&path), change) {
                (Some(Change::Edit { base, mut edits }), Change::Edit { edits: more, .. }) => {
                    edits.extend(more);
                    Change::Edit { base, edits }
                }
                // `text` is the result of the first plan, which is never written, so the file on disk is the one to
                // remove.
                (Some(Change::Edit { .. }), Change::Remove(text)) if between(&path)?.as_ref() == Some(&text) => {
                    Change::Remove(read(&path)?.unwrap_or_default())
                }
                (_, change) => change,
            };
            self.changes.insert(path, change);
        }
        Ok(())
    }
}
