//! Locks a project, so that commands in it run one after another.
//!
//! The lock is on the handle of the folder, so it leaves no lock file, and none if its process is killed.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

/// The lock, held until it is dropped. Acquire it before reading the first file of the project.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct ProjectLock {
    /// `None` on network file systems without locks. The check for lost updates in `apply` still holds.
    _folder: Option<File>,
    /// The folders that were created to be locked, outer ones first.
    created: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot lock the folder `{}`: {source}", path.display())]
pub struct LockError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl ProjectLock {
    /// Locks the folder. Creates a missing folder, and removes it later if nothing was written to it. If another
    /// process holds the lock for longer than a second, calls `on_wait` once, with the folder and the id of that
    /// process, if known, and waits.
    pub fn acquire(root: &Path, on_wait: impl FnOnce(&Path, Option<u32>)) -> Result<Self, LockError> {
        let root = std::path::absolute(root).map_err(|source| LockError { path: root.into(), source })?;
        let failed = |source| LockError { path: root.clone(), source };
        let mut on_wait = Some(on_wait);
        loop {
            let mut lock = Self { _folder: None, created: Vec::new() };
            create(&root, &mut lock.created).map_err(failed)?;
            let folder = match File::open(&root) {
                // The process that created it wrote nothing, and has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                folder => folder.map_err(failed)?,
            };
            let locked = match try_for_a_second(&folder) {
                Err(TryLockError::WouldBlock) => {
                    on_wait.take().into_iter().for_each(|on_wait| on_wait(&root, holder(&folder)));
                    folder.lock()
                }
                Err(TryLockError::Error(error)) => Err(error),
                Ok(()) => Ok(()),
            };
            match locked {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(lock),
                locked => locked.map_err(failed)?,
            }
            if is_at(&folder, &root) {
                lock._folder = Some(folder);
                return Ok(lock);
            }
        }
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        for folder in self.created.iter().rev() {
            // Fails if the folder is not empty; it is then kept.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Creates a folder and the missing ones above it.
fn create(folder: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|above| matches!(above.try_exists(), Ok(false))).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => created.push(folder.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Another process has removed the parent in the meantime; opening the folder will then fail as well.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// `true` unless the folder was removed, and possibly recreated, while this process waited for its lock.
fn is_at(folder: &File, path: &Path) -> bool {
    let identity = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
    identity(folder.metadata()).is_some_and(|own| Some(own) == identity(path.metadata()))
}

/// Tries for a second before anything is reported, since most commands finish sooner.
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

/// The id of the process that holds the lock, from `/proc/locks` (Linux): `1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0
/// EOF`. The device numbers are hexadecimal.
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
    fn a_missing_folder_is_locked_without_the_one_above_and_goes_if_it_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("a/b");
        let lock = ProjectLock::acquire(&missing, |_, _| ()).unwrap();
        File::open(folder.path()).unwrap().try_lock().expect("the folder above is free");
        assert!(matches!(File::open(&missing).unwrap().try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        assert!(!folder.path().join("a").exists());
        let lock = ProjectLock::acquire(&missing, |_, _| ()).unwrap();
        std::fs::write(missing.join("file"), "").unwrap();
        drop(lock);
        assert!(missing.join("file").exists());
    }

    #[test]
    fn who_waits_for_a_folder_that_is_removed_locks_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("new");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let missing = missing.clone();
                std::thread::spawn(move || {
                    for _ in 0..20 {
                        let _lock = ProjectLock::acquire(&missing, |_, _| ()).unwrap();
                        // Fails if another thread is between these lines, too.
                        std::fs::create_dir(missing.join("in-use")).unwrap();
                        std::fs::remove_dir(missing.join("in-use")).unwrap();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
