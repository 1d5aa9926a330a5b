//! Plans: sets of file changes that are computed in memory, and then shown, checked or written.
//!
//! Commands fill a [`Plan`]; [`resolve()`] holds it against what is on disk and gives [`Step`]s, pure; [`apply()`] writes
//! them, all or nothing. `--dry-run`, `--diff` and `--check` are views of the same steps. This module knows files, not
//! Kubernetes.
//!
//! The kind of a [`Change`] and the file on disk decide:
//!
//! | in the plan | missing on disk | identical | different, with opctl's header | different, the user's |
//! |---|---|---|---|---|
//! | `Scaffold` | create | unchanged | conflict | conflict; `--overwrite PATH` |
//! | `Generate` | create | unchanged | update | conflict; `--overwrite PATH` |
//! | `Edit` | conflict, or create if a base is given | unchanged if already done | – | update, or conflict with the snippet to paste; `--overwrite PATH` if it can be forced |
//! | `Prune` | unchanged | – | remove | unchanged |
//! | `Remove` | unchanged | remove | conflict; `--overwrite PATH` | conflict; `--overwrite PATH` |
//! | `Rewrite` | create | unchanged | update; conflict if the path is new | update; conflict if the path is new |
//! | `Vendor` | create | unchanged | update, or remove | conflict; `--overwrite PATH` |
//!
//! `Merge` compares three texts instead: the one that opctl wrote, the user's, and that of newer templates. A file that only one side changed
//! gets that side's text; one that both changed is merged, or a conflict; one that the user deleted stays deleted.

#[allow(clippy::disallowed_methods, reason = "it writes what was planned")]
mod apply;
mod inverse;
#[allow(clippy::disallowed_methods, reason = "it creates a folder that is to be locked")]
mod lock;
mod record;
mod report;
mod resolve;
mod vendor;

use std::collections::BTreeMap;

use crate::Edit;

pub use apply::{ApplyError, JOURNAL, Stage, apply, is_interrupted, recover, stage};
pub use inverse::InverseError;
pub use lock::{LockError, ProjectLock};
pub use record::{LIST, RECORD, Record, RecordError, Scaffold};
pub use report::{Mode, diff, list, summary};
pub use resolve::{Policy, ResolveError, resolve};
pub use vendor::{SUMS, Sums, checksum};

/// Changes by path. A path is relative to the root, with `/`, and never leaves it.
#[derive(Debug, Default)]
pub struct Plan {
    pub changes: BTreeMap<String, Change>,
}

/// The change of one file; see the table [above](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The user's from now on: created, and only merged later ([`Change::Merge`]).
    Scaffold(String),
    /// Ours: rewritten freely as long as the file on disk has our header.
    Generate(String),
    /// Narrow edits of a file of the user, in order; of `base` where there is no file (`None`: that is a conflict).
    Edit { base: Option<String>, edits: Vec<Edit> },
    /// Ours, and its source is gone.
    Prune,
    /// The user's, and superfluous: removed as long as it has this text, which opctl wrote.
    Remove(String),
    /// A file of the vendored folder `folder`: replaced or removed as long as it has the checksum `written`, that of the
    /// text that opctl wrote.
    Vendor { folder: String, text: Option<String>, written: Option<String> },
    /// The user's: what changed from `base`, the text that opctl wrote, to `theirs`, the one of newer templates, is merged into the file
    /// (`None`: the template did not exist, or does no longer). `moved` is the user's text if the file had another path before.
    Merge { base: Option<String>, theirs: Option<String>, choice: Choice, moved: Option<String> },
    /// The user's: rewritten as a whole because of other names (`None`: it stays as it is, or absent). `base` is what the record has of it
    /// from now on. The file `is_new` where it was moved from another path.
    Rewrite { text: Option<String>, base: Option<String>, is_new: bool },
}

/// The treatment of a file that both the user and the templates changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Lines are merged; a conflict where both changed the same.
    #[default]
    Merge,
    /// Like `Merge`, with both texts between markers where both changed the same.
    Markers,
    /// The user's stays.
    Ours,
    /// The new text replaces it, also if the user deleted the file.
    Theirs,
}

impl Plan {
    pub fn scaffold(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.put(path.into(), Change::Scaffold(text.into()));
    }

    pub fn generate(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.put(path.into(), Change::Generate(text.into()));
    }

    pub fn prune(&mut self, path: impl Into<String>) {
        self.put(path.into(), Change::Prune);
    }

    /// Adds an edit of a file that must be there, or that this plan already scaffolds.
    pub fn edit(&mut self, path: impl Into<String>, edit: Edit) {
        self.edit_with_base(path.into(), None, edit);
    }

    /// Adds an edit of a file that starts as `base` where it is absent.
    pub fn edit_or_create(&mut self, path: impl Into<String>, base: impl Into<String>, edit: Edit) {
        self.edit_with_base(path.into(), Some(base.into()), edit);
    }

    fn edit_with_base(&mut self, path: String, new_base: Option<String>, edit: Edit) {
        match self.changes.entry(path).or_insert(Change::Edit { base: None, edits: Vec::new() }) {
            Change::Edit { base, edits } => {
                *base = base.take().or(new_base);
                edits.push(edit);
            }
            Change::Scaffold(text) => *text = edit.apply(text).expect("a template has the anchors for its own edits"),
            // In the record, too, if it can be made there.
            Change::Rewrite { text, base, .. } => {
                for text in [text, base].into_iter().flatten() {
                    *text = edit.apply(text).unwrap_or_else(|_| text.clone());
                }
            }
            other => unreachable!("a plan edits only files of the user, not {other:?}"),
        }
    }

    fn put(&mut self, path: String, change: Change) {
        let before = self.changes.insert(path.clone(), change);
        debug_assert!(before.is_none(), "the plan changes `{path}` twice");
    }
}

/// The change of one file on disk, and the texts before and after (`None`: no file). After a conflict: the text that was
/// wanted, so that it can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub path: String,
    /// The folder of opctl's own that the file is part of: the vendored runtime, or the record of the scaffold.
    pub vendored: Option<String>,
    pub verdict: Verdict,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Create,
    Update,
    Remove,
    Unchanged,
    /// Cannot be done: why, and the ways out.
    Conflict {
        reason: String,
        help: String,
    },
}

impl Step {
    pub fn is_conflict(&self) -> bool {
        matches!(self.verdict, Verdict::Conflict { .. })
    }

    /// True when the disk is as it should be.
    pub fn is_unchanged(&self) -> bool {
        self.verdict == Verdict::Unchanged
    }
}

impl Verdict {
    /// As it is shown to the user.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Remove => "remove",
            Self::Unchanged => "unchanged",
            Self::Conflict { .. } => "conflict",
        }
    }
}
