//! Where downloads are kept: `CACHE/kubernetes/1.36.0-linux-amd64/` is a release, whole or not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Assets, AssetsError, Event, OLDEST, Release, Version, Wanted, Watch, archive, platform};
use crate::interrupt::Shield;
use crate::lock::Lock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// The cache while no other opctl changes it; released when it is dropped.
pub struct Locked<'a> {
    cache: &'a Cache,
    _lock: Lock,
}

impl Cache {
    /// opctl's own folder in the user's cache; it need not be there.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().join("kubernetes") }
    }

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

    /// The newest that fits.
    pub fn find(&self, wanted: Option<Wanted>) -> Option<(Version, Assets)> {
        self.releases().into_iter().find(|(version, _)| wanted.is_none_or(|wanted| wanted.fits(*version)))
    }

    /// Waits for other opctl.
    pub(super) fn lock(&self, watch: Watch) -> Result<Locked<'_>, AssetsError> {
        let failed = |error| AssetsError::write(&self.folder, error);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let lock = Lock::acquire(&self.folder, || watch(Event::Waiting { folder: &self.folder }));
        Ok(Locked { cache: self, _lock: lock.map_err(failed)? })
    }

    fn release(&self, version: Version) -> PathBuf {
        self.folder.join(format!("{version}-{}", platform()))
    }
}

impl Locked<'_> {
    pub fn get(&self, version: Version) -> Option<Assets> {
        Assets::in_folder(self.cache.release(version))
    }

    /// Where the archive is kept until it is whole.
    pub fn part(&self, release: &Release) -> PathBuf {
        self.cache.folder.join(format!("{}.part", release.archive))
    }

    /// Unpacks beside the release's place, looks whether it runs here, and puts it there by one rename.
    pub fn unpack(&self, archive: &Path, version: Version) -> Result<Assets, AssetsError> {
        let target = self.cache.release(version);
        let fresh = self.cache.folder.join(format!("{version}-{}.unpacking", platform()));
        let shield = Shield::raise();
        // Of one that was killed.
        self.remove(&fresh)?;
        let result = fs::create_dir(&fresh)
            .map_err(|error| AssetsError::write(&fresh, error))
            .and_then(|()| archive::unpack(archive, &fresh))
            .and_then(|()| check(archive, &fresh, version))
            .and_then(|()| if shield.is_interrupted() { Err(AssetsError::Interrupted) } else { Ok(()) })
            // What is there has lost a program, or comes from another archive.
            .and_then(|()| self.remove(&target))
            .and_then(|()| fs::rename(&fresh, &target).map_err(|error| AssetsError::write(&target, error)));
        if let Err(error) = result {
            // What went wrong first is what is told.
            let _ = self.remove(&fresh);
            return Err(error);
        }
        Ok(Assets::in_folder(target).expect("it was looked at before it was put there"))
    }

    /// A file, or a folder with all that is in it; nothing where there is none.
    pub fn remove(&self, path: &Path) -> Result<(), AssetsError> {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(AssetsError::write(path, error)),
            _ => Ok(()),
        }
    }
}

/// Whether it has the programs, they run here, and are what the archive's name says.
fn check(archive: &Path, folder: &Path, version: Version) -> Result<(), AssetsError> {
    let bad = |reason: String| AssetsError::Archive { archive: archive.into(), reason };
    let Some(assets) = Assets::in_folder(folder) else {
        let missing = super::missing(folder).expect("it would do otherwise");
        return Err(bad(format!("it has no `controller-tools/envtest/{missing}`")));
    };
    match assets.version() {
        Ok(found) if found == version => Ok(()),
        Ok(found) => Err(bad(format!("its name says Kubernetes {version}, and its `kube-apiserver` is {found}"))),
        // The folder it was tried in is gone when this is read.
        Err(AssetsError::DoesNotRun { program, reason }) => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            Err(bad(format!("its `{name}` does not run here: {reason}")))
        }
        Err(error) => Err(error),
    }
}
