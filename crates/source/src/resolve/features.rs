//! Determines the features that a package is compiled with, as cargo's resolver 2 does.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::package::{Dependency, Kind, Package};

/// The packages that are compiled, by node, each with its enabled features.
pub type Enabled = BTreeMap<usize, (Rc<Package>, BTreeSet<String>)>;

/// Enables the default features of the roots, and everything that these enable. `follow` returns the package of a
/// node's dependency; `None` if it is irrelevant.
pub fn enable<E>(
    roots: &[(usize, Rc<Package>)],
    follow: impl FnMut(usize, &Dependency) -> Result<Option<(usize, Rc<Package>)>, E>,
) -> Result<Enabled, E> {
    let unifies = roots.iter().any(|(_, package)| package.workspace.unifies);
    let root_nodes = roots.iter().map(|(node, _)| *node).collect();
    let mut activation = Activation {
        follow,
        unifies,
        roots: root_nodes,
        enabled: Enabled::new(),
        followed: BTreeSet::new(),
        used: BTreeSet::new(),
        weak: BTreeMap::new(),
    };
    for (node, package) in roots {
        activation.package(*node, package, std::iter::once("default"))?;
    }
    Ok(activation.enabled)
}

struct Activation<F> {
    follow: F,
    /// Resolver 1: see `Workspace::unifies`.
    unifies: bool,
    roots: BTreeSet<usize>,
    enabled: Enabled,
    /// Nodes whose dependencies were followed.
    followed: BTreeSet<usize>,
    /// Optional dependencies that are enabled: the node and the dependency's key.
    used: BTreeSet<(usize, String)>,
    /// `dependency?/feature`, deferred until the dependency is enabled.
    weak: BTreeMap<(usize, String), BTreeSet<String>>,
}

// Follows cargo's `core/resolver/features.rs` function by function.
impl<E, F: FnMut(usize, &Dependency) -> Result<Option<(usize, Rc<Package>)>, E>> Activation<F> {
    fn package<'f>(
        &mut self,
        node: usize,
        package: &Rc<Package>,
        features: impl Iterator<Item = &'f str>,
    ) -> Result<(), E> {
        self.enabled.entry(node).or_insert_with(|| (package.clone(), BTreeSet::new()));
        for feature in features.filter(|feature| *feature != "default" || package.features.contains_key("default")) {
            self.value(node, package, feature)?;
        }
        if self.followed.insert(node) {
            for dependency in package.declared.iter().filter(|dependency| !dependency.optional) {
                self.dependency(node, dependency, None)?;
            }
        }
        Ok(())
    }

    /// Enables the features that the dependency requests, or one feature of it.
    fn dependency(&mut self, node: usize, dependency: &Dependency, feature: Option<&str>) -> Result<(), E> {
        let counts = match dependency.kind {
            Kind::Normal => dependency.on_linux || self.unifies,
            Kind::Build => self.unifies,
            Kind::Dev => self.unifies && self.roots.contains(&node),
        };
        if !counts {
            return Ok(());
        }
        let Some((target, package)) = (self.follow)(node, dependency)? else { return Ok(()) };
        if package.is_proc_macro && !self.unifies {
            // It is compiled for the host, so its features, and those of its dependencies, are a separate set.
            return Ok(());
        }
        match feature {
            Some(feature) => self.value(target, &package, feature),
            None => {
                let default = dependency.default_features.then_some("default");
                self.package(target, &package, dependency.features.iter().map(String::as_str).chain(default))
            }
        }
    }

    /// A value in `[features]`: `feature`, `dep:key`, `key/feature` or `key?/feature`.
    fn value(&mut self, node: usize, package: &Rc<Package>, value: &str) -> Result<(), E> {
        if let Some(key) = value.strip_prefix("dep:") {
            self.used.insert((node, key.into()));
            let waiting = self.weak.remove(&(node, key.into())).unwrap_or_default();
            for dependency in named(package, key).filter(|dependency| dependency.optional) {
                self.dependency(node, dependency, None)?;
                for feature in &waiting {
                    self.dependency(node, dependency, Some(feature))?;
                }
            }
            return Ok(());
        }
        if let Some((key, feature)) = value.split_once('/') {
            let (key, is_weak) = key.strip_suffix('?').map_or((key, false), |key| (key, true));
            for dependency in named(package, key) {
                if dependency.optional && is_weak && !self.used.contains(&(node, key.into())) {
                    self.weak.entry((node, key.into())).or_default().insert(feature.into());
                    continue;
                }
                if dependency.optional && !is_weak {
                    self.value(node, package, &format!("dep:{key}"))?;
                    self.feature(node, package, key)?;
                }
                self.dependency(node, dependency, Some(feature))?;
            }
            return Ok(());
        }
        self.feature(node, package, value)
    }

    fn feature(&mut self, node: usize, package: &Rc<Package>, feature: &str) -> Result<(), E> {
        let (_, enabled) = self.enabled.entry(node).or_insert_with(|| (package.clone(), BTreeSet::new()));
        if !enabled.insert(feature.into()) {
            return Ok(());
        }
        for value in package.features.get(feature).into_iter().flatten() {
            self.value(node, package, value)?;
        }
        Ok(())
    }
}

fn named<'a>(package: &'a Package, key: &'a str) -> impl Iterator<Item = &'a Dependency> {
    package.declared.iter().filter(move |dependency| dependency.key == key)
}
