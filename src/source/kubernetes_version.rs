//! The version of Kubernetes whose types a package is compiled with: what all of its build enables of k8s-openapi.
//!
//! As in k8s-openapi's build script, exactly one version must be asked for. A library leaves that to the binaries that
//! use it, or to its own tests.

use std::collections::BTreeSet;
use std::path::{Component, PathBuf};

use thiserror::Error;

use super::known::Minor;
use super::known::kubernetes::K8S_OPENAPI;
use super::package::{Dependency, Package, environment};
use crate::project::Tree;

/// Why it is not one version that opctl knows.
#[derive(Clone, Debug, Error)]
pub enum Unclear {
    #[error("no Cargo.toml says which version of Kubernetes the types are of")]
    Nothing,
    #[error("two versions of Kubernetes are asked for, {0} and {1}, and k8s-openapi can only be one")]
    Several(Minor, Minor),
    #[error("this package asks for {0}, and opctl carries the types of {K8S_OPENAPI} for Kubernetes {first} to {last}",
        first = Minor::EARLIEST, last = Minor::LATEST)]
    Other(String),
}

impl Unclear {
    pub fn help(&self) -> String {
        match self {
            Self::Nothing => {
                "enable a feature of k8s-openapi, e.g. `latest`; a library does that in `[dev-dependencies]`".into()
            }
            Self::Several(..) => "enable one feature of k8s-openapi in all packages that are compiled together".into(),
            Self::Other(_) => format!("use k8s-openapi {K8S_OPENAPI}, or print the CRDs from the compiled types"),
        }
    }
}

/// The version for the crates of a package that is compiled, and for the path dependencies that it brings.
pub fn of(tree: &Tree, package: &Package) -> Result<Minor, Unclear> {
    let mut build = Build::of(tree, package);
    if build.asked.is_empty() {
        let others = Package::members_beside(tree, &package.folder).into_iter();
        let place = place(tree, package);
        let using = others.map(|other| Build::of(tree, &other)).filter(|other| other.places.contains(&place));
        build.asked = using.flat_map(|other| other.asked).collect();
    }
    if build.asked.is_empty() {
        package.dev_dependencies.values().for_each(|dependency| build.ask(dependency));
    }
    if let Some(version) = environment(tree, &package.folder, "K8S_OPENAPI_ENABLED_VERSION") {
        // `1.37`
        build.asked.insert(Asked::Feature(version.replace("1.", "v1_")));
    }

    let mut minors = BTreeSet::new();
    for asked in &build.asked {
        match asked {
            Asked::Feature(feature) => match Minor::of_feature(feature) {
                Some(minor) => minors.insert(minor),
                None => return Err(Unclear::Other(format!("the feature `{feature}` of k8s-openapi"))),
            },
            Asked::Release(version) => return Err(Unclear::Other(format!("k8s-openapi {version}"))),
        };
    }
    match minors.into_iter().collect::<Vec<_>>()[..] {
        [] => Err(Unclear::Nothing),
        [minor] => Ok(minor),
        [first, second, ..] => Err(Unclear::Several(first, second)),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// `v1_37`, `latest`
    Feature(String),
    /// Another release of k8s-openapi.
    Release(String),
}

/// A package and its path dependencies, and what they ask for together.
#[derive(Default)]
struct Build {
    places: BTreeSet<PathBuf>,
    asked: BTreeSet<Asked>,
}

impl Build {
    fn of(tree: &Tree, package: &Package) -> Self {
        let mut build = Self::default();
        build.add(tree, package);
        build
    }

    fn add(&mut self, tree: &Tree, package: &Package) {
        if !self.places.insert(place(tree, package)) {
            return;
        }
        for (name, dependency) in &package.dependencies {
            self.ask(dependency);
            if dependency.krate == "k8s_openapi" {
                // `default = ["k8s-openapi/latest"]`
                let of_dependency = package
                    .features
                    .iter()
                    .filter_map(|feature| feature.split_once('/'))
                    .filter(|(of, _)| of.trim_end_matches('?').replace('-', "_") == *name);
                self.asked.extend(of_dependency.filter_map(|(_, feature)| Asked::feature(feature)));
            }
            // A path dependency that cannot be read is reported where one of its types is needed.
            for package in dependency.folder.iter().flat_map(|folder| Package::read(tree, folder).unwrap_or_default()) {
                self.add(tree, &package);
            }
        }
    }

    fn ask(&mut self, dependency: &Dependency) {
        if dependency.krate == "k8s_openapi" {
            self.asked.extend(dependency.features.iter().filter_map(|feature| Asked::feature(feature)));
            if !dependency.accepts(K8S_OPENAPI) {
                self.asked.insert(Asked::Release(dependency.version.clone().unwrap_or_default()));
            }
        }
    }
}

impl Asked {
    /// The features that choose a version.
    fn feature(feature: &str) -> Option<Self> {
        let chooses = matches!(feature, "earliest" | "latest") || feature.starts_with("v1_");
        chooses.then(|| Self::Feature(feature.into()))
    }
}

/// The folder of a package, written in one way: the way from a package to itself may lead through the workspace above.
fn place(tree: &Tree, package: &Package) -> PathBuf {
    let folder = tree.root().join(&package.folder);
    let mut place = PathBuf::new();
    for component in std::path::absolute(&folder).unwrap_or(folder).components() {
        match component {
            Component::ParentDir => {
                place.pop();
            }
            component => place.push(component),
        }
    }
    place
}
