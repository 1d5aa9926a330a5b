//! Determines the version of Kubernetes for which the k8s-openapi types of a package are compiled.
//!
//! As in k8s-openapi's build script, features must select exactly one version. A library leaves that to the binaries
//! that use it, or to its own tests.

use std::collections::BTreeSet;
use std::rc::Rc;

use thiserror::Error;

use super::package::{Dependency, Package, environment};
use crate::known::Minor;
use opctl_model::project::Tree;
use opctl_model::versions::{K8S_OPENAPI, Release, is_known, range};

/// The reason why there is not exactly one version that opctl knows.
#[derive(Clone, Debug, Error)]
pub enum Unclear {
    #[error("no Cargo.toml selects a Kubernetes version for k8s-openapi")]
    Nothing,
    #[error("two Kubernetes versions are selected, {0} and {1}, but k8s-openapi supports only one at a time")]
    Several(Minor, Minor),
    #[error("k8s-openapi {release} has no feature `{feature}`")]
    Feature { release: Release, feature: String },
    #[error("this package uses k8s-openapi {0}, and opctl carries the types of {range}", range = range("k8s-openapi"))]
    Release(String),
}

impl Unclear {
    pub fn help(&self) -> String {
        match self {
            Self::Nothing => {
                "enable a feature of k8s-openapi, e.g. `latest`; a library does that in `[dev-dependencies]`".into()
            }
            Self::Several(..) => "enable one feature of k8s-openapi in all packages that are compiled together".into(),
            Self::Feature { release, .. } => {
                let offered = K8S_OPENAPI.iter().rfind(|(known, _)| known <= release);
                let (first, last) = offered.map_or((0, 0), |(_, offered)| *offered);
                format!("enable one of `earliest`, `latest`, `v1_{first}` to `v1_{last}`")
            }
            Self::Release(_) => {
                "update k8s-openapi or opctl, or let the compiled types print the CRDs: `--engine cargo`".into()
            }
        }
    }
}

/// The release of k8s-openapi whose types opctl contains.
pub fn release(version: &str) -> Result<Release, Unclear> {
    let release = Release::parse(version).filter(|release| is_known("k8s-openapi", *release));
    release.ok_or_else(|| Unclear::Release(version.into()))
}

/// The version for which a release of k8s-openapi is compiled, for the crates of a package and its path dependencies,
/// some of which are read already.
pub fn of(tree: &Tree, package: &Package, read: &[Rc<Package>], release: Release) -> Result<Minor, Unclear> {
    let mut build = Build::of(tree, package, read, release);
    if !build.asked.iter().any(|feature| chooses(feature)) {
        let others = Package::members_beside(tree, &package.folder).into_iter();
        let others = others.map(|other| Build::of(tree, &other, read, release));
        let using = others.filter(|other| other.folders.contains(&package.folder));
        build.asked = using.flat_map(|other| other.asked).collect();
    }
    if !build.asked.iter().any(|feature| chooses(feature)) {
        package.dev_dependencies.values().for_each(|dependency| build.ask(dependency));
    }
    if let Some(version) = environment(tree, &package.folder, "K8S_OPENAPI_ENABLED_VERSION") {
        // `1.37`
        build.asked.insert(version.replace("1.", "v1_"));
    }

    one(&build.asked, release)
}

/// The version that these features select.
pub fn one(features: &BTreeSet<String>, release: Release) -> Result<Minor, Unclear> {
    let mut minors = BTreeSet::new();
    for feature in features.iter().filter(|feature| chooses(feature)) {
        let unknown = || Unclear::Feature { release, feature: feature.clone() };
        minors.insert(Minor::of_feature(release, feature).ok_or_else(unknown)?);
    }
    match minors.into_iter().collect::<Vec<_>>()[..] {
        [] => Err(Unclear::Nothing),
        [minor] => Ok(minor),
        [first, second, ..] => Err(Unclear::Several(first, second)),
    }
}

/// `true` if a feature selects a version: `v1_37`, `latest`.
fn chooses(feature: &str) -> bool {
    matches!(feature, "earliest" | "latest") || feature.starts_with("v1_")
}

/// A package and its path dependencies, with the features that they enable together.
struct Build {
    release: Release,
    folders: BTreeSet<String>,
    asked: BTreeSet<String>,
}

impl Build {
    fn of(tree: &Tree, package: &Package, read: &[Rc<Package>], release: Release) -> Self {
        let mut build = Self { release, folders: BTreeSet::new(), asked: BTreeSet::new() };
        build.add(tree, package, read);
        build
    }

    fn add(&mut self, tree: &Tree, package: &Package, read: &[Rc<Package>]) {
        if !self.folders.insert(package.folder.clone()) {
            return;
        }
        for (name, dependency) in &package.dependencies {
            self.ask(dependency);
            if self.is_requested(dependency) {
                // `default = ["k8s-openapi/latest"]`
                let values = package.by_default();
                let of_dependency = values
                    .iter()
                    .filter_map(|feature| feature.split_once('/'))
                    .filter(|(of, _)| of.trim_end_matches('?').replace('-', "_") == *name);
                self.asked.extend(of_dependency.map(|(_, feature)| feature.to_string()));
            }
            let Some(folder) = &dependency.folder else { continue };
            if let Some(package) = read.iter().find(|package| package.folder == *folder) {
                self.add(tree, package, read);
                continue;
            }
            // An unreadable path dependency is reported where one of its types is needed.
            if let Ok(package) = Package::at(tree, folder) {
                self.add(tree, &package, read);
            }
        }
    }

    fn ask(&mut self, dependency: &Dependency) {
        if self.is_requested(dependency) {
            self.asked.extend(dependency.features.iter().cloned());
        }
    }

    /// `true` for a dependency on this release: another release is a separate package, which may be used in parallel.
    fn is_requested(&self, dependency: &Dependency) -> bool {
        dependency.krate == "k8s_openapi" && dependency.allows(&self.release.to_string())
    }
}
