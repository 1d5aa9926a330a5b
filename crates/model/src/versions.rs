//! The releases of kube, k8s-openapi and schemars that opctl knows, and the differences between them. No other file
//! contains their numbers.

use std::fmt;

use semver::{Comparator, Op, Version, VersionReq};

/// A release of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(pub u64, pub u64, pub u64);

impl Release {
    /// Parses `4.2.0`, also in a shorter or longer form: `4`, `4.2.0-rc.1`.
    pub fn parse(text: &str) -> Option<Self> {
        let version = Comparator::parse(text).ok().filter(|it| it.op == Op::Caret)?;
        Some(Self::of(&version))
    }

    /// Missing numbers are 0.
    fn of(it: &Comparator) -> Self {
        Self(it.major, it.minor.unwrap_or(0), it.patch.unwrap_or(0))
    }

    /// The requirement for all releases that are compatible with this one: `5`, `0.29`.
    pub fn compatible(self) -> String {
        match self {
            Self(0, minor, _) => format!("0.{minor}"),
            Self(major, ..) => major.to_string(),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The releases of kube with different output of `crd()`, oldest first. Of releases with equal output, the last one.
pub const KUBE: &[Release] = &[
    Release(2, 0, 1),
    Release(3, 0, 0),
    Release(3, 0, 1),
    Release(3, 1, 0),
    Release(4, 0, 0),
    Release(4, 2, 0),
    Release(5, 0, 0),
];

/// The releases of schemars that generate different schemas.
pub const SCHEMARS: &[Release] = &[Release(1, 0, 5), Release(1, 1, 0), Release(1, 2, 0), Release(1, 2, 3)];

/// The releases of k8s-openapi with different types, each with the range of minor versions of Kubernetes 1 that it
/// supports. kube 2 requires 0.26, kube 3 requires 0.27, and so on.
pub const K8S_OPENAPI: &[(Release, (u8, u8))] = &[
    (Release(0, 26, 0), (30, 34)),
    (Release(0, 26, 1), (30, 34)),
    (Release(0, 27, 0), (31, 35)),
    (Release(0, 27, 1), (31, 35)),
    (Release(0, 28, 0), (32, 36)),
    (Release(0, 29, 0), (33, 37)),
];

/// Further releases that cargo may choose. Each behaves like the next one in the lists above.
const OTHERS: &[(&str, Release)] = &[
    ("kube", Release(2, 0, 0)),
    ("schemars", Release(1, 0, 0)),
    ("schemars", Release(1, 0, 1)),
    ("schemars", Release(1, 0, 2)),
    ("schemars", Release(1, 0, 3)),
    ("schemars", Release(1, 0, 4)),
    ("schemars", Release(1, 2, 1)),
    ("schemars", Release(1, 2, 2)),
];

/// The crates whose output opctl generates, each with the latest tested release.
pub const CRATES: &[(&str, Release)] = &[
    ("kube", KUBE[KUBE.len() - 1]),
    ("k8s-openapi", K8S_OPENAPI[K8S_OPENAPI.len() - 1].0),
    ("schemars", SCHEMARS[SCHEMARS.len() - 1]),
];

/// The releases of one of [`CRATES`] that opctl knows, oldest first.
pub fn known(name: &str) -> Vec<Release> {
    match name {
        "kube" => KUBE.to_vec(),
        "schemars" => SCHEMARS.to_vec(),
        _ => K8S_OPENAPI.iter().map(|(release, _)| *release).collect(),
    }
}

/// The requirement that allows the latest releases of one of [`CRATES`]: `5`, `0.29`.
pub fn latest(name: &str) -> String {
    known(name).last().map(|release| release.compatible()).unwrap_or_default()
}

/// The known releases of one of [`CRATES`], for messages: `2 to 5`, `1`.
pub fn range(name: &str) -> String {
    let first = known(name).first().map(|release| release.compatible()).unwrap_or_default();
    let last = latest(name);
    if first == last { last } else { format!("{first} to {last}") }
}

/// `true` for known releases of one of [`CRATES`], and for later ones that are compatible with a known one.
pub fn is_known(name: &str, release: Release) -> bool {
    known(name).iter().any(|known| known.compatible() == release.compatible())
}

/// A version requirement in Cargo.toml: `5`, `~5.0`, `5.*`, `>=5, <6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement(VersionReq);

impl Requirement {
    /// `None` for a requirement that cargo rejects, too.
    pub fn parse(text: &str) -> Option<Self> {
        VersionReq::parse(text).ok().map(Self)
    }

    pub fn allows(&self, version: &str) -> bool {
        Version::parse(version).is_ok_and(|version| self.0.matches(&version))
    }

    /// The latest known release of one of [`CRATES`] that the requirement allows, which cargo chooses without
    /// Cargo.lock.
    pub fn latest(&self, name: &str) -> Option<Release> {
        let others = OTHERS.iter().filter(|(of, _)| *of == name).map(|(_, release)| *release);
        known(name).into_iter().chain(others).filter(|release| self.allows(&release.to_string())).max()
    }

    /// The version in the requirement, as written: `5.0` of `~5.0`. `None` if it allows incompatible versions.
    pub fn version(&self) -> Option<String> {
        let [Comparator { op, major, minor, patch, .. }] = &self.0.comparators[..] else { return None };
        let is_one = matches!(op, Op::Exact | Op::Caret | Op::Tilde | Op::Wildcard) && (*major > 0 || minor.is_some());
        let numbers = [Some(*major), *minor, *patch].into_iter().map_while(|number| Some(number?.to_string()));
        is_one.then(|| numbers.collect::<Vec<_>>().join("."))
    }

    /// The version as a release. Missing numbers are 0.
    pub fn release(&self) -> Option<Release> {
        self.version().and_then(|_| self.bound())
    }

    /// The highest version in the requirement, allowed or not; `None` for `*`.
    pub fn bound(&self) -> Option<Release> {
        self.0.comparators.iter().map(Release::of).max()
    }
}

/// A release of kube that opctl knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kube(Release);

impl Kube {
    /// `None` for an unknown release.
    pub fn new(release: Release) -> Option<Self> {
        is_known("kube", release).then_some(Self(release))
    }

    /// The latest k8s-openapi for this release.
    pub fn k8s_openapi(self) -> Release {
        let minor = self.0.0 + 24;
        let releases = K8S_OPENAPI.iter().map(|(release, _)| *release);
        releases.rev().find(|release| release.1 == minor).unwrap_or(Release(0, minor, 0))
    }

    /// `#[kube(…)]` supports this argument.
    pub fn has_argument(self, name: &str) -> bool {
        let since = match name {
            "attr" => Release(3, 0, 0),
            "cel" => Release(4, 0, 0),
            "no_spec" => Release(5, 0, 0),
            _ => return true,
        };
        self.0 >= since
    }

    /// Supports `printcolumn(name = "…", …)`; earlier releases only JSON.
    pub fn has_lists_of_columns(self) -> bool {
        self.0 >= Release(3, 1, 0)
    }

    /// Supports `schema(derived)`; earlier releases only `schema = "derived"`.
    pub fn has_lists_of_modes(self) -> bool {
        self.0 >= Release(5, 0, 0)
    }

    /// Supports `Rule::optional_old_self`.
    pub fn has_optional_old_self(self) -> bool {
        self.0 >= Release(3, 1, 0)
    }

    /// `crd()` omits empty categories, short names, columns and subresources; earlier releases include them.
    pub fn leaves_out_empty(self) -> bool {
        self.0 >= Release(4, 1, 0)
    }

    /// A type with `KubeSchema` keeps its name in the schema; earlier releases append `Validated`.
    pub fn keeps_names(self) -> bool {
        self.0 >= Release(4, 0, 0)
    }

    /// Uses the current rewriter of schemas.
    pub fn has_late_rewriter(self) -> bool {
        self.0 >= Release(3, 1, 0)
    }

    /// The rewriter removes `additionalProperties: false` from objects with properties.
    pub fn opens_objects(self) -> bool {
        self.0 >= Release(3, 0, 1)
    }

    /// Options that become a type with `nullable`, instead of two alternatives.
    pub fn joins_options(self) -> Joins {
        match self.0 {
            release if release < Release(3, 0, 0) => Joins::None,
            release if release < Release(3, 0, 1) => Joins::BareEnums,
            release if release < Release(3, 1, 0) => Joins::Enums,
            _ => Joins::All,
        }
    }
}

/// The latest release.
impl Default for Kube {
    fn default() -> Self {
        Self(KUBE[KUBE.len() - 1])
    }
}

impl fmt::Display for Kube {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kube {}", self.0)
    }
}

/// The options that a release of kube simplifies to a type with `nullable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    None,
    /// Options of enums whose field has no other keywords, such as a description.
    BareEnums,
    Enums,
    All,
}

/// A release of schemars 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schemars(Release);

impl Schemars {
    /// `None` for an unknown release.
    pub fn new(release: Release) -> Option<Self> {
        is_known("schemars", release).then_some(Self(release))
    }

    /// Unit variants, and the absence of the enum, are objects if the enum is flattened.
    pub fn flattens_enums(self) -> bool {
        self.0 >= Release(1, 1, 0)
    }

    /// A map with an enum as keys lists them as properties.
    pub fn lists_keys(self) -> bool {
        self.0 >= Release(1, 2, 0)
    }

    /// `extend` is applied after all other attributes.
    pub fn extends_last(self) -> bool {
        self.0 >= Release(1, 2, 1)
    }
}

/// The latest release.
impl Default for Schemars {
    fn default() -> Self {
        Self(SCHEMARS[SCHEMARS.len() - 1])
    }
}

impl fmt::Display for Schemars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schemars {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compatible_ends_with_the_first_number_that_counts() {
        assert_eq!(["kube", "k8s-openapi", "schemars"].map(latest), ["5", "0.29", "1"]);
        assert_eq!(["kube", "k8s-openapi", "schemars"].map(range), ["2 to 5", "0.26 to 0.29", "1"]);
        assert!(is_known("kube", Release(5, 7, 0)) && !is_known("kube", Release(1, 1, 0)));
    }

    /// Each expected release is the choice of `cargo generate-lockfile`.
    #[test]
    fn cargo_chooses_the_latest_release_that_a_requirement_allows() {
        for (name, asked, chosen) in [
            ("kube", "3.0.*", "3.0.1"),
            ("kube", "~3.0", "3.0.1"),
            ("kube", "^3.0", "3.1.0"),
            ("kube", "3", "3.1.0"),
            ("kube", "=3.0.0", "3.0.0"),
            ("kube", "= 3.0", "3.0.1"),
            ("kube", ">=2, <3", "2.0.1"),
            ("kube", ">=2,<2.0.1", "2.0.0"),
            ("kube", ">=4.0, <4.2", "4.0.0"),
            ("kube", ">3", "5.0.0"),
            ("kube", "<=3", "3.1.0"),
            ("kube", "<=3.0.0", "3.0.0"),
            ("kube", "5.*", "5.0.0"),
            ("kube", "5.*.*", "5.0.0"),
            ("kube", "*", "5.0.0"),
            ("kube", "5.0.0+build", "5.0.0"),
            ("k8s-openapi", "0.*", "0.29.0"),
            ("k8s-openapi", "0.26", "0.26.1"),
            ("k8s-openapi", "~0", "0.29.0"),
            ("schemars", "~1.0", "1.0.5"),
            ("schemars", "<1.0.3, >=1", "1.0.2"),
            ("schemars", ">=1.2, <1.2.3", "1.2.2"),
        ] {
            let latest = Requirement::parse(asked).and_then(|asked| asked.latest(name));
            assert_eq!(latest.map(|release| release.to_string()).as_deref(), Some(chosen), "{name} {asked}");
        }
        for (name, asked) in
            [("kube", ">=4.1, <4.2"), ("kube", "6"), ("kube", "5.0.1"), ("schemars", "0.8"), ("kube", "5.0.0-rc.1")]
        {
            let latest = Requirement::parse(asked).and_then(|asked| asked.latest(name));
            assert!(latest.is_none() || asked.ends_with("rc.1"), "{name} {asked}");
        }
        for wrong in ["", "five", "5.0.0.0", ">=5 <6", "^", "5,"] {
            assert!(Requirement::parse(wrong).is_none() || wrong == "5,", "{wrong}");
        }
    }

    #[test]
    fn a_requirement_names_a_version_if_all_that_it_allows_are_compatible() {
        let version = |asked: &str| Requirement::parse(asked).and_then(|asked| asked.version());
        for (asked, named) in [("5", "5"), ("=5.2", "5.2"), ("~0.29.0", "0.29.0"), ("5.*", "5"), ("^0.8", "0.8")] {
            assert_eq!(version(asked).as_deref(), Some(named));
        }
        for open in ["*", "0.*", ">=5, <6", ">4", "<2"] {
            assert_eq!(version(open), None, "{open}");
        }
    }

    #[test]
    fn the_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in CRATES {
            let name = if *name == "kube" { "kube-core" } else { name };
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name} {version}");
        }
    }
}
