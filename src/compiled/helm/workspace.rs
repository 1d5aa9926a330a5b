//! A temporary folder for charts. It is removed at the end, also after Ctrl-C.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use walkdir::WalkDir;

use super::{Files, HelmError, refuse};
use crate::interrupt::Shield;
use crate::project::is_of_a_run;

pub struct Workspace {
    folder: TempDir,
    shield: Shield,
}

impl Workspace {
    pub fn create() -> Result<Self, HelmError> {
        let shield = Shield::raise();
        match tempfile::Builder::new().prefix("opctl-chart-").tempdir() {
            Ok(folder) => Ok(Self { folder, shield }),
            Err(error) => refuse(
                format!("cannot create a temporary folder: {error}"),
                "set TMPDIR to a folder that can be written to",
            ),
        }
    }

    /// Whether Ctrl-C, and no mistake, is why helm failed.
    pub fn is_interrupted(&self) -> bool {
        self.shield.is_interrupted()
    }

    /// The chart that was fetched.
    pub fn chart(&self) -> PathBuf {
        self.path("chart")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Every file below a folder, by its path from there.
    pub fn read(&self, folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, HelmError> {
        let unreadable = |path: &Path, reason: &dyn std::fmt::Display| {
            let message = format!("cannot read `{}`: {reason}", path.display());
            HelmError { message, help: "make all files of the chart readable".into() }
        };
        let root = folder.canonicalize().map_err(|error| unreadable(folder, &error))?;
        let mut files = BTreeMap::new();
        let walk = WalkDir::new(&root).follow_links(true).into_iter();
        for entry in walk.filter_entry(|entry| entry.file_name() != ".git" && !is_of_a_run(entry.file_name())) {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            let below = entry.path().strip_prefix(&root).unwrap_or(entry.path());
            if entry.path_is_symlink() && !entry.path().canonicalize().is_ok_and(|path| path.starts_with(&root)) {
                let message = format!("the symlink `{}` leads out of the chart", below.display());
                return refuse(message, "put a copy in its place");
            }
            let Some(path) = below.to_str().filter(|_| entry.file_type().is_file()) else { continue };
            let content = fs::read(entry.path()).map_err(|error| unreadable(entry.path(), &error))?;
            files.insert(path.replace('\\', "/"), content);
        }
        Ok(files)
    }

    /// Writes these files to a folder.
    pub fn write(&self, folder: &str, files: &Files) -> Result<(), HelmError> {
        files.iter().try_for_each(|(path, text)| self.put(&format!("{folder}/{path}"), text.as_bytes()))
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
