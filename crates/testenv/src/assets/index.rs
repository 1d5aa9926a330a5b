//! The index of releases that controller-tools maintains for setup-envtest: archives, platforms, checksums.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{AssetsError, OLDEST, Version, Wanted};

/// The stable releases from [`OLDEST`] on.
#[derive(Debug)]
pub struct Index(BTreeMap<Version, BTreeMap<String, Archive>>);

/// A release for this platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The Kubernetes version.
    pub version: Version,
    /// The file name of the archive.
    pub archive: String,
    /// The SHA-512 checksum of the archive, in hex.
    pub hash: String,
    /// The URL of the archive.
    pub url: String,
}

#[derive(Debug, Deserialize)]
struct File {
    releases: BTreeMap<String, BTreeMap<String, Archive>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Archive {
    hash: String,
    #[serde(rename = "selfLink")]
    url: String,
}

impl Index {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let file: File = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let releases =
            file.releases.into_iter().filter_map(|(name, archives)| Some((Version::parse(&name)?, archives)));
        Ok(Self(releases.filter(|(version, _)| *version >= OLDEST).collect()))
    }

    /// All versions, newest first.
    pub fn versions(&self) -> impl Iterator<Item = Version> {
        self.0.keys().rev().copied()
    }

    /// The newest matching release with an archive for this platform. `url` is that of the index, for errors.
    pub(crate) fn choose(&self, wanted: Option<Wanted>, url: &str) -> Result<Release, AssetsError> {
        let fitting = |version: &Version| wanted.is_none_or(|wanted| wanted.fits(*version));
        if let Some(wanted) = wanted
            && !self.versions().any(|version| fitting(&version))
        {
            return Err(AssetsError::UnknownVersion { wanted, url: url.into(), versions: self.versions().collect() });
        }
        let release = self.0.iter().rev().filter(|(version, _)| fitting(version)).find_map(|(&version, archives)| {
            let archive = archive_name(version);
            let Archive { hash, url } = archives.get(&archive)?.clone();
            Some(Release { version, archive, hash, url })
        });
        release.ok_or_else(|| AssetsError::UnknownPlatform { wanted, url: url.into() })
    }
}

/// This platform by Go's names, e.g. `linux-amd64`.
pub fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        arch => arch,
    };
    format!("{os}-{arch}")
}

fn archive_name(version: Version) -> String {
    format!("envtest-v{version}-{}.tar.gz", platform())
}

/// The version in a file name: `envtest-v1.36.0-linux-amd64.tar.gz` → 1.36.0.
pub fn version_of(archive: &Path) -> Result<Version, AssetsError> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let version = name.strip_prefix("envtest-v").and_then(|rest| Version::parse(rest.split('-').next()?));
    match version.filter(|version| archive_name(*version) == name) {
        Some(version) if version < OLDEST => Err(AssetsError::TooOld { version: version.to_string(), folder: None }),
        Some(version) => Ok(version),
        None => Err(AssetsError::ArchiveName(archive.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(releases: &[(&str, &str)]) -> Index {
        let mut text = "releases:\n".to_owned();
        for (version, platform) in releases {
            text += &format!(
                "  {version}:\n    envtest-{version}-{platform}.tar.gz:\n      hash: 00\n      selfLink: https://x/{version}\n"
            );
        }
        Index::parse(&text).unwrap()
    }

    #[test]
    fn the_newest_stable_release_that_has_the_platform_is_chosen() {
        let here = platform();
        let index = index(&[
            ("v1.9.0", &here),
            ("v1.36.2", &here),
            ("v1.36.10", &here),
            ("v1.37.0-rc.1", &here),
            ("v1.37.0", "plan9-mips"),
        ]);
        assert_eq!(index.choose(None, "u").unwrap().url, "https://x/v1.36.10");
        let wanted = |text| Some(Wanted::parse(text).unwrap());
        assert_eq!(index.choose(wanted("1.36.2"), "u").unwrap().url, "https://x/v1.36.2");
        assert!(matches!(index.choose(wanted("1.37"), "u"), Err(AssetsError::UnknownPlatform { .. })));
        let Err(AssetsError::UnknownVersion { versions, .. }) = index.choose(wanted("1.36.3"), "u") else { panic!() };
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        assert_eq!(versions, ["1.37.0", "1.36.10", "1.36.2"]);
    }

    #[test]
    fn an_archive_says_its_version_and_platform() {
        let name = |version: &str, platform: &str| format!("/d/envtest-v{version}-{platform}.tar.gz");
        let version = |name: String| version_of(Path::new(&name));
        assert_eq!(version(name("1.36.0", &platform())).unwrap().to_string(), "1.36.0");
        assert!(matches!(version(name("1.36.0", "plan9-mips")), Err(AssetsError::ArchiveName(_))));
        assert!(matches!(version("/d/envtest.tgz".into()), Err(AssetsError::ArchiveName(_))));
        assert!(matches!(version(name("1.30.0", &platform())), Err(AssetsError::TooOld { .. })));
    }
}
