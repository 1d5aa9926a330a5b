//! The folder of a test environment, and who owns it: a lock that ends with its process.
//!
//! What a killed process left behind is known by that lock, which nobody holds any more.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::TestenvError;
use super::process::{self, Guard};

/// A folder for as long as this process lives: it is removed when this is dropped, and also when the process is killed,
/// with the processes that it was told of.
pub struct Scratch {
    pub folder: PathBuf,
    /// None once it is kept.
    guard: Option<Guard>,
    _lock: File,
}

/// In the folder of an environment that goes on without the process that started it.
const KEPT: &str = "kept";
const LOCK: &str = "lock";

impl Scratch {
    /// A new folder below `root`. What other processes left there is cleaned up first.
    pub fn take(root: &Path, name: &str) -> Result<Self, TestenvError> {
        fs::create_dir_all(root).map_err(|error| TestenvError::io("make", root, error))?;
        // A command line holds it, so it must be the same to everybody.
        let root = root.canonicalize().map_err(|error| TestenvError::io("find", root, error))?;
        let _turn = turn(&root)?;
        clean(&root)?;
        let folder = root.join(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(TestenvError::Exists { name: name.to_owned() });
            }
            made => made.map_err(|error| TestenvError::io("make", &folder, error))?,
        }
        let lock = lock(&folder)?;
        lock.try_lock().map_err(|error| TestenvError::io("lock", &folder, error.into()))?;
        let guard = Guard::of(&folder).map_err(|error| TestenvError::Start { program: "sh".into(), error })?;
        Ok(Self { folder, guard: Some(guard), _lock: lock })
    }

    /// Has a process end with this one, also when this one is killed.
    pub fn watch(&mut self, process: u32) -> Result<(), TestenvError> {
        self.tell(|guard| guard.watch(process))
    }

    /// The process has ended, and its id may be another's.
    pub fn forget(&mut self, process: u32) -> Result<(), TestenvError> {
        self.tell(|guard| guard.forget(process))
    }

    /// It goes on without this process.
    pub fn keep(mut self) -> Result<(), TestenvError> {
        write(&self.folder.join(KEPT), "")?;
        self.dismiss()
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, TestenvError> {
        let path = self.folder.join(name);
        write(&path, text)?;
        Ok(path)
    }

    fn tell(&mut self, what: impl FnOnce(&mut Guard) -> std::io::Result<()>) -> Result<(), TestenvError> {
        let told = self.guard.as_mut().map_or(Ok(()), what);
        told.map_err(|error| TestenvError::io("watch over", &self.folder, error))
    }

    fn dismiss(&mut self) -> Result<(), TestenvError> {
        let dismissed = self.guard.take().map_or(Ok(()), Guard::dismiss);
        dismissed.map_err(|error| TestenvError::io("leave", &self.folder, error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be done here the guard does.
        if self.guard.is_some() && remove(&self.folder).is_ok() {
            let _ = self.dismiss();
        }
    }
}

/// Of the environments below `root` that go on without their process: the folders, by name.
pub fn kept(root: &Path) -> Result<Vec<PathBuf>, TestenvError> {
    if !root.exists() {
        return Ok(Vec::new());
    }
    let root = root.canonicalize().map_err(|error| TestenvError::io("find", root, error))?;
    let _turn = turn(&root)?;
    clean(&root)?;
    Ok(folders(&root)?.into_iter().filter(|folder| folder.join(KEPT).exists()).collect())
}

/// Stops one, and removes its folder.
pub fn remove(folder: &Path) -> Result<(), TestenvError> {
    process::kill_all(folder).map_err(|error| TestenvError::io("stop what runs in", folder, error))?;
    fs::remove_dir_all(folder).map_err(|error| TestenvError::io("remove", folder, error))
}

/// Keys are among it, so it is for nobody else.
pub fn write(path: &Path, text: &str) -> Result<(), TestenvError> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true).mode(0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| TestenvError::io("write", path, error))
}

/// One at a time makes and removes folders.
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

/// Removes what a killed process left, and what was kept and did not outlive the machine's restart.
fn clean(root: &Path) -> Result<(), TestenvError> {
    for folder in folders(root)? {
        let held = matches!(lock(&folder)?.try_lock(), Err(TryLockError::WouldBlock));
        let goes_on = folder.join(KEPT).exists()
            && !process::running(&folder).map_err(|error| TestenvError::io("look after", &folder, error))?.is_empty();
        if !held && !goes_on {
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
