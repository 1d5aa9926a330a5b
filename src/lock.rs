//! Several opctl at once take turns.
//!
//! The lock is on the handle of a folder, so that no lock file is left and a killed process leaves no lock.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Held until it is dropped.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct Lock {
    /// None on some network file systems, which have no locks.
    _folder: Option<File>,
}

impl Lock {
    /// Locks a folder. If another process has the lock, calls `on_wait` once, and waits.
    pub fn acquire(folder: &Path, on_wait: impl FnOnce()) -> io::Result<Self> {
        let folder = File::open(folder)?;
        let locked = match folder.try_lock() {
            Err(TryLockError::WouldBlock) => {
                on_wait();
                folder.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        match locked {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self { _folder: None }),
            locked => locked.map(|()| Self { _folder: Some(folder) }),
        }
    }
}
