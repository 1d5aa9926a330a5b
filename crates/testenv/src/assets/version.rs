//! Kubernetes versions: that of a release, and a requested one.

use std::fmt;

use super::AssetsError;

/// The oldest supported version. Older API servers drop the `selectableFields` that kube 5 adds to CRDs.
pub const OLDEST: Version = Version { major: 1, minor: 31, patch: 0 };

/// The version of a release, e.g. `1.36.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// E.g. `1`.
    pub major: u64,
    /// E.g. `36`.
    pub minor: u64,
    /// E.g. `0`.
    pub patch: u64,
}

impl Version {
    /// Parses `1.36.0`, with or without `v`. `None` for other text, including pre-releases.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_program(text).filter(|_| !text.contains(['-', '+']))
    }

    /// Parses the output of a program, e.g. `v1.36.0-rc.1+0123abc`, ignoring the text after the patch.
    pub(crate) fn of_program(text: &str) -> Option<Self> {
        let semver::Version { major, minor, patch, .. } =
            semver::Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()?;
        Some(Self { major, minor, patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A requested version: `1.36` for any patch release, or `1.36.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    major: u64,
    minor: u64,
    patch: Option<u64>, // Invariant: not older than OLDEST.
}

impl Wanted {
    /// Parses `1.36`, `1.36.2` and setup-envtest's `1.36.x`, with or without `v`.
    ///
    /// # Errors
    ///
    /// If the text has another form, or the version is older than [`OLDEST`].
    pub fn parse(text: &str) -> Result<Self, AssetsError> {
        let text_of_release = text.strip_suffix(".x").unwrap_or(text);
        let (version, patch) = match Version::parse(text_of_release) {
            Some(version) => (version, Some(version.patch)),
            None => match Version::parse(&format!("{text_of_release}.0")) {
                Some(version) => (version, None),
                None => return Err(AssetsError::NoVersion(text.into())),
            },
        };
        let wanted = Self { major: version.major, minor: version.minor, patch };
        if version < OLDEST {
            return Err(AssetsError::TooOld { version: wanted.to_string(), folder: None });
        }
        Ok(wanted)
    }

    /// `true` if a release has the requested version.
    pub fn fits(self, version: Version) -> bool {
        (self.major, self.minor) == (version.major, version.minor)
            && self.patch.is_none_or(|patch| patch == version.patch)
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_people_write_them() {
        for text in ["1.36", "v1.36", "1.36.x"] {
            assert_eq!(Wanted::parse(text).unwrap().to_string(), "1.36", "{text}");
        }
        for text in ["1.36.2", "v1.36.2"] {
            assert_eq!(Wanted::parse(text).unwrap().to_string(), "1.36.2", "{text}");
        }
        for text in ["", "latest", "1", "1.36.", "1.36.2.3", "1.+36", "1.36.0-rc.1"] {
            assert!(matches!(Wanted::parse(text), Err(AssetsError::NoVersion(_))), "{text}");
        }
        for text in ["1.30", "v1.30.14", "0.99"] {
            assert!(matches!(Wanted::parse(text), Err(AssetsError::TooOld { .. })), "{text}");
        }
    }

    #[test]
    fn a_patch_fits_where_it_is_asked_for_or_none_is() {
        let version = Version::parse("v1.36.10").unwrap();
        assert!(Wanted::parse("1.36").unwrap().fits(version) && Wanted::parse("1.36.10").unwrap().fits(version));
        assert!(!Wanted::parse("1.36.1").unwrap().fits(version) && !Wanted::parse("1.35").unwrap().fits(version));
        assert!(version > Version::parse("1.36.9").unwrap());
    }

    #[test]
    fn what_programs_say_is_read_without_what_they_add() {
        assert_eq!(Version::of_program("v1.36.0-rc.1+0123abc").unwrap().to_string(), "1.36.0");
        assert_eq!(Version::parse("v1.36.0-rc.1"), None);
    }
}
