//! Determines the releases of kube and schemars that a crate is compiled with: those in Cargo.lock; without it, the
//! latest ones that Cargo.toml allows and opctl knows, as cargo would select them.

use std::collections::BTreeSet;

use super::modules::{DependencyName, ModuleId, Modules};
use super::package::Dependency;
use opctl_model::versions::{Kube, Release, Requirement, Schemars};

/// Crates that export kube's derives; all crates of a release have the same version.
const KUBE: &[&str] = &["kube", "kube_derive", "kube_core"];

impl Modules {
    /// The release of kube whose derives a crate uses. The error is a version that opctl does not know.
    pub fn kube(&self, id: ModuleId) -> Result<Kube, String> {
        let named = self.dependencies(id, KUBE);
        let mut versions: BTreeSet<String> =
            named.iter().map(|via| self.version_or_allowed(via)).collect::<Result<_, _>>()?;
        if versions.is_empty() {
            // Another crate re-exports it.
            versions.extend(self.locked("kube-derive"));
        }
        if versions.is_empty() {
            versions.extend(self.declared_by_any(KUBE).map(|declared| allowed(&declared)).transpose()?);
        }
        match versions.into_iter().collect::<Vec<_>>().as_slice() {
            [] => Ok(Kube::default()),
            [version] => Release::parse(version).and_then(Kube::new).ok_or_else(|| version.clone()),
            versions => Err(versions.join(" or ")),
        }
    }

    /// The release of schemars 1 that all crates are compiled with.
    pub fn schemars(&self) -> Schemars {
        *self.schemars.get_or_init(|| {
            let declared = || allowed(&self.declared_by_any(&["schemars"])?).ok();
            let mut versions = self.locked("schemars").into_iter().chain(declared());
            versions.find_map(|version| Schemars::new(Release::parse(&version)?)).unwrap_or_default()
        })
    }

    /// The version of a dependency that is compiled. The error is the requirement in Cargo.toml.
    pub fn version_or_allowed(&self, via: &DependencyName) -> Result<String, String> {
        self.version(via).or_else(|_| allowed(&self.declared(via)))
    }

    fn declared_by_any(&self, crates: &[&str]) -> Option<Dependency> {
        let mut all = self.local_packages().iter().flat_map(|package| package.dependencies.values());
        all.find(|dependency| crates.contains(&dependency.krate.as_str())).cloned()
    }
}

/// The version that cargo would select. The error is the one that Cargo.toml names, if opctl knows none that it
/// allows.
pub fn allowed(dependency: &Dependency) -> Result<String, String> {
    let asked = dependency.version.clone().ok_or("of an unknown version")?;
    let name = if KUBE.contains(&dependency.krate.as_str()) { "kube" } else { &dependency.package };
    let Some(requirement) = Requirement::parse(&asked) else { return Err(asked) };
    let latest = requirement.latest(name).map(|release| release.to_string());
    latest.or_else(|| requirement.version()).ok_or(asked)
}
