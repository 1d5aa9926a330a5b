//! Errors of finding or downloading the binaries, with alternative ways to get them.

use std::io;
use std::path::{Path, PathBuf};

use super::{OLDEST, Search, Version, Wanted, platform};

/// The reason why programs were not found or downloaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssetsError {
    /// The text is not a version.
    #[error("`{0}` is not a Kubernetes version")]
    NoVersion(String),
    /// The version is older than [`OLDEST`].
    #[error("Kubernetes {version}{} is too old for a test environment", .folder.as_ref().map(|folder| format!(" in `{}`", folder.display())).unwrap_or_default())]
    TooOld {
        /// The version.
        version: String,
        /// The folder.
        folder: Option<PathBuf>,
    },
    /// The folder in KUBEBUILDER_ASSETS lacks a program.
    #[error("KUBEBUILDER_ASSETS names `{}`, which has no `{missing}`", folder.display())]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The missing program.
        missing: &'static str,
    },
    /// The folder in KUBEBUILDER_ASSETS has another version.
    #[error("KUBEBUILDER_ASSETS names `{}`, which has Kubernetes {found}, not {wanted}", folder.display())]
    WrongVersion {
        /// The folder.
        folder: PathBuf,
        /// The version in the folder.
        found: Version,
        /// The requested version.
        wanted: Wanted,
    },
    /// A program does not run on this machine.
    #[error("`{}` does not run: {reason}", program.display())]
    DoesNotRun {
        /// The path of the program.
        program: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The URL of a proxy does not parse.
    #[error("`{0}` is not a valid proxy URL")]
    BadProxy(String),
    /// A download failed after retries.
    #[error("cannot download `{url}`{}: {reason}", .proxy.as_ref().map(|proxy| format!(" by the proxy `{proxy}`")).unwrap_or_default())]
    Download {
        /// The URL, without a password.
        url: String,
        /// The proxy, without a password.
        proxy: Option<String>,
        /// The cause.
        reason: String,
    },
    /// The index does not parse.
    #[error("`{url}` is not an index of envtest releases: {reason}")]
    BadIndex {
        /// The URL, without a password.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The index has no such version.
    #[error("there is no Kubernetes {wanted} in `{url}`")]
    UnknownVersion {
        /// The requested version.
        wanted: Wanted,
        /// The URL, without a password.
        url: String,
        /// The available versions, newest first.
        versions: Vec<Version>,
    },
    /// The index has no such version for this platform.
    #[error("there is no Kubernetes{} for `{}` in `{url}`", .wanted.map(|wanted| format!(" {wanted}")).unwrap_or_default(), platform())]
    UnknownPlatform {
        /// The requested version.
        wanted: Option<Wanted>,
        /// The URL, without a password.
        url: String,
    },
    /// The checksum of a download differs from that in the index.
    #[error("`{url}` is not what was released: its SHA-512 is {found}, not {expected}; what was downloaded is removed")]
    WrongHash {
        /// The URL, without a password.
        url: String,
        /// The checksum of the download.
        found: String,
        /// The checksum in the index.
        expected: String,
    },
    /// An archive could not be unpacked.
    #[error("cannot unpack `{}`: {reason}", archive.display())]
    Archive {
        /// The path of the archive.
        archive: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The file name of an archive does not match a release for this platform.
    #[error("`{}` is not named as an archive for `{}` is", .0.display(), platform())]
    ArchiveName(PathBuf),
    /// A file or folder of the cache could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl AssetsError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    /// The next steps after a search. The commands are those of the `opctl` CLI.
    pub fn help(&self, search: &Search) -> Vec<String> {
        match self {
            Self::NoVersion(_) => vec!["a version is written as `1.36` or `1.36.2`".into()],
            Self::TooOld { folder, .. } => {
                let oldest = format!("{}.{}", OLDEST.major, OLDEST.minor);
                let reason = format!("kube 5's CRDs use `selectableFields`, which API servers have since {oldest}");
                [Some(reason), folder.as_ref().map(|_| UNSET.to_owned())].into_iter().flatten().collect()
            }
            Self::Incomplete { .. } => {
                vec!["name a folder that has both `etcd` and `kube-apiserver`".into(), UNSET.into()]
            }
            Self::WrongVersion { found, .. } => vec![format!("ask for that one: `--kubernetes {found}`"), UNSET.into()],
            Self::DoesNotRun { .. } => vec![format!(
                "name a folder whose programs are for `{}`: `export KUBEBUILDER_ASSETS=DIR`; it comes before PATH",
                platform()
            )],
            Self::BadProxy(_) => {
                vec![
                    "HTTPS_PROXY, HTTP_PROXY and ALL_PROXY look like `http://user:password@proxy.example.com:3128`"
                        .into(),
                ]
            }
            Self::UnknownVersion { versions, .. } if !versions.is_empty() => {
                let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
                let there = format!("there are {}", versions.join(", "));
                std::iter::once(there).chain(other_ways(search)).collect()
            }
            Self::Download { .. }
            | Self::BadIndex { .. }
            | Self::UnknownVersion { .. }
            | Self::UnknownPlatform { .. } => other_ways(search),
            Self::WrongHash { .. } => {
                let again = "run the command again; if it happens again, a proxy or the mirror changes files".into();
                std::iter::once(again).chain(other_ways(search)).collect()
            }
            Self::Archive { .. } | Self::ArchiveName(_) => {
                vec![format!("an archive is called `envtest-vVERSION-{}.tar.gz`, from {RELEASES}", platform())]
            }
            Self::Write { source, .. } => {
                let cache = search.cache.folder().display();
                let other = "`export OPCTL_CACHE=DIR` chooses another folder";
                vec![if is_full(source) {
                    format!("the disk is full: make room, e.g. in the cache `{cache}`, or {other}")
                } else {
                    format!("the cache is `{cache}`; {other}")
                }]
            }
        }
    }
}

const UNSET: &str = "`unset KUBEBUILDER_ASSETS`, and opctl looks on PATH, then in its cache, then downloads";

/// The page with the archives.
const RELEASES: &str = "https://github.com/kubernetes-sigs/controller-tools/releases";

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Other ways to get the programs after a failed download.
fn other_ways(search: &Search) -> Vec<String> {
    let mut ways = Vec::new();
    let cached: Vec<String> = search.cache.releases().iter().map(|(version, _)| version.to_string()).collect();
    if let Some(newest) = cached.first() {
        ways.push(format!("the cache has {}: `--kubernetes {newest}`", cached.join(", ")));
    }
    ways.extend([
        "name a folder that has `etcd` and `kube-apiserver`: `export KUBEBUILDER_ASSETS=DIR`, or put it on PATH".into(),
        "from a mirror that has `envtest-releases.yaml` and the archives: `opctl testenv setup --mirror URL`, or \
         `export OPCTL_ENVTEST_MIRROR=URL`"
            .into(),
        format!(
            "downloaded elsewhere, from {RELEASES}: `opctl testenv setup --archive envtest-vVERSION-{}.tar.gz`",
            platform()
        ),
        "with Go: `export KUBEBUILDER_ASSETS=\"$(setup-envtest use -p path)\"`".into(),
        "behind a proxy, HTTPS_PROXY and NO_PROXY are respected, and SSL_CERT_FILE names the certificates of a company"
            .into(),
    ]);
    ways
}
