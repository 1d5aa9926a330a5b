//! Locks a project, so that commands in it run one after another.
//!
//! The lock is on the handle of the folder, so that no lock file is left and a killed process leaves no lock.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

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
    /// Locks the folder, or, while there is none, the nearest one above it. If another process has the lock for longer than a second, calls
    /// `on_wait` once, with the folder and the id of that process, if known, and waits.
    pub fn acquire(root: &Path, on_wait: impl FnOnce(&Path, Option<u32>)) -> Result<Self, LockError> {
        let root = std::path::absolute(root).map_err(|source| LockError { path: root.into(), source })?;
        // What cannot be looked at cannot be locked either, which says why.
        let path = root.ancestors().find(|path| path.try_exists().unwrap_or(true)).unwrap_or(&root);
        let failed = |source| LockError { path: path.into(), source };
        let folder = File::open(path).map_err(failed)?;
        let locked = match try_for_a_second(&folder) {
            Err(TryLockError::WouldBlock) => {
                on_wait(path, holder(&folder));
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

/// Tries for a second before anything is reported: most commands finish sooner.
fn try_for_a_second(folder: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_secs(1) / TRIES),
            locked => return locked,
        }
    }
    folder.try_lock()
}

/// The id of the process that holds the lock, from `/proc/locks` (Linux): `1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF`. The device numbers
/// are hexadecimal.
fn holder(folder: &File) -> Option<u32> {
    let metadata = folder.metadata().ok()?;
    let device = metadata.dev();
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & 0xffff_ff00);
    let file = format!("{major:02x}:{minor:02x}:{}", metadata.ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, _, process, locked, ..] if locked == file => process.parse().ok(),
        _ => None,
    })
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
        let first = ProjectLock::acquire(folder.path(), |_, _| panic!("nobody has the lock")).unwrap();
        let (say, said) = channel();
        let path = folder.path().to_owned();
        let second = std::thread::spawn(move || {
            let _lock =
                ProjectLock::acquire(&path, |path, holder| say.send((path.to_owned(), holder)).unwrap()).unwrap();
        });
        let (path, holder) = said.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(path, folder.path());
        if cfg!(target_os = "linux") {
            assert_eq!(holder, Some(std::process::id()));
        }
        assert!(!second.is_finished());
        drop(first);
        second.join().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no lock file is left");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_locked_by_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let _first = ProjectLock::acquire(&folder.path().join("a/b"), |_, _| ()).unwrap();
        let above = File::open(folder.path()).unwrap();
        assert!(matches!(above.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
