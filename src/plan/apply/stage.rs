//! Stages new contents in temporary files and keeps the old files, until all are replaced or none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use super::journal::{JOURNAL, Journal};
use super::target::{Target, io_error};
use super::{ApplyError, Operation};
use crate::plan::Step;

/// What was done so far. Dropped before [`Stage::finish`], it takes everything back.
pub struct Stage<'a> {
    root: PathBuf,
    files: Vec<Staged<'a>>,
    /// How many of the files are in place.
    placed: usize,
    /// Folders that were made, outer ones first.
    folders: Vec<PathBuf>,
    /// A root that was made is locked, because until then another process could only wait for the folder above it.
    _root_lock: Option<File>,
}

struct Staged<'a> {
    step: &'a Step,
    target: Target,
    /// The new text, under a hidden name beside the target.
    new: Option<PathBuf>,
    /// The old file under a second name.
    old: Option<PathBuf>,
}

impl<'a> Stage<'a> {
    pub(super) fn begin(root: PathBuf, journal: &Journal) -> Result<Self, ApplyError> {
        let mut stage =
            Self { root: root.clone(), files: Vec::new(), placed: 0, folders: Vec::new(), _root_lock: None };
        if !root.is_dir() {
            stage.create_folder(&root, &root.display().to_string())?;
            let lock = File::open(&root).and_then(|folder| folder.lock().map(|()| folder));
            stage._root_lock = lock.ok();
        }
        journal.write(&root).map_err(|source| io_error(Operation::Write, JOURNAL, source))?;
        Ok(stage)
    }

    pub(super) fn add(&mut self, step: &'a Step, target: Target) -> Result<(), ApplyError> {
        let folder = target.real.parent().expect("a file in the root has a folder");
        self.create_folder(folder, &step.path)?;
        self.files.push(Staged { step, target, new: None, old: None });
        let staged = self.files.last_mut().expect("just pushed");
        if step.before.is_some() {
            let old = hidden(&staged.target.real, "old");
            keep(&staged.target.real, &old).map_err(|source| io_error(Operation::Keep, &step.path, source))?;
            staged.old = Some(old);
        }
        if let Some(text) = &step.after {
            let new = hidden(&staged.target.real, "new");
            let file = create(&new).map_err(|source| io_error(Operation::Write, &step.path, source))?;
            staged.new = Some(new);
            let old = step.before.as_ref().and_then(|_| fs::metadata(&staged.target.real).ok());
            fill(file, text, old).map_err(|source| io_error(Operation::Write, &step.path, source))?;
        }
        Ok(())
    }

    /// Puts the next file in place. Gives whether there was one.
    pub fn put_next(&mut self) -> Result<bool, ApplyError> {
        let Some(staged) = self.files.get_mut(self.placed) else { return Ok(false) };
        let (operation, done) = match &staged.new {
            Some(new) => (Operation::Replace, fs::rename(new, &staged.target.real)),
            None => (Operation::Remove, fs::remove_file(&staged.target.real)),
        };
        match done {
            Ok(()) => staged.new = None,
            Err(source) => return Err(self.roll_back(self.placed, operation, source)),
        }
        self.placed += 1;
        Ok(true)
    }

    /// Puts the rest in place. From the first file on nothing is left half done: it ends, or is rolled back.
    pub fn finish(mut self) -> Result<(), ApplyError> {
        while self.put_next()? {}
        self.folders.clear();
        for old in self.files.iter_mut().filter_map(|staged| staged.old.take()) {
            // All is in place; a copy that cannot be removed is no reason to say otherwise.
            let _ = fs::remove_file(old);
        }
        for staged in self.files.iter().filter(|staged| staged.step.after.is_none()) {
            remove_empty_folders(&self.root, staged);
        }
        Ok(())
    }

    /// Puts back the files before `failed`, the last one first.
    fn roll_back(&mut self, failed: usize, operation: Operation, source: io::Error) -> ApplyError {
        let path = self.files[failed].step.path.clone();
        let mut left = Vec::new();
        for staged in self.files[..failed].iter_mut().rev() {
            let undone = match &staged.old {
                Some(old) => fs::rename(old, &staged.target.real),
                None => fs::remove_file(&staged.target.real),
            };
            match undone {
                Ok(()) => staged.old = None,
                Err(_) => left.push(staged.step.path.clone()),
            }
        }
        if left.is_empty() {
            return ApplyError::Io { operation, path, source };
        }
        ApplyError::HalfWritten { operation, path, source, left }
    }

    /// Makes the folder and those above it, as far as they are missing.
    fn create_folder(&mut self, folder: &Path, path: &str) -> Result<(), ApplyError> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|folder| folder.symlink_metadata().is_err()).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.folders.push(folder.into()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(io_error(Operation::CreateFolder, path, source)),
            }
        }
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // Nothing is to be done about an error here: what is left has a hidden name, and the next run replaces it.
        for file in self.files.iter().flat_map(|staged| [&staged.new, &staged.old]).flatten() {
            let _ = fs::remove_file(file);
        }
        let _ = Journal::remove(&self.root);
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// `.NAME.opctl-SUFFIX`, beside the file.
pub fn hidden(file: &Path, suffix: &str) -> PathBuf {
    let name = file.file_name().expect("a file has a name").to_string_lossy();
    file.with_file_name(format!(".{name}.opctl-{suffix}"))
}

/// Creates the file anew, so that neither the leftover of a killed run nor a link is written through.
fn create(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_leftover(path)?;
            create()
        }
        done => done,
    }
}

/// Like `old`: with its owner and group, as far as the user may give a file away, and with its permissions.
fn fill(mut file: File, text: &str, old: Option<fs::Metadata>) -> io::Result<()> {
    if let Some(old) = old {
        let own = file.metadata()?;
        if own.gid() != old.gid() {
            let _ = fchown(&file, None, Some(old.gid()));
        }
        if own.uid() != old.uid() {
            let _ = fchown(&file, Some(old.uid()), None);
        }
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())
}

/// Gives the file a second name: so a rollback brings back the very same file, with its times.
fn keep(file: &Path, old: &Path) -> io::Result<()> {
    remove_leftover(old)?;
    // Not every file system has hard links.
    fs::hard_link(file, old).or_else(|_| fs::copy(file, old).map(drop))
}

pub fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folders that the removal of this file left empty, below the root.
fn remove_empty_folders(root: &Path, staged: &Staged) {
    // The folder behind a symlink stays, or the link would lead to nothing.
    if staged.target.real != root.join(&staged.step.path) {
        return;
    }
    for folder in staged.target.real.ancestors().skip(1).take_while(|folder| *folder != root) {
        // It fails for the first one that has something in it.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
