//! The cache of downloaded releases: `CACHE/kubernetes/1.36.0-linux-amd64/` is a release. A release is complete or does
//! not exist.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{Assets, AssetsError, Event, OLDEST, Release, Version, Wanted, Watch, archive, platform};

/// A folder of releases, shared by all processes of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// The cache, locked against other processes.
pub struct Locked<'a> {
    cache: &'a Cache,
    /// `None` on network file systems without locks.
    _lock: Option<File>,
}

impl Cache {
    /// A cache below this folder, which is created when needed. The `opctl` CLI uses OPCTL_CACHE, by default
    /// `~/.cache/opctl`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().join("kubernetes") }
    }

    /// The folder of the releases.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The releases for this platform, newest first.
    pub fn releases(&self) -> Vec<(Version, Assets)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let release = |entry: fs::DirEntry| {
            let name = entry.file_name();
            let version = Version::parse(name.to_str()?.strip_suffix(&format!("-{}", platform()))?)?;
            Some((version, Assets::in_folder(entry.path())?))
        };
        let mut releases: Vec<(Version, Assets)> = entries.filter_map(release).collect();
        releases.retain(|(version, _)| *version >= OLDEST);
        releases.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        releases
    }

    /// The newest matching release.
    pub fn find(&self, wanted: Option<Wanted>) -> Option<(Version, Assets)> {
        self.releases().into_iter().find(|(version, _)| wanted.is_none_or(|wanted| wanted.fits(*version)))
    }

    /// Waits for the lock. It is on the handle of the folder, so it is released when its process is killed.
    pub(super) fn lock(&self, watch: Watch) -> Result<Locked<'_>, AssetsError> {
        let failed = |error| AssetsError::write(&self.folder, error);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let lock = File::open(&self.folder).map_err(failed)?;
        let locked = match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                watch(Event::Waiting { folder: &self.folder });
                lock.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        match locked {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Locked { cache: self, _lock: None }),
            locked => locked.map(|()| Locked { cache: self, _lock: Some(lock) }).map_err(failed),
        }
    }

    fn release(&self, version: Version) -> PathBuf {
        self.folder.join(format!("{version}-{}", platform()))
    }
}

impl Locked<'_> {
    pub fn get(&self, version: Version) -> Option<Assets> {
        Assets::in_folder(self.cache.release(version))
    }

    /// The path of an incomplete download.
    pub fn part(&self, release: &Release) -> PathBuf {
        self.cache.folder.join(format!("{}.part", release.archive))
    }

    /// Unpacks into a temporary folder, checks that the programs run, and renames the folder to that of the release.
    pub fn unpack(&self, archive: &Path, version: Version, watch: Watch) -> Result<Assets, AssetsError> {
        watch(Event::Unpacking);
        let target = self.cache.release(version);
        let fresh = self.cache.folder.join(format!("{version}-{}.unpacking", platform()));
        // A leftover of a killed process.
        self.remove(&fresh)?;
        let result = fs::create_dir(&fresh)
            .map_err(|error| AssetsError::write(&fresh, error))
            .and_then(|()| archive::unpack(archive, &fresh))
            .and_then(|()| check(archive, &fresh, version))
            // An existing folder lacks a program, or comes from another archive.
            .and_then(|()| self.remove(&target))
            .and_then(|()| fs::rename(&fresh, &target).map_err(|error| AssetsError::write(&target, error)));
        if let Err(error) = result {
            // The first error is the one to report.
            let _ = self.remove(&fresh);
            return Err(error);
        }
        Ok(Assets::in_folder(target).expect("it was checked before it was renamed"))
    }

    /// Removes a file or a folder, if it exists.
    pub fn remove(&self, path: &Path) -> Result<(), AssetsError> {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(AssetsError::write(path, error)),
            _ => Ok(()),
        }
    }
}

/// Checks that the programs exist, run here, and have the version in the archive's name.
fn check(archive: &Path, folder: &Path, version: Version) -> Result<(), AssetsError> {
    let bad = |reason: String| AssetsError::Archive { archive: archive.into(), reason };
    let Some(assets) = Assets::in_folder(folder) else {
        let missing = super::missing(folder).expect("one is missing, or `in_folder` would have succeeded");
        return Err(bad(format!("it has no `controller-tools/envtest/{missing}`")));
    };
    match assets.version() {
        Ok(found) if found == version => Ok(()),
        Ok(found) => Err(bad(format!("its name says Kubernetes {version}, and its `kube-apiserver` is {found}"))),
        // The message names the program only, since the temporary folder will be gone.
        Err(AssetsError::DoesNotRun { program, reason }) => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            Err(bad(format!("its `{name}` does not run here: {reason}")))
        }
        Err(error) => Err(error),
    }
}
