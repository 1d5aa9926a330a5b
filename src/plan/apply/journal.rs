//! The journal of a run: which files it is about to put in place. It is there from before the first temporary file until
//! all is in place, so the next run can undo what a killed one has begun.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::stage::{hidden, remove_leftover};
use super::target::Targets;
use crate::plan::Step;
use crate::plan::vendor::checksum;

/// The name of the file, in the root.
pub const JOURNAL: &str = ".opctl-journal";

#[derive(Debug, Deserialize, Serialize)]
pub struct Journal {
    /// That were made for the files, outer ones first. All paths are relative to the root.
    folders: Vec<PathBuf>,
    files: Vec<Entry>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    path: PathBuf,
    /// Whether there was a file.
    before: bool,
    /// The checksum of the new text; `None`: the file is removed.
    after: Option<String>,
}

impl Journal {
    /// For steps and their targets, before anything of them is done.
    pub fn new(steps: &[&Step], targets: &Targets) -> Self {
        let below = |path: &Path| path.strip_prefix(&targets.root).map(Path::to_owned).ok();
        let missing = |file: &Path| -> Vec<PathBuf> {
            let folders = file.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err());
            folders.filter_map(below).collect()
        };
        let mut folders: Vec<PathBuf> = targets.files.iter().flat_map(|target| missing(&target.real)).collect();
        folders.sort();
        folders.dedup();
        let entry = |(step, path): (&&Step, PathBuf)| Entry {
            path,
            before: step.before.is_some(),
            after: step.after.as_deref().map(checksum),
        };
        let paths = targets.files.iter().filter_map(|target| below(&target.real));
        Self { folders, files: steps.iter().zip(paths).map(entry).collect() }
    }

    pub fn write(&self, root: &Path) -> io::Result<()> {
        remove_leftover(&root.join(JOURNAL))?;
        fs::write(root.join(JOURNAL), serde_json::to_string_pretty(self).expect("paths below the root are text"))
    }

    pub fn remove(root: &Path) -> io::Result<()> {
        remove_leftover(&root.join(JOURNAL))
    }

    /// Puts back what a killed run has replaced, unless it has replaced everything, and removes its temporary files. A
    /// file that was edited since stays. Gives whether anything was put back.
    fn undo(&self, root: &Path) -> io::Result<bool> {
        let old = |entry: &Entry| hidden(&root.join(&entry.path), "old");
        let done: Vec<&Entry> = self.files.iter().filter(|entry| entry.is_done(root)).collect();
        // The old files are removed when the last file is in place.
        let is_open = done.iter().all(|entry| !entry.before || old(entry).symlink_metadata().is_ok());
        let is_undone = is_open && !done.is_empty() && done.len() < self.files.len();
        if is_undone {
            for entry in done.into_iter().rev() {
                let file = root.join(&entry.path);
                match entry.before {
                    true => fs::rename(old(entry), file)?,
                    false => fs::remove_file(file)?,
                }
            }
        }
        for entry in &self.files {
            for suffix in ["new", "old"] {
                remove_leftover(&hidden(&root.join(&entry.path), suffix))?;
            }
        }
        for folder in self.folders.iter().rev().filter(|folder| folder.is_relative()) {
            // Those with anything in them stay.
            let _ = fs::remove_dir(root.join(folder));
        }
        Ok(is_undone)
    }
}

impl Entry {
    fn is_done(&self, root: &Path) -> bool {
        let file = root.join(&self.path);
        match &self.after {
            Some(after) => fs::read_to_string(file).is_ok_and(|text| checksum(&text) == *after),
            None => file.symlink_metadata().is_err(),
        }
    }

    /// Anybody could have written the journal.
    fn is_below(&self, root: &Path) -> bool {
        let is_plain = self.path.components().all(|part| matches!(part, Component::Normal(_)));
        let folder = root.join(&self.path).parent().map(Path::canonicalize);
        is_plain && folder.is_some_and(|folder| folder.map_or(true, |folder| folder.starts_with(root)))
    }
}

/// Whether a run was killed while it wrote, and none after it has cleaned up.
pub fn is_interrupted(root: &Path) -> bool {
    root.join(JOURNAL).symlink_metadata().is_ok()
}

/// Cleans up after a run that was killed while it wrote, as if it had not begun. Gives whether it had replaced anything.
pub fn recover(root: &Path) -> io::Result<bool> {
    if !is_interrupted(root) {
        return Ok(false);
    }
    let root = &root.canonicalize()?;
    // A journal that is not whole was being written, before anything else.
    let journal = serde_json::from_slice::<Journal>(&fs::read(root.join(JOURNAL))?);
    let journal = journal.ok().filter(|journal| journal.files.iter().all(|entry| entry.is_below(root)));
    let is_undone = journal.map_or(Ok(false), |journal| journal.undo(root))?;
    Journal::remove(root)?;
    Ok(is_undone)
}
