//! Determines the versions of kube and related crates that a package is built with, from Cargo.lock and Cargo.toml.

use std::collections::BTreeMap;

pub use super::kubernetes_version::Unclear;
use super::lock::Lock;
use super::modules::Modules;
use super::package::Package;
use crate::known::Minor;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{Located, Sources, Tree, join};

/// Crates whose versions must be compatible.
pub const FAMILY: [&str; 4] = ["kube", "kube-core", "k8s-openapi", "schemars"];

/// The versions that one package is built with.
#[derive(Debug)]
pub struct Dependencies {
    pub package: String,
    pub rust_version: Option<String>,
    /// Version requirements in Cargo.toml for the crates of [`FAMILY`].
    pub asked: BTreeMap<&'static str, String>,
    pub locked: Locked,
    /// The Kubernetes version of k8s-openapi's types.
    pub kubernetes: Result<Minor, Unclear>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Locked {
    /// There is no Cargo.lock at this path.
    Missing(String),
    /// Cargo.lock does not list the package itself.
    Stale,
    Versions(Vec<Built>),
}

/// One version of a crate of [`FAMILY`] that is compiled for the package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    pub name: String,
    pub version: String,
    /// Names of the packages that depend on it.
    pub users: Vec<String>,
    /// Its minimum version of Rust, if its source is on disk.
    pub rust_version: Option<String>,
}

/// The dependencies of the package in `folder`, or of the members if it is a workspace.
pub fn read(tree: &Tree, folder: &str) -> Result<Vec<Dependencies>, Diagnostic> {
    let packages = Package::read(tree, folder)?;
    Ok(packages.iter().map(|package| of(tree, package)).collect())
}

fn of(tree: &Tree, package: &Package) -> Dependencies {
    let named = |name: &str| package.dependencies.values().find(|dependency| dependency.package == name);
    let asked = FAMILY.iter().filter_map(|name| Some((*name, named(name)?.version.clone().unwrap_or("*".into()))));
    Dependencies {
        package: package.name.clone(),
        rust_version: package.rust_version.clone(),
        asked: asked.collect(),
        locked: locked(tree, package),
        kubernetes: kubernetes(tree, package),
    }
}

fn kubernetes(tree: &Tree, package: &Package) -> Result<Minor, Unclear> {
    let modules = Modules::read(tree, std::slice::from_ref(package));
    let root = modules.local().first().copied().ok_or(Unclear::Nothing)?;
    let (_, via) = modules.dependency(root, "k8s_openapi").ok_or(Unclear::Nothing)?;
    modules.kubernetes(&via)
}

fn locked(tree: &Tree, package: &Package) -> Locked {
    let path = join(&package.workspace.folder, "Cargo.lock");
    let Ok(Some(text)) = tree.read(&path) else { return Locked::Missing(path) };
    let lock = Lock::parse(&text);
    let Some(root) = lock.local(&package.name, package.version.as_deref()) else { return Locked::Stale };
    let (reached, sources) = (lock.reached(root), Sources::of(tree));
    let built = reached.iter().map(|index| (*index, &lock.packages[*index]));
    let built = built.filter(|(_, package)| FAMILY.contains(&package.name.as_str())).map(|(index, package)| {
        let users = lock.users(index).filter(|user| reached.contains(user));
        let located =
            package.source.as_deref().and_then(|source| sources.find(&package.name, &package.version, source));
        Built {
            name: package.name.clone(),
            version: package.version.clone(),
            users: users.map(|user| lock.packages[user].name.clone()).collect(),
            rust_version: located.and_then(|located| needed_by(&located)),
        }
    });
    Locked::Versions(built.collect())
}

fn needed_by(Located { tree, folder }: &Located) -> Option<String> {
    Package::at(tree, folder).ok()?.rust_version
}
