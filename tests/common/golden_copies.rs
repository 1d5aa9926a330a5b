//! Golden projects that several tests share.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use walkdir::{DirEntry, WalkDir};

use crate::extent::takes_all;
use crate::golden::Golden;
use crate::sandbox::Sandbox;

/// A golden project in a new sandbox. Its commands run once; later calls copy the files.
pub fn golden_copy(name: &str) -> Sandbox {
    static COPIES: Mutex<BTreeMap<String, Arc<OnceLock<GoldenCopy>>>> = Mutex::new(BTreeMap::new());
    let copy = COPIES.lock().unwrap_or_else(PoisonError::into_inner).entry(name.into()).or_default().clone();
    copy.get_or_init(|| GoldenCopy::of(&Golden::read(name).make(|_, _| ()))).write()
}

/// The files of a project in memory, so that no folder is left.
pub struct GoldenCopy {
    /// The folder of the project, relative to that of the sandbox.
    folder: PathBuf,
    files: Vec<(PathBuf, Vec<u8>, Permissions)>,
}

impl GoldenCopy {
    pub fn of(sandbox: &Sandbox) -> Self {
        let root = sandbox.root();
        let files = WalkDir::new(&root).into_iter().map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
        let read = |entry: DirEntry| {
            let permissions = entry.metadata().unwrap().permissions();
            (entry.path().strip_prefix(&root).unwrap().into(), fs::read(entry.path()).unwrap(), permissions)
        };
        Self { folder: sandbox.folder.strip_prefix(&root).unwrap().into(), files: files.map(read).collect() }
    }

    /// Writes the files to a new sandbox.
    pub fn write(&self) -> Sandbox {
        let mut sandbox = Sandbox::new();
        let root = sandbox.root();
        for (path, text, permissions) in &self.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, permissions.clone()).unwrap();
        }
        sandbox.folder = root.join(&self.folder);
        sandbox
    }
}

/// Every third value, starting with index `first`. Properties of all golden projects are tested with a third of them,
/// which differs between tests; with OPCTL_GOLDEN=all, as in the nightly workflow, with all.
pub fn third<T>(first: usize, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let (first, step) = if takes_all("OPCTL_GOLDEN") { (0, 1) } else { (first, 3) };
    values.into_iter().skip(first).step_by(step)
}
