//! The folder of a test environment, with a lock that is released when its process ends.
//!
//! A folder that is not locked was left behind by a killed process.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::TestenvError;
use super::process::{self, Guard};

/// A folder that is removed when this is dropped or when this process is killed. Processes can be bound to the folder:
/// they are killed together with it.
pub struct Scratch {
    folder: PathBuf,
    /// `None` once the folder is kept.
    guard: Option<Guard>,
    _lock: File,
}

/// The file that marks an environment that outlives its process.
const KEPT: &str = "kept";
const LOCK: &str = "lock";

impl Scratch {
    /// Creates the folder `name` in `root`, after removing leftovers of killed processes there.
    ///
    /// # Errors
    ///
    /// If a folder of this name is in use, or a file cannot be read or written.
    pub fn take(root: &Path, name: &str) -> Result<Self, TestenvError> {
        fs::create_dir_all(root).map_err(|error| TestenvError::io("create", root, error))?;
        // The path becomes part of command lines, by which processes are found later.
        let root = root.canonicalize().map_err(|error| TestenvError::io("find", root, error))?;
        let _turn = turn(&root)?;
        clean(&root)?;
        let folder = root.join(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(TestenvError::Exists { name: name.to_owned() });
            }
            made => made.map_err(|error| TestenvError::io("create", &folder, error))?,
        }
        let lock = lock(&folder)?;
        lock.try_lock().map_err(|error| TestenvError::io("lock", &folder, error.into()))?;
        let guard = Guard::of(&folder).map_err(|error| TestenvError::Start { program: "sh".into(), error })?;
        Ok(Self { folder, guard: Some(guard), _lock: lock })
    }

    /// The absolute path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Binds a process to the folder, by its id.
    ///
    /// # Errors
    ///
    /// If the guard process no longer runs.
    pub fn watch(&mut self, process: u32) -> Result<(), TestenvError> {
        self.with_guard(|guard| guard.watch(process))
    }

    /// Releases a process that has exited, since another one may get its id.
    ///
    /// # Errors
    ///
    /// If the guard process no longer runs.
    pub fn forget(&mut self, process: u32) -> Result<(), TestenvError> {
        self.with_guard(|guard| guard.forget(process))
    }

    /// Keeps the folder and its processes when this process exits.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written, or the guard process no longer runs.
    pub fn keep(mut self) -> Result<(), TestenvError> {
        write(&self.folder.join(KEPT), "")?;
        self.dismiss()
    }

    /// Writes a file in the folder, readable by this user only. Returns its path.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, TestenvError> {
        let path = self.folder.join(name);
        write(&path, text)?;
        Ok(path)
    }

    fn with_guard(&mut self, action: impl FnOnce(&mut Guard) -> std::io::Result<()>) -> Result<(), TestenvError> {
        let result = self.guard.as_mut().map_or(Ok(()), action);
        result.map_err(|error| TestenvError::io("watch over", &self.folder, error))
    }

    fn dismiss(&mut self) -> Result<(), TestenvError> {
        let dismissed = self.guard.take().map_or(Ok(()), Guard::dismiss);
        dismissed.map_err(|error| TestenvError::io("leave", &self.folder, error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the guard tries again.
        if self.guard.is_some() && remove(&self.folder).is_ok() {
            let _ = self.dismiss();
        }
    }
}

/// The folders of the kept environments in `root`, sorted by name.
pub fn kept(root: &Path) -> Result<Vec<PathBuf>, TestenvError> {
    if !root.exists() {
        return Ok(Vec::new());
    }
    let root = root.canonicalize().map_err(|error| TestenvError::io("find", root, error))?;
    let _turn = turn(&root)?;
    clean(&root)?;
    Ok(folders(&root)?.into_iter().filter(|folder| folder.join(KEPT).exists()).collect())
}

/// Kills the programs of an environment and removes its folder.
pub fn remove(folder: &Path) -> Result<(), TestenvError> {
    process::kill_all(folder).map_err(|error| TestenvError::io("stop what runs in", folder, error))?;
    fs::remove_dir_all(folder).map_err(|error| TestenvError::io("remove", folder, error))
}

/// Writes a file that no other user can read, since some files contain private keys.
pub fn write(path: &Path, text: &str) -> Result<(), TestenvError> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true).mode(0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| TestenvError::io("write", path, error))
}

/// Locks `root`: only one process at a time creates and removes folders in it.
fn turn(root: &Path) -> Result<File, TestenvError> {
    let turn = lock(root)?;
    turn.lock().map_err(|error| TestenvError::io("lock", root, error))?;
    Ok(turn)
}

fn lock(folder: &Path) -> Result<File, TestenvError> {
    let path = folder.join(LOCK);
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    options.open(&path).map_err(|error| TestenvError::io("open", &path, error))
}

/// Removes the folders of killed processes, and those of kept environments that stopped when the machine restarted.
fn clean(root: &Path) -> Result<(), TestenvError> {
    for folder in folders(root)? {
        let held = matches!(lock(&folder)?.try_lock(), Err(TryLockError::WouldBlock));
        let runs = folder.join(KEPT).exists()
            && !process::running(&folder)
                .map_err(|error| TestenvError::io("list the processes of", &folder, error))?
                .is_empty();
        if !held && !runs {
            remove(&folder)?;
        }
    }
    Ok(())
}

fn folders(root: &Path) -> Result<Vec<PathBuf>, TestenvError> {
    let failed = |error| TestenvError::io("read", root, error);
    let entries = fs::read_dir(root).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut folders: Vec<_> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}
