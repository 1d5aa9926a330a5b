//! Applies the steps of a plan to disk, all or nothing.
//!
//! First everything that can fail is done next to the files: paths are checked, each new text is written to a temporary
//! file next to its target, and the old file gets a second name. A new folder is filled under a temporary name. Then the
//! files and folders are renamed into place. An error before that leaves no trace; a later one is rolled back.

mod journal;
mod stage;
mod target;

use std::fmt;
use std::io;
use std::path::Path;

use super::{Step, Verdict};
use journal::Journal;
pub use journal::{JOURNAL, interrupted_around, is_interrupted, recover};
pub use stage::Stage;

#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("the plan has conflicts")]
    Conflicts,
    /// Ctrl-C before the first file was in place.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// A file has changed since the plan was made.
    #[error("`{path}` was changed by another program meanwhile; nothing was written; run the command again")]
    LostUpdate { path: String },
    /// The path must not be written to.
    #[error("cannot write `{path}`: {reason}; nothing was written")]
    Refused { path: String, reason: String },
    #[error("cannot {operation} `{path}`: {source}; nothing was written; {}", next_step(.source))]
    Io { operation: Operation, path: String, source: io::Error },
    /// The rollback failed, too.
    #[error(
        "cannot {operation} `{path}`: {source}; and what was written before could not be undone: {}; \
         run the command again to undo it, or restore these files from version control",
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
        io::ErrorKind::PermissionDenied => "make it writable and run the command again",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some disk space and run the command again",
        io::ErrorKind::ReadOnlyFilesystem => "run the command on a writable file system",
        io::ErrorKind::InvalidFilename => "use a shorter name",
        _ => "fix the cause and run the command again",
    }
}

/// Applies the steps to the disk. Does not touch files without changes.
///
/// The paths in `last` are put in place after all others, so that a file that describes the project does not exist
/// before the files that it describes.
///
/// `is_interrupted` stops the run without a trace as long as no file is in place; after that, the remaining renames are
/// finished.
pub fn apply(
    root: &Path,
    steps: &[Step],
    last: &[&str],
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<(), ApplyError> {
    stage(root, steps, last, is_interrupted)?.map_or(Ok(()), Stage::finish)
}

/// Prepares everything that [`apply`] puts in place; `None` if nothing changes. `is_interrupted` is called before each
/// file, and once more when everything is ready.
pub fn stage<'a>(
    root: &Path,
    steps: &'a [Step],
    last: &[&str],
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Option<Stage<'a>>, ApplyError> {
    if steps.iter().any(Step::is_conflict) {
        return Err(ApplyError::Conflicts);
    }
    let mut steps: Vec<&Step> = steps.iter().filter(|step| !step.is_unchanged()).collect();
    // A stable sort. Removals come after writes, so that an interrupted run leaves too many files rather than too few.
    steps.sort_by_key(|step| (last.contains(&step.path.as_str()), step.verdict == Verdict::Remove));
    if steps.is_empty() {
        return Ok(None);
    }

    let targets = target::locate(root, &steps)?;
    let mut stage = Stage::begin(targets.root.clone(), Journal::new(&steps, &targets))?;
    for (step, target) in steps.iter().zip(&targets.files) {
        if is_interrupted() {
            return Err(ApplyError::Interrupted);
        }
        target::check_unchanged(step, target)?;
        stage.add(step, target.clone())?;
    }
    if is_interrupted() {
        return Err(ApplyError::Interrupted);
    }
    // Repeated as late as possible, to keep the time until the renames minimal.
    for (step, target) in steps.iter().zip(&targets.files) {
        target::check_unchanged(step, target)?;
    }
    Ok(Some(stage))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn step(path: &str, before: Option<&str>, after: Option<&str>) -> Step {
        let verdict = match (before, after) {
            (None, _) => Verdict::Create,
            (_, None) => Verdict::Remove,
            _ => Verdict::Update,
        };
        let vendored = None;
        Step { path: path.into(), vendored, verdict, before: before.map(Into::into), after: after.map(Into::into) }
    }

    /// Paths and texts, including hidden files and empty folders.
    fn files(root: &Path) -> Vec<(String, String)> {
        let below = walkdir::WalkDir::new(root).min_depth(1).sort_by_file_name();
        let entries = below.into_iter().map(|entry| entry.unwrap().into_path());
        let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        entries.map(|path| (path.strip_prefix(root).unwrap().display().to_string(), text(&path))).collect()
    }

    #[test]
    fn interrupted_at_any_file_it_leaves_no_trace() {
        for after in 0..4 {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("b"), "old").unwrap();
            let before = files(folder.path());
            let steps =
                [step("a/x", None, Some("new")), step("b", Some("old"), Some("new")), step("c/d/e", None, Some("new"))];
            let mut asked = 0;
            let result = stage(folder.path(), &steps, &[], &mut || {
                asked += 1;
                asked > after
            });
            let result = result.map(drop);
            assert!(matches!(result, Err(ApplyError::Interrupted)), "{result:?}");
            assert_eq!(asked, after + 1);
            assert_eq!(files(folder.path()), before);
        }
    }

    /// Runs the steps, and breaks the folder when everything is ready to be put in place.
    fn apply_and_spoil(root: &Path, steps: &[Step], last: &[&str], spoil: impl Fn()) -> Result<(), ApplyError> {
        let mut left = steps.len();
        let mut spoiled = || {
            if left == 0 {
                spoil();
            }
            left = left.wrapping_sub(1);
            false
        };
        stage(root, steps, last, &mut spoiled)?.map_or(Ok(()), Stage::finish)
    }

    #[test]
    fn a_failed_rename_takes_back_the_ones_before() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in ["b", "c", "gone"] {
            fs::write(root.join(file), "old").unwrap();
        }
        let time = fs::metadata(root.join("b")).unwrap().modified().unwrap();
        let before = files(root);
        let steps = [
            step("a/x", None, Some("new")),
            step("b", Some("old"), Some("new")),
            step("c", Some("old"), Some("new")),
            step("gone", Some("old"), None),
            step("z", None, Some("new")),
        ];
        // The last file to be put in place has vanished.
        let error =
            apply_and_spoil(root, &steps, &["z"], || fs::remove_file(root.join(".z.opctl-new")).unwrap()).unwrap_err();
        assert!(matches!(&error, ApplyError::Io { operation: Operation::Replace, path, .. } if path == "z"), "{error}");
        assert_eq!(files(root), before);
        assert_eq!(fs::metadata(root.join("b")).unwrap().modified().unwrap(), time);
    }

    #[test]
    fn what_cannot_be_taken_back_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("b"), "old").unwrap();
        let steps = [step("b", Some("old"), Some("new")), step("z", None, Some("new"))];
        let error = apply_and_spoil(root, &steps, &[], || {
            fs::remove_file(root.join(".z.opctl-new")).unwrap();
            fs::remove_file(root.join(".b.opctl-old")).unwrap();
        })
        .unwrap_err();
        assert!(matches!(&error, ApplyError::HalfWritten { left, .. } if left[..] == ["b"]), "{error}");
        assert!(error.to_string().contains("`b`; run the command again"), "{error}");
    }

    #[test]
    fn a_copy_that_cannot_be_removed_is_left_to_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("b"), "old").unwrap();
        fs::write(root.join("c"), "old").unwrap();
        let steps = [step("a/x", None, Some("new")), step("b", Some("old"), Some("new")), step("c", Some("old"), None)];
        let blocked = root.join(".b.opctl-old");
        apply_and_spoil(root, &steps, &[], || {
            fs::remove_file(&blocked).unwrap();
            fs::create_dir(&blocked).unwrap();
        })
        .unwrap();
        assert!(is_interrupted(root));
        assert!(recover(root).is_err() && is_interrupted(root));
        // Files that are in place stay, even if they are edited.
        fs::write(root.join("b"), "edited").unwrap();
        fs::remove_dir(&blocked).unwrap();
        assert!(!recover(root).unwrap());
        let expected = [("a", ""), ("a/x", "new"), ("b", "edited")];
        assert_eq!(files(root), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn the_guard_looks_again_right_before_the_renames() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("b"), "old").unwrap();
        let steps = [step("a", None, Some("new")), step("b", Some("old"), Some("new"))];
        let result = apply_and_spoil(root, &steps, &[], || fs::write(root.join("b"), "edited").unwrap());
        assert!(matches!(result, Err(ApplyError::LostUpdate { path }) if path == "b"));
        assert_eq!(files(root), [("b".to_owned(), "edited".to_owned())]);
    }

    #[test]
    fn a_new_folder_is_filled_beside_its_place_and_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        // Of a killed run without a journal.
        fs::create_dir_all(root.join(".a.opctl-new/b")).unwrap();
        fs::write(root.join(".a.opctl-new/b/stale"), "").unwrap();
        let steps = [step("a/b/x", None, Some("new")), step("a/y", None, Some("new")), step("z", None, Some("new"))];
        let mut stage = stage(root, &steps, &[], &mut || false).unwrap().unwrap();
        assert!(!root.join("a").exists() && root.join(".a.opctl-new/b/x").exists());
        assert!(stage.put_next().unwrap());
        assert!(root.join("a/b/x").exists() && root.join("a/y").exists() && !root.join("z").exists());
        stage.finish().unwrap();
        let expected = [("a", ""), ("a/b", ""), ("a/b/x", "new"), ("a/y", "new"), ("z", "new")];
        assert_eq!(files(root), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn a_killed_run_leaves_no_new_folder() {
        let steps = [step("a/b/x", None, Some("new")), step("a/y", None, Some("new")), step("z", None, Some("new"))];
        for placed in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            let mut stage = stage(root, &steps, &[], &mut || false).unwrap().unwrap();
            (0..placed).for_each(|_| assert!(stage.put_next().unwrap()));
            std::mem::forget(stage);
            assert_eq!(recover(root).unwrap(), placed > 0);
            assert_eq!(files(root), [], "{placed}");
        }
    }

    #[test]
    fn a_folder_that_appears_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let steps = [step("0", None, Some("new")), step("a/x", None, Some("new"))];
        let spoil = || {
            fs::create_dir(root.join("a")).unwrap();
            fs::write(root.join("a/mine"), "mine").unwrap();
        };
        let error = apply_and_spoil(root, &steps, &[], spoil).unwrap_err();
        assert!(
            matches!(&error, ApplyError::Io { operation: Operation::Replace, path, .. } if path == "a/x"),
            "{error}"
        );
        assert_eq!(files(root), [("a", ""), ("a/mine", "mine")].map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn what_should_be_last_is_last() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let steps = [step("PROJECT", None, Some("new")), step("a", None, Some("new")), step("z", None, Some("new"))];
        // The rename of `z` fails. That of PROJECT would fail as well, but is not tried before.
        let spoil = || {
            fs::remove_file(root.join(".z.opctl-new")).unwrap();
            fs::remove_file(root.join(".PROJECT.opctl-new")).unwrap();
        };
        let error = apply_and_spoil(root, &steps, &["PROJECT"], spoil).unwrap_err();
        assert!(matches!(&error, ApplyError::Io { path, .. } if path == "z"), "{error}");
        assert_eq!(files(root), []);
    }
}
