//! Where the programs of a control plane are: in a folder that somebody names, on PATH, in the cache, or to be downloaded
//! into it.
//!
//! What the environment says comes in as values ([`Search`]), what happens meanwhile goes out as [`Event`]s. Nothing is
//! written but below the cache.

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

/// A folder with `etcd` and `kube-apiserver`, as `KUBEBUILDER_ASSETS` names one, and maybe more of a control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    folder: PathBuf, // Invariant: it has all of NEEDED.
}

/// Without these nothing starts.
const NEEDED: [&str; 2] = ["etcd", "kube-apiserver"];

impl Assets {
    /// `None` where one of the two programs is not there.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Option<Self> {
        let folder = folder.into();
        missing(&folder).is_none().then_some(Self { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// One that need not be there, e.g. `kube-controller-manager`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        Some(path_of(&self.folder, name)).filter(|path| path.is_file())
    }

    /// Asks the programs themselves, which shows that they run here; gives the version of Kubernetes.
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

/// What `PROGRAM --version` prints.
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

/// Where to look, and for what.
#[derive(Clone, Debug)]
pub struct Search {
    /// Any that is not too old where nothing is said.
    pub kubernetes: Option<Wanted>,
    /// The folder that somebody named: it is this one or none.
    pub kubebuilder_assets: Option<PathBuf>,
    /// The folders of PATH.
    pub path: Vec<PathBuf>,
    pub cache: Cache,
    pub network: Network,
}

/// What happens while programs are looked for.
#[derive(Debug)]
pub enum Event<'a> {
    /// A folder of PATH has programs of another version than the one that is asked for, or too old ones.
    PassedOver { folder: &'a Path, version: Version },
    /// Another opctl works in the cache.
    Waiting { folder: &'a Path },
    /// Where from, and how many bytes there are in all, if that is known.
    Downloading { url: &'a str, size: Option<u64> },
    /// So many bytes are there.
    Progress { done: u64, size: Option<u64> },
    /// It failed, and is tried once more.
    Again { reason: &'a str },
}

type Watch<'a> = &'a mut dyn FnMut(Event);

/// Finds programs on this machine: the folder that is named, then PATH, then the cache.
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
        watch(Event::PassedOver { folder, version });
    }
    Ok(search.cache.find(search.kubernetes).map(|(_, assets)| assets))
}

/// The folder that somebody named. Where it does not do, nothing else is taken: they would believe that it was used.
fn named(folder: &Path, wanted: Option<Wanted>) -> Result<Assets, AssetsError> {
    let Some(assets) = Assets::in_folder(folder) else {
        let missing = missing(folder).expect("it would do otherwise");
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

/// Downloads the release that is asked for, the newest where nothing is said, into the cache.
pub fn download(search: &Search, watch: Watch) -> Result<Assets, AssetsError> {
    let index = search.network.index(watch)?;
    let release = index.choose(search.kubernetes, &search.network.shown())?;
    let cache = search.cache.lock(watch)?;
    // Another opctl may have brought it meanwhile.
    if let Some(assets) = cache.get(release.version) {
        return Ok(assets);
    }
    let part = cache.part(&release);
    search.network.download(&release, &part, watch)?;
    let assets = cache.unpack(&part, release.version)?;
    cache.remove(&part)?;
    Ok(assets)
}

/// Puts an archive into the cache that somebody downloaded elsewhere; its name has the version.
pub fn unpack(cache: &Cache, archive: &Path, watch: Watch) -> Result<Assets, AssetsError> {
    let version = index::version_of(archive)?;
    cache.lock(watch)?.unpack(archive, version)
}
