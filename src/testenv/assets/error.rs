//! Why there are no programs, and every other way to get them.

use std::io;
use std::path::{Path, PathBuf};

use super::{OLDEST, Search, Version, Wanted, platform};

#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    #[error("`{0}` is no version of Kubernetes")]
    NoVersion(String),
    #[error("Kubernetes {version}{} is too old for a test environment", .folder.as_ref().map(|folder| format!(" in `{}`", folder.display())).unwrap_or_default())]
    TooOld { version: String, folder: Option<PathBuf> },
    #[error("KUBEBUILDER_ASSETS names `{}`, which has no `{missing}`", folder.display())]
    Incomplete { folder: PathBuf, missing: &'static str },
    #[error("KUBEBUILDER_ASSETS names `{}`, which has Kubernetes {found}, not {wanted}", folder.display())]
    WrongVersion { folder: PathBuf, found: Version, wanted: Wanted },
    #[error("`{}` does not run: {reason}", program.display())]
    DoesNotRun { program: PathBuf, reason: String },
    #[error("`{0}` is no URL of a proxy")]
    BadProxy(String),
    #[error("cannot download `{url}`{}: {reason}", .proxy.as_ref().map(|proxy| format!(" by the proxy `{proxy}`")).unwrap_or_default())]
    Download { url: String, proxy: Option<String>, reason: String },
    #[error("`{url}` is no index of envtest releases: {reason}")]
    BadIndex { url: String, reason: String },
    #[error("there is no Kubernetes {wanted} in `{url}`")]
    UnknownVersion { wanted: Wanted, url: String, versions: Vec<Version> },
    #[error("there is no Kubernetes{} for `{}` in `{url}`", .wanted.map(|wanted| format!(" {wanted}")).unwrap_or_default(), platform())]
    UnknownPlatform { wanted: Option<Wanted>, url: String },
    #[error("`{url}` is not what was released: its SHA-512 is {found}, not {expected}; what was downloaded is removed")]
    WrongHash { url: String, found: String, expected: String },
    #[error("cannot unpack `{}`: {reason}", archive.display())]
    Archive { archive: PathBuf, reason: String },
    #[error("`{}` is not named as an archive for `{}` is", .0.display(), platform())]
    ArchiveName(PathBuf),
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("interrupted; the cache is as it was")]
    Interrupted,
}

impl AssetsError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    /// The ways out, for somebody who searched for that.
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
            Self::Interrupted => Vec::new(),
        }
    }
}

const UNSET: &str = "`unset KUBEBUILDER_ASSETS`, and opctl looks on PATH, then in its cache, then downloads";

/// Where people find the archives.
const RELEASES: &str = "https://github.com/kubernetes-sigs/controller-tools/releases";

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Every way to get programs but the one that failed.
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
