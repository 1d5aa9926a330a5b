//! Finds the binaries of a control plane in a given folder, on PATH or in the cache, or downloads them into the cache.
//!
//! Reads no environment variables: the places to search are in a [`Search`]. Progress is reported as [`Event`]s. Writes
//! only to the cache.
//!
//! ```no_run
//! use opctl_testenv::assets::{Cache, Network, Proxies, Search, Wanted, download, find};
//!
//! let search = Search {
//!     kubernetes: Some(Wanted::parse("1.36")?),
//!     kubebuilder_assets: None,
//!     path: Vec::new(),
//!     cache: Cache::at("/home/me/.cache/opctl"),
//!     network: Network::new(None, Proxies::default()),
//! };
//! let assets = match find(&search, &mut |_| ())? {
//!     Some(assets) => assets,
//!     None => download(&search, &mut |_| ())?,
//! };
//! # Ok::<(), opctl_testenv::AssetsError>(())
//! ```

mod archive;
mod cache;
mod error;
mod index;
mod network;
mod version;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use cache::Cache;
pub use error::AssetsError;
pub use index::{Index, Release, platform};
pub use network::{Network, Proxies};
pub use version::{OLDEST, Version, Wanted};

/// A folder with `etcd` and `kube-apiserver`, and optionally further programs, as in KUBEBUILDER_ASSETS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    folder: PathBuf, // Invariant: it has all of NEEDED.
}

/// The programs that every environment needs.
const NEEDED: [&str; 2] = ["etcd", "kube-apiserver"];

impl Assets {
    /// Returns `None` if `etcd` or `kube-apiserver` is missing.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Option<Self> {
        let folder = folder.into();
        missing(&folder).is_none().then_some(Self { folder })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a program, e.g. `kube-controller-manager`, if it is in the folder.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        Some(path_of(&self.folder, name)).filter(|path| path.is_file())
    }

    /// Runs the programs to get the Kubernetes version.
    ///
    /// # Errors
    ///
    /// If one of them does not run on this machine.
    pub fn version(&self) -> Result<Version, AssetsError> {
        run(&path_of(&self.folder, "etcd"))?;
        let program = path_of(&self.folder, "kube-apiserver");
        let said = run(&program)?;
        let version = said.trim().strip_prefix("Kubernetes ").and_then(Version::of_program);
        version.ok_or_else(|| AssetsError::DoesNotRun { program, reason: format!("says `{}`", said.trim()) })
    }
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn missing(folder: &Path) -> Option<&'static str> {
    NEEDED.into_iter().find(|name| !path_of(folder, name).is_file())
}

/// The output of `PROGRAM --version`.
fn run(program: &Path) -> Result<String, AssetsError> {
    let failed = |reason: String| AssetsError::DoesNotRun { program: program.into(), reason };
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().next().map(|line| format!("{}: {line}", output.status));
        return Err(failed(reason.unwrap_or_else(|| output.status.to_string())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The requested version, and the places to search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The Kubernetes version. `None` means any version from [`OLDEST`] on; for downloads, the newest.
    pub kubernetes: Option<Wanted>,
    /// The folder in `KUBEBUILDER_ASSETS`. If set, no other place is searched.
    pub kubebuilder_assets: Option<PathBuf>,
    /// The folders in PATH.
    pub path: Vec<PathBuf>,
    /// The cache of downloads.
    pub cache: Cache,
    /// The source of downloads.
    pub network: Network,
}

/// Progress of [`find`], [`download`] and [`unpack`].
#[derive(Debug)]
pub enum Event<'a> {
    /// The programs in a folder of PATH are too old, or do not have the requested version.
    Skipped {
        /// The folder.
        folder: &'a Path,
        /// The Kubernetes version of its programs.
        version: Version,
    },
    /// Another process uses the cache.
    Waiting {
        /// The folder of the cache.
        folder: &'a Path,
    },
    /// A download starts or continues.
    Downloading {
        /// Its URL, without a password.
        url: &'a str,
        /// The size of the file in bytes, if known.
        size: Option<u64>,
    },
    /// A part of the file was downloaded.
    Progress {
        /// The number of bytes downloaded so far.
        done: u64,
        /// The size of the file in bytes, if known.
        size: Option<u64>,
    },
    /// A request failed and will be retried.
    Retrying {
        /// The reason of the failure.
        reason: &'a str,
    },
    /// An archive is being unpacked into the cache. If the process is killed, the next one removes the incomplete
    /// folder.
    Unpacking,
}

type Watch<'a> = &'a mut dyn FnMut(Event);

/// Finds programs on this machine: in `kubebuilder_assets`, on PATH, in the cache, in this order.
///
/// # Errors
///
/// If `kubebuilder_assets` is set but does not contain the requested version, or if programs do not run.
pub fn find(search: &Search, watch: Watch) -> Result<Option<Assets>, AssetsError> {
    let absolute = |folder: &Path| std::path::absolute(folder).unwrap_or_else(|_| folder.into());
    if let Some(folder) = &search.kubebuilder_assets {
        return named(&absolute(folder), search.kubernetes).map(Some);
    }
    for folder in search.path.iter().filter(|folder| !folder.as_os_str().is_empty()) {
        let Some(assets) = Assets::in_folder(absolute(folder)) else { continue };
        let version = assets.version()?;
        if version >= OLDEST && search.kubernetes.is_none_or(|wanted| wanted.fits(version)) {
            return Ok(Some(assets));
        }
        watch(Event::Skipped { folder, version });
    }
    Ok(search.cache.find(search.kubernetes).map(|(_, assets)| assets))
}

/// Never falls back to another folder, because the user would believe that this one was used.
fn named(folder: &Path, wanted: Option<Wanted>) -> Result<Assets, AssetsError> {
    let Some(assets) = Assets::in_folder(folder) else {
        let missing = missing(folder).expect("one is missing, or `in_folder` would have succeeded");
        return Err(AssetsError::Incomplete { folder: folder.into(), missing });
    };
    match (assets.version()?, wanted) {
        (version, _) if version < OLDEST => {
            Err(AssetsError::TooOld { version: version.to_string(), folder: Some(folder.into()) })
        }
        (found, Some(wanted)) if !wanted.fits(found) => {
            Err(AssetsError::WrongVersion { folder: folder.into(), found, wanted })
        }
        _ => Ok(assets),
    }
}

/// Downloads a release into the cache, unless it already exists there.
///
/// # Errors
///
/// If there is no such release for this platform, or it cannot be downloaded, verified, unpacked or run.
pub fn download(search: &Search, watch: Watch) -> Result<Assets, AssetsError> {
    let index = search.network.index(watch)?;
    let release = index.choose(search.kubernetes, &search.network.shown())?;
    let cache = search.cache.lock(watch)?;
    // Another process may have downloaded it in the meantime.
    if let Some(assets) = cache.get(release.version) {
        return Ok(assets);
    }
    let part = cache.part(&release);
    search.network.download(&release, &part, watch)?;
    let assets = cache.unpack(&part, release.version, watch)?;
    cache.remove(&part)?;
    Ok(assets)
}

/// Unpacks a downloaded archive into the cache. The version is taken from its file name, which must be that of a
/// release.
///
/// # Errors
///
/// If the archive has another name, is for another platform, or cannot be unpacked or run.
pub fn unpack(cache: &Cache, archive: &Path, watch: Watch) -> Result<Assets, AssetsError> {
    let version = index::version_of(archive)?;
    cache.lock(watch)?.unpack(archive, version, watch)
}
