//! Plans: sets of file changes that are computed in memory, and then shown, checked or written.
//!
//! Commands fill a [`Plan`]; [`resolve()`] compares it with the disk and returns [`Step`]s, without side effects;
//! [`apply()`] writes them, all or nothing. `--dry-run`, `--diff` and `--check` are views of the same steps. This
//! module knows files, not Kubernetes.
//!
//! The type of a [`Change`] and the file on disk determine the step:
//!
//! | in the plan | missing on disk | identical | different, with opctl's header | different, the user's |
//! |---|---|---|---|---|
//! | `Scaffold`, `Copy` | create | unchanged | conflict | conflict; `--overwrite PATH` |
//! | `Generate` | create | unchanged | update | conflict; `--overwrite PATH` |
//! | `Edit` | create with a base, else conflict | unchanged | – | update; conflict; `--overwrite PATH` |
//! | `Prune` | unchanged | – | remove | unchanged |
//! | `Remove` | unchanged | remove | conflict; `--overwrite PATH` | conflict; `--overwrite PATH` |
//! | `Rewrite` | create | unchanged | update; conflict if the path is new | update; conflict if the path is new |
//! | `Vendor` | create | unchanged | update, or remove | conflict; `--overwrite PATH` |
//!
//! A conflict of an `Edit` contains the snippet to paste. `--overwrite` only works if the edit can be
//! [forced](Edit::force).
//!
//! `Merge` compares three texts instead: the one that opctl wrote, the user's, and that of newer templates. If only one
//! side changed a file, that side's text is used; if both did, it is merged, or a conflict. A file that the user
//! deleted stays deleted.

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

pub use apply::{ApplyError, JOURNAL, Stage, apply, interrupted_around, is_interrupted, recover, stage};
pub use inverse::InverseError;
pub use lock::{LockError, ProjectLock};
pub use record::{Entry, RECORD, RECORD_FILE, Record, RecordError, Scaffold};
pub use report::{Mode, diff, list, summary};
pub use resolve::{Policy, ResolveError, resolve};
pub use vendor::{SUMS, Sums, checksum, checksum_of_bytes};

/// Changes by path. A path is relative to the root, with `/`, and never leads out of it.
#[derive(Debug, Default)]
pub struct Plan {
    pub changes: BTreeMap<String, Change>,
    /// The record of the scaffold is written even if none of the changes concerns it: it may be that of an earlier opctl.
    pub renews_record: bool,
}

/// The change of one file; see the table [above](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file for the user: created, and later only merged ([`Change::Merge`]).
    Scaffold(String),
    /// A file that is not text, such as an image in a chart; `None` removes it. It replaces `old`, which opctl wrote before.
    Copy { content: Option<Vec<u8>>, old: Option<Vec<u8>> },
    /// A file of opctl: overwritten as long as the file on disk has opctl's header.
    Generate(String),
    /// Narrow edits of a user's file, in order. A missing file starts as `base`; without `base`, it is a conflict.
    Edit { base: Option<String>, edits: Vec<Edit> },
    /// A file of opctl whose source no longer exists: removed.
    Prune,
    /// A file that is no longer needed: removed as long as it has this text, which opctl wrote.
    Remove(String),
    /// A file of the vendored folder `folder`: replaced or removed as long as its checksum is `written`, that of the
    /// text that opctl wrote.
    Vendor { folder: String, text: Option<String>, written: Option<String> },
    /// A user's file: the changes from `base`, which opctl wrote, to `theirs`, from newer templates, are merged into
    /// it. `None` means that the template did not, or does not, exist. `moved` is the user's text if the file had
    /// another path.
    Merge { base: Option<String>, theirs: Option<String>, choice: Choice, moved: Option<String> },
    /// A user's file that is rewritten as a whole for new names; with `text: None`, it stays unchanged or absent.
    /// `base` is its new text in the record. `is_new` is set if the file was moved from another path.
    Rewrite { text: Option<String>, base: Option<String>, is_new: bool },
}

/// The strategy for a file that both the user and the templates changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Merges lines; a conflict if both changed the same lines.
    #[default]
    Merge,
    /// Like `Merge`, but conflicts are written with both texts between markers.
    Markers,
    Ours,
    /// Replaces it by the new text, even if the user deleted the file.
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

    /// Adds an edit of a file that exists, or that this plan scaffolds.
    pub fn edit(&mut self, path: impl Into<String>, edit: Edit) {
        self.edit_with_base(path.into(), None, edit);
    }

    /// Adds an edit of a file that starts as `base` if it does not exist.
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
            // Applied to the record as well, if possible.
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

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// The content of a file that is not edited, only replaced as a whole.
    Bytes(Vec<u8>),
}

impl Content {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// `None` for a file that is not text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(_) => None,
        }
    }

    /// `None` for a file that is not text.
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(_) => None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// A change of a file on disk, with its contents before and after (`None` for no file). For a conflict, `after` is the
/// wanted content, so that it can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub path: String,
    /// The folder of opctl that contains the file: the vendored runtime, or the record of the scaffold.
    pub vendored: Option<String>,
    pub verdict: Verdict,
    pub before: Option<Content>,
    pub after: Option<Content>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Create,
    Update,
    Remove,
    Unchanged,
    /// The change is not possible; contains the reason and possible solutions.
    Conflict {
        reason: String,
        help: String,
    },
}

impl Step {
    pub fn is_conflict(&self) -> bool {
        matches!(self.verdict, Verdict::Conflict { .. })
    }

    /// `true` if the disk is up to date.
    pub fn is_unchanged(&self) -> bool {
        self.verdict == Verdict::Unchanged
    }
}

impl Verdict {
    /// The verb shown to the user.
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
