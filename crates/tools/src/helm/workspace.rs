//! A temporary folder for charts. It is removed at the end, and after Ctrl-C. If opctl is killed, the next run with
//! charts removes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Files, HelmError, refuse};
use opctl_model::project::{Contents, Intake};
use opctl_process::Shield;

pub struct Workspace {
    folder: TempDir,
    /// Held while the folder is in use. The folder of a killed process is not locked.
    _lock: File,
    shield: Shield,
}

impl Workspace {
    pub fn create() -> Result<Self, HelmError> {
        let shield = Shield::raise();
        let base = std::env::temp_dir();
        remove_leftovers(&base);
        match locked(&base) {
            Ok((folder, lock)) => Ok(Self { folder, _lock: lock, shield }),
            Err(error) => refuse(
                format!("cannot create a temporary folder: {error}"),
                "set TMPDIR to a folder that can be written to",
            ),
        }
    }

    /// `true` if helm failed because of Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.shield.is_interrupted()
    }

    /// The path of the fetched chart.
    pub fn chart(&self) -> PathBuf {
        self.path("chart")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// All files of a chart, by path relative to `folder`.
    pub fn read(&self, folder: &Path) -> Result<Contents, HelmError> {
        let help = "correct it in a copy of the chart, and use the copy";
        Intake::default().folder(folder, "").or_else(|error| refuse(error.to_string(), help))
    }

    /// Writes files to a folder.
    pub fn write(&self, folder: &str, files: &Files) -> Result<(), HelmError> {
        let texts = files.texts.iter().map(|(path, text)| (path, text.as_bytes()));
        let others = files.others.iter().map(|(path, content)| (path, content.as_slice()));
        texts.chain(others).try_for_each(|(path, content)| self.put(&format!("{folder}/{path}"), content))
    }

    pub fn remove(&self, file: &Path) -> Result<(), HelmError> {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => refuse(
                format!("cannot remove `{}`: {error}", file.display()),
                "make TMPDIR a folder that can be written to",
            ),
            _ => Ok(()),
        }
    }

    pub fn put(&self, path: &str, content: &[u8]) -> Result<(), HelmError> {
        let path = self.path(path);
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, content)).or_else(|error| {
            refuse(format!("cannot write `{}`: {error}", path.display()), "set TMPDIR to a folder with room")
        })
    }
}

const PREFIX: &str = "opctl-workspace-";

/// A new folder, and its lock.
fn locked(base: &Path) -> io::Result<(TempDir, File)> {
    loop {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(base)?;
        let lock = File::open(folder.path())?;
        lock.lock()?;
        // Another process may have removed the folder as a leftover before it was locked.
        if folder.path().exists() {
            return Ok((folder, lock));
        }
    }
}

/// Removes the folders of killed processes, which are not locked.
fn remove_leftovers(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let is_own = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_own || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Folders of other users cannot be opened or removed, and are skipped.
        if let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_without_a_lock_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let (used, lock) = locked(base.path()).unwrap();
        let (left, killed) = locked(base.path()).unwrap();
        drop(killed);
        let others = base.path().join("others");
        fs::create_dir(&others).unwrap();
        fs::write(left.path().join("file"), "").unwrap();
        remove_leftovers(base.path());
        assert!(used.path().exists() && others.exists() && !left.path().exists());
        drop(lock);
        remove_leftovers(base.path());
        assert!(!used.path().exists());
    }
}
