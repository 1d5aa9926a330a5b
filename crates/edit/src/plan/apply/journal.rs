//! The journal of a run: the files that it puts in place. It exists from before the first temporary file until the last
//! one is removed, so that the next run undoes or finishes a killed one.
//!
//! Anybody could have written a journal, for example in a cloned repository. So it must be a regular file of limited
//! size, and all its paths must be below its folder, also after resolving symbolic links; otherwise it is only removed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use opctl_model::project;
use serde::{Deserialize, Serialize};

use super::stage::{create, hidden, remove_leftover};
use super::target::Targets;
use crate::plan::vendor::checksum_of_bytes;
use crate::plan::{Content, Step};

/// The name of the file, in the root.
pub const JOURNAL: &str = ".opctl-journal";
/// The line after the document, written when all files are in place.
const PLACED: &str = "placed";
/// Maximum size in bytes of a journal, and of files that opctl writes.
const MAX_BYTES: u64 = 64 << 20;

/// All paths are relative to the root, and contain no symbolic links.
///
/// A new folder is filled under a hidden name next to its place, and renamed once: `src/main.rs` is written as
/// `.src.opctl-new/main.rs`.
#[derive(Debug, Deserialize, Serialize)]
pub struct Journal {
    /// Folders that are created for the files.
    created: BTreeSet<PathBuf>,
    /// Folders that lose a file. They are removed if it was their last.
    emptied: BTreeSet<PathBuf>,
    files: Vec<Entry>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    path: PathBuf,
    /// The run replaces or removes a file.
    before: bool,
    /// The checksum of the new content; `None`: the file is removed.
    after: Option<String>,
}

/// The state of a completed run: its temporary files are removed, and then the empty folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Placed,
    Undone,
}

impl Journal {
    /// The journal for steps and their targets, created before any of them.
    pub fn new(steps: &[&Step], targets: &Targets) -> Self {
        let root = targets.root.as_path();
        let from_root = |path: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
        let (mut created, mut emptied, mut files) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for (step, target) in steps.iter().zip(&targets.files) {
            let folders = || target.real.ancestors().skip(1).take_while(|folder| *folder != root);
            created.extend(folders().take_while(|folder| folder.symlink_metadata().is_err()).filter_map(from_root));
            // The target folder of a symbolic link is kept, or the link would be dangling.
            if step.after.is_none() && target.real == root.join(&step.path) {
                emptied.extend(folders().filter_map(from_root));
            }
            files.extend(from_root(&target.real).map(|path| Entry {
                path,
                before: step.before.is_some(),
                after: step.after.as_ref().map(Content::as_bytes).map(checksum_of_bytes),
            }));
        }
        Self { created, emptied, files }
    }

    /// The temporary path of a new file or folder.
    pub fn staged(&self, path: &Path) -> PathBuf {
        match self.new_folder(path) {
            Some(folder) => {
                let rest = path.strip_prefix(folder).expect("the folder contains the path");
                // For an empty rest, `join` would append a separator.
                hidden(folder, "new").components().chain(rest.components()).collect()
            }
            None => hidden(path, "new"),
        }
    }

    /// The outermost created folder that is, or contains, the path.
    pub fn new_folder<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().filter(|folder| self.created.contains(*folder)).last()
    }

    pub fn write(&self, root: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).expect("paths below the root are text");
        create(&root.join(JOURNAL))?.write_all(format!("{text}\n").as_bytes())
    }

    /// Records that all files are in place: from now on, the run is finished instead of undone.
    pub fn commit(root: &Path) -> io::Result<()> {
        OpenOptions::new().append(true).open(root.join(JOURNAL))?.write_all(format!("{PLACED}\n").as_bytes())
    }

    /// Removes the temporary files, then the empty folders, then the journal. If one of them cannot be removed, the
    /// journal stays, so that the next run tries again.
    pub fn close(&self, root: &Path, end: End) -> io::Result<()> {
        let mut removed = Ok(());
        // The new folders that were not renamed into place.
        let is_unplaced = |folder: &&Path| {
            self.new_folder(folder) == Some(*folder) && root.join(hidden(folder, "new")).symlink_metadata().is_ok()
        };
        let unplaced: BTreeSet<&Path> = self.created.iter().map(PathBuf::as_path).filter(is_unplaced).collect();
        for entry in &self.files {
            if self.new_folder(&entry.path).is_none_or(|folder| unplaced.contains(folder)) {
                removed = removed.and(remove_leftover(&root.join(self.staged(&entry.path))));
            }
            if entry.before {
                removed = removed.and(remove_leftover(&hidden(&root.join(&entry.path), "old")));
            }
        }
        // Inner folders first.
        for folder in self.created.iter().rev().filter(|_| !unplaced.is_empty()) {
            removed = removed.and(remove_if_empty(&root.join(self.staged(folder))));
        }
        let folders = match end {
            End::Placed => &self.emptied,
            End::Undone => &self.created,
        };
        for folder in folders.iter().rev() {
            removed = removed.and(remove_if_empty(&root.join(folder)));
        }
        removed?;
        remove_leftover(&root.join(JOURNAL))
    }

    /// Reads the journal in the root, and whether it is committed. Returns `None` for an incomplete journal, whose run
    /// had done nothing else yet, and for one with paths out of the root, which is not opctl's.
    fn read(root: &Path) -> io::Result<Option<(Self, bool)>> {
        let text = String::from_utf8(read(&root.join(JOURNAL))?.unwrap_or_default()).unwrap_or_default();
        let Some((document, rest)) = text.split_once('\n') else { return Ok(None) };
        let Ok(journal) = serde_json::from_str::<Self>(document) else { return Ok(None) };
        let files = journal.files.iter().map(|entry| &entry.path);
        for path in files.chain(&journal.created).chain(&journal.emptied) {
            if !is_below(root, path)? {
                return Ok(None);
            }
        }
        Ok(Some((journal, rest.trim_end() == PLACED)))
    }

    /// Restores the files that a killed run has replaced, except those that were edited since.
    fn undo(&self, root: &Path, placed: &[&Entry]) -> io::Result<()> {
        for entry in placed.iter().rev() {
            let file = root.join(&entry.path);
            match entry.before {
                true => fs::rename(hidden(&file, "old"), file)?,
                false => fs::remove_file(file)?,
            }
        }
        self.close(root, End::Undone)
    }
}

impl Entry {
    fn is_placed(&self, root: &Path) -> io::Result<bool> {
        let file = root.join(&self.path);
        Ok(match &self.after {
            Some(after) => read(&file)?.is_some_and(|bytes| checksum_of_bytes(&bytes) == *after),
            None => file.symlink_metadata().is_err(),
        })
    }

    /// `true` if the file can be restored. The old files are removed after the last one is in place.
    fn can_be_undone(&self, root: &Path) -> bool {
        !self.before || hidden(&root.join(&self.path), "old").symlink_metadata().is_ok()
    }
}

/// The content of a regular file. Links are not followed, and devices not opened: anybody could have created them.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_BYTES => {}
        Ok(_) => return Ok(None),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// `true` for the path of a file or folder below the root, also after resolving symbolic links.
fn is_below(root: &Path, path: &Path) -> io::Result<bool> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let (true, Some(above)) = (is_plain, path.parent()) else { return Ok(false) };
    match root.join(above).canonicalize() {
        Ok(above) => Ok(above.starts_with(root)),
        // A missing folder contains no links.
        Err(error) if is_absent(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

/// `true` if the path does not, or cannot, exist.
pub fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

fn remove_if_empty(folder: &Path) -> io::Result<()> {
    // A mount point is busy.
    let stays =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::ResourceBusy);
    match fs::remove_dir(folder) {
        Err(error) if !is_absent(&error) && !stays(&error) => Err(error),
        _ => Ok(()),
    }
}

/// `true` if a run is writing in the root, or was killed while writing and nothing has cleaned up since.
pub fn is_interrupted(root: &Path) -> bool {
    root.join(JOURNAL).symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Returns the roots of interrupted runs that concern `folder`: itself, its project, workspace and git repository.
pub fn interrupted_around(folder: &Path) -> Vec<PathBuf> {
    let is_around = |root: &&Path| {
        let is = |other: Option<PathBuf>| other.is_some_and(|other| other == **root);
        *root == folder
            || is(project::root_above(folder).ok())
            || is(project::workspace_above(folder).ok().flatten())
            || is(Some(project::repository_above(folder)))
    };
    folder.ancestors().filter(|root| is_interrupted(root)).filter(is_around).map(Path::to_owned).collect()
}

/// Cleans up after a killed run: finishes it if all its files are in place, and otherwise undoes it. Returns `true` if
/// something was undone. The root must be locked.
pub fn recover(root: &Path) -> io::Result<bool> {
    if !is_interrupted(root) {
        return Ok(false);
    }
    let root = &root.canonicalize()?;
    let Some((journal, is_committed)) = Journal::read(root)? else {
        return remove_leftover(&root.join(JOURNAL)).map(|()| false);
    };
    let mut placed = Vec::new();
    for entry in &journal.files {
        placed.extend(entry.is_placed(root)?.then_some(entry));
    }
    let is_whole = is_committed || placed.len() == journal.files.len();
    if is_whole || !placed.iter().all(|entry| entry.can_be_undone(root)) {
        return journal.close(root, End::Placed).map(|()| false);
    }
    journal.undo(root, &placed)?;
    Ok(!placed.is_empty())
}
