//! Stages new contents in temporary files and folders, and keeps the old files, until all are replaced or none.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use super::journal::{End, JOURNAL, Journal, is_absent};
use super::target::{Target, io_error};
use super::{ApplyError, Operation};
use crate::plan::Step;

/// A write in progress. If it is dropped before [`Stage::finish`], everything is undone.
pub struct Stage<'a> {
    root: PathBuf,
    journal: Journal,
    files: Vec<Staged<'a>>,
    /// The number of files that are in place.
    placed: usize,
    /// The new folders that are filled under a hidden name, and those among them that are in place.
    filled: BTreeSet<PathBuf>,
    placed_folders: BTreeSet<PathBuf>,
    /// The created folders among the root and its parents, outer ones first.
    created: Vec<PathBuf>,
    /// The end of the run. `None` while only some files are in place: then the journal stays, and the next run undoes
    /// this one.
    end: Option<End>,
    /// The lock of a newly created root. Until it exists, another process could only lock the folder above it.
    _root_lock: Option<File>,
}

struct Staged<'a> {
    step: &'a Step,
    target: Target,
    /// The new text, in a hidden file next to the target, or in a hidden folder.
    new: Option<PathBuf>,
    /// The new folder that contains the target.
    folder: Option<PathBuf>,
    /// A second name of the old file.
    old: Option<PathBuf>,
}

impl<'a> Stage<'a> {
    pub(super) fn begin(root: PathBuf, journal: Journal) -> Result<Self, ApplyError> {
        let (files, created, end) = (Vec::new(), Vec::new(), Some(End::Undone));
        let mut stage = Self {
            root: root.clone(),
            journal,
            files,
            placed: 0,
            filled: BTreeSet::new(),
            placed_folders: BTreeSet::new(),
            created,
            end,
            _root_lock: None,
        };
        if !root.is_dir() {
            stage.create_root()?;
            let lock = File::open(&root).and_then(|folder| folder.lock().map(|()| folder));
            stage._root_lock = lock.ok();
        }
        stage.journal.write(&root).map_err(|source| io_error(Operation::Write, JOURNAL, source))?;
        Ok(stage)
    }

    pub(super) fn add(&mut self, step: &'a Step, target: Target) -> Result<(), ApplyError> {
        let path = target.real.strip_prefix(&self.root).expect("every target is below the root").to_owned();
        let folder = self.journal.new_folder(&path).map(|folder| self.root.join(folder));
        let staged = self.root.join(self.journal.staged(&path));
        if let Some(folder) = &folder {
            self.create_folder(folder, &staged)
                .map_err(|source| io_error(Operation::CreateFolder, &step.path, source))?;
        }
        let (mut new, mut old) = (None, None);
        if step.before.is_some() {
            let kept = hidden(&target.real, "old");
            keep(&target.real, &kept).map_err(|source| io_error(Operation::Keep, &step.path, source))?;
            old = Some(kept);
        }
        if let Some(content) = &step.after {
            let like = step.before.as_ref().and_then(|_| fs::metadata(&target.real).ok());
            let written = create(&staged).and_then(|file| fill(file, content.as_bytes(), like));
            written.map_err(|source| io_error(Operation::Write, &step.path, source))?;
            new = Some(staged);
        }
        self.files.push(Staged { step, target, new, folder, old });
        Ok(())
    }

    /// Creates the hidden folder for the new `folder`, and the folders in it that the staged file needs.
    fn create_folder(&mut self, folder: &Path, staged: &Path) -> io::Result<()> {
        if self.filled.insert(folder.to_owned()) {
            let hidden = hidden(folder, "new");
            match hidden.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&hidden)?,
                _ => remove_leftover(&hidden)?,
            }
        }
        fs::create_dir_all(staged.parent().expect("a file is in a folder"))
    }

    /// Puts the next file in place. Returns `false` if there is none.
    pub fn put_next(&mut self) -> Result<bool, ApplyError> {
        let Some(staged) = self.files.get(self.placed) else { return Ok(false) };
        let (operation, done) = match (&staged.folder, &staged.new) {
            (Some(folder), _) if self.placed_folders.contains(folder) => (Operation::Replace, Ok(())),
            (Some(folder), _) => (Operation::Replace, fs::rename(hidden(folder, "new"), folder)),
            (None, Some(new)) => (Operation::Replace, fs::rename(new, &staged.target.real)),
            (None, None) => (Operation::Remove, fs::remove_file(&staged.target.real)),
        };
        done.map_err(|source| self.roll_back(self.placed, operation, source))?;
        self.placed_folders.extend(self.files[self.placed].folder.clone());
        self.placed += 1;
        self.end = None;
        Ok(true)
    }

    /// Puts the remaining files in place. After the first file, the run is either completed or rolled back.
    pub fn finish(mut self) -> Result<(), ApplyError> {
        while self.put_next()? {}
        self.created.clear();
        self.end = Some(End::Placed);
        // Without this line, the next run still detects that all files are in place, unless one was edited in the
        // meantime.
        let _ = Journal::commit(&self.root);
        Ok(())
    }

    /// Restores the files before `failed`, and those in the folders that are in place, the last one first.
    fn roll_back(&mut self, failed: usize, operation: Operation, source: io::Error) -> ApplyError {
        let path = self.files[failed].step.path.clone();
        let mut left = Vec::new();
        let is_placed = |(index, staged): &(usize, &Staged)| match &staged.folder {
            Some(folder) => self.placed_folders.contains(folder),
            None => *index < failed,
        };
        for (_, staged) in self.files.iter().enumerate().filter(is_placed).collect::<Vec<_>>().into_iter().rev() {
            let undone = match &staged.old {
                Some(old) => fs::rename(old, &staged.target.real),
                None => fs::remove_file(&staged.target.real),
            };
            if undone.is_err() {
                left.push(staged.step.path.clone());
            }
        }
        self.placed = 0;
        self.placed_folders.clear();
        if left.is_empty() {
            self.end = Some(End::Undone);
            return ApplyError::Io { operation, path, source };
        }
        ApplyError::HalfWritten { operation, path, source, left }
    }

    fn create_root(&mut self) -> Result<(), ApplyError> {
        let missing = self.root.ancestors().take_while(|folder| folder.symlink_metadata().is_err());
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(&folder) {
                Ok(()) => self.created.push(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(io_error(Operation::CreateFolder, &self.root.display().to_string(), source)),
            }
        }
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // After an error, the journal remains, and the next run removes the rest.
        let _ = self.end.map(|end| self.journal.close(&self.root, end));
        for folder in self.created.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The hidden name `.NAME.opctl-SUFFIX` next to the file.
pub fn hidden(file: &Path, suffix: &str) -> PathBuf {
    let name = file.file_name().expect("a file has a name").to_string_lossy();
    file.with_file_name(format!(".{name}.opctl-{suffix}"))
}

/// Creates a new file, so that no leftover of a killed run or link is written through.
pub fn create(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_leftover(path)?;
            create()
        }
        done => done,
    }
}

/// Sets owner, group (as far as the user is allowed to) and permissions of the old file.
fn fill(mut file: File, content: &[u8], old: Option<fs::Metadata>) -> io::Result<()> {
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
    file.write_all(content)
}

/// Gives the file a second name, so that a rollback restores the same file with its timestamps.
fn keep(file: &Path, old: &Path) -> io::Result<()> {
    remove_leftover(old)?;
    // Not every file system supports hard links.
    fs::hard_link(file, old).or_else(|_| fs::copy(file, old).map(drop))
}

pub fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}
