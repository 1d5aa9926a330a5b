//! Locks a project, so that commands in it run one after another.
//!
//! The lock is on the handle of the folder, so that no lock file is left and a killed process leaves no lock.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Held until it is dropped. Take it before the first file of the project is read.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct ProjectLock {
    /// `None` on network file systems without locks. The check for lost updates in `apply` still holds.
    _folder: Option<File>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot lock the folder `{}`: {source}", path.display())]
pub struct LockError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl ProjectLock {
    /// Locks the folder, or, while there is none, the nearest one above it. If another process has the lock, calls
    /// `on_wait` with the folder once, and waits.
    pub fn acquire(root: &Path, on_wait: impl FnOnce(&Path)) -> Result<Self, LockError> {
        let root = std::path::absolute(root).map_err(|source| LockError { path: root.into(), source })?;
        // What cannot be looked at cannot be locked either, which says why.
        let path = root.ancestors().find(|path| path.try_exists().unwrap_or(true)).unwrap_or(&root);
        let failed = |source| LockError { path: path.into(), source };
        let folder = File::open(path).map_err(failed)?;
        let locked = match folder.try_lock() {
            Err(TryLockError::WouldBlock) => {
                on_wait(path);
                folder.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        match locked {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self { _folder: None }),
            locked => locked.map(|()| Self { _folder: Some(folder) }).map_err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, TryLockError};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_second_waits_for_the_first_and_says_so_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = ProjectLock::acquire(folder.path(), |_| panic!("nobody has the lock")).unwrap();
        let (say, said) = channel();
        let path = folder.path().to_owned();
        let second = std::thread::spawn(move || {
            let _lock = ProjectLock::acquire(&path, |path| say.send(path.to_owned()).unwrap()).unwrap();
        });
        assert_eq!(said.recv_timeout(Duration::from_secs(10)).unwrap(), folder.path());
        assert!(!second.is_finished());
        drop(first);
        second.join().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no lock file is left");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_locked_by_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let _first = ProjectLock::acquire(&folder.path().join("a/b"), |_| ()).unwrap();
        let above = File::open(folder.path()).unwrap();
        assert!(matches!(above.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
