//! Writes steps to disk, all or nothing.
//!
//! First everything that can fail is done beside the files: paths checked, folders made, each new text in a temporary
//! file next to its target, the old file kept under a second name. Then the files are renamed into place. An error before
//! that leaves no trace; one after it is rolled back.

mod stage;
mod target;

use std::fmt;
use std::io;
use std::path::Path;

use super::interrupt::Shield;
use super::{Step, Verdict};
use stage::Stage;

#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("the plan has conflicts")]
    Conflicts,
    /// Ctrl-C came before the first file was in place.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// A file is not what it was when the plan was made.
    #[error("`{path}` was changed by someone else meanwhile; nothing was written; run the command again")]
    LostUpdate { path: String },
    /// The path leads somewhere that must not be written to.
    #[error("cannot write `{path}`: {reason}; nothing was written")]
    Refused { path: String, reason: String },
    #[error("cannot {operation} `{path}`: {source}; nothing was written; {}", next_step(.source))]
    Io { operation: Operation, path: String, source: io::Error },
    /// Putting things back failed too.
    #[error(
        "cannot {operation} `{path}`: {source}; and what was written before could not be undone: {}; \
         look at these files by hand, or restore them from version control",
        left.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
    )]
    HalfWritten { operation: Operation, path: String, source: io::Error, left: Vec<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    CreateFolder,
    Write,
    Keep,
    Replace,
    Remove,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::CreateFolder => "create the folder",
            Self::Write => "write",
            Self::Keep => "keep a copy of",
            Self::Replace => "put in place",
            Self::Remove => "remove",
        })
    }
}

fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "give yourself the right to write there and run the command again",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk and run the command again",
        io::ErrorKind::ReadOnlyFilesystem => "run the command on a file system that can be written to",
        io::ErrorKind::InvalidFilename => "use a shorter name",
        _ => "run the command again when the cause is mended",
    }
}

/// Brings the disk to the state after the steps. Files that do not change are not touched.
///
/// The paths in `last` are put in place after all others: a file that tells what the project has should not be there
/// before what it tells of.
///
/// Ctrl-C ends it without a trace as long as no file is in place; after that the rest, a few renames, is finished.
pub fn apply(root: &Path, steps: &[Step], last: &[&str]) -> Result<(), ApplyError> {
    let shield = Shield::raise();
    apply_unless(root, steps, last, &mut || shield.is_interrupted())
}

/// `is_interrupted` is asked before each file, and once more when all is ready to be put in place.
fn apply_unless(
    root: &Path,
    steps: &[Step],
    last: &[&str],
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<(), ApplyError> {
    if steps.iter().any(Step::is_conflict) {
        return Err(ApplyError::Conflicts);
    }
    let mut steps: Vec<&Step> = steps.iter().filter(|step| !step.is_unchanged()).collect();
    // A stable sort: removals come after writes, so that an interrupted run has too much rather than too little.
    steps.sort_by_key(|step| (last.contains(&step.path.as_str()), step.verdict == Verdict::Remove));
    if steps.is_empty() {
        return Ok(());
    }

    let targets = target::locate(root, &steps)?;
    let mut stage = Stage::begin(&targets)?;
    for (step, target) in steps.iter().zip(&targets.files) {
        if is_interrupted() {
            return Err(ApplyError::Interrupted);
        }
        stage.add(step, target)?;
    }
    if is_interrupted() {
        return Err(ApplyError::Interrupted);
    }
    for (step, target) in steps.iter().zip(&targets.files) {
        target::check_unchanged(step, target)?;
    }
    stage.put_in_place()
}
