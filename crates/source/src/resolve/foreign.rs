//! Packages that Cargo.lock pins: located and read only when one of their types is needed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::features::{self, Enabled};
use super::lock::Lock;
use super::package::{Dependency, Package};
use crate::diagnostics::OP011;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{Located, Sources, Tree, join};

/// All packages of the lock file.
pub struct Foreign {
    tree: Rc<Tree>,
    lock: Lock,
    sources: Sources,
    /// Packages in the project's own tree, with features; the packages that opctl reads are first.
    local: Vec<(usize, Rc<Package>)>,
    /// Number of roots among them, for which everything is compiled.
    roots: usize,
    found: RefCell<BTreeMap<usize, Rc<Found>>>,
    enabled: RefCell<BTreeMap<usize, BTreeSet<String>>>,
}

/// A package of the lock file, on disk.
pub struct Found {
    pub package: Rc<Package>,
    /// Its own tree; `None` if it is in the project's.
    pub tree: Option<Rc<Tree>>,
    /// `name-version`, which replaces the path of its folder in messages.
    pub label: String,
}

/// The reason why the source of a package cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// There is no Cargo.lock.
    Lock { path: String },
    /// Cargo.lock does not list it.
    Entry { package: String },
    /// Its source is not on disk.
    Source { package: String },
    /// There is no package in the folder that Cargo.toml names.
    Folder { path: String },
    /// It has no library, or its Cargo.toml cannot be read.
    Library { package: String },
}

impl Missing {
    /// The problem, and its fix.
    pub fn explained(&self) -> (String, String) {
        match self {
            Self::Lock { path } => {
                (format!("without `{path}` it is not known which version that is"), "run `cargo fetch`".into())
            }
            Self::Entry { package } => (format!("Cargo.lock has no `{package}`"), "run `cargo fetch`".into()),
            Self::Source { package } => {
                (format!("the source of `{package}` is not on disk"), "run `cargo fetch`".into())
            }
            Self::Folder { path } => (
                format!("there is no package in `{path}`"),
                "correct the path in Cargo.toml, or restore the folder".into(),
            ),
            Self::Library { package } => (
                format!("`{package}` has no library that can be read"),
                "wrap it in a type of your own, or specify the schema: `#[schemars(with = \"…\")]`".into(),
            ),
        }
    }
}

/// One error for all consequences of packages that cargo has not fetched; `None` if it has fetched all of them.
pub fn not_fetched(missing: &BTreeSet<Missing>) -> Option<Diagnostic> {
    let mut packages = Vec::new();
    for missing in missing {
        match missing {
            Missing::Lock { path } => packages.push(format!("`{path}`")),
            Missing::Entry { package } | Missing::Source { package } => packages.push(format!("`{package}`")),
            Missing::Folder { .. } | Missing::Library { .. } => {}
        }
    }
    let listed = packages.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let message = match packages.len() {
        0 => return None,
        1 => format!("{listed} is not on disk, and types depend on it"),
        2 | 3 => format!("{listed} are not on disk, and types depend on them"),
        more => format!("{listed} and {} other packages are not on disk, and types depend on them", more - 3),
    };
    Some(OP011.error(message).help("run `cargo fetch`"))
}

impl Foreign {
    /// Reads the lock file of the roots' workspace. `local` begins with the roots.
    pub fn read(tree: Rc<Tree>, local: &[Rc<Package>], roots: usize) -> Result<Self, Missing> {
        let path = join(&local[0].workspace.folder, "Cargo.lock");
        let Ok(Some(text)) = tree.read(&path) else { return Err(Missing::Lock { path }) };
        let lock = Lock::parse(&text);
        let local = local.iter().map(|package| {
            let index = lock.local(&package.name, package.version.as_deref());
            index.map(|index| (index, package.clone())).ok_or_else(|| Missing::Entry { package: package.name.clone() })
        });
        let local = local.collect::<Result<Vec<_>, _>>()?;
        let sources = Sources::of(&tree);
        Ok(Self { tree, lock, sources, local, roots, found: RefCell::default(), enabled: RefCell::default() })
    }

    /// The index of a package in the project's own tree.
    pub fn local(&self, folder: &str) -> Option<usize> {
        self.local.iter().find(|(_, package)| package.folder == folder).map(|(index, _)| *index)
    }

    pub fn version(&self, index: usize) -> &str {
        &self.lock.packages[index].version
    }

    /// `true` if a package is compiled with another one.
    pub fn uses(&self, index: usize, package: &str) -> bool {
        self.lock.reached(index).iter().any(|reached| self.lock.packages[*reached].name == package)
    }

    /// The versions of a package that are compiled for the roots.
    pub fn versions(&self, package: &str) -> Vec<String> {
        let roots = self.local.iter().take(self.roots);
        let reached: BTreeSet<usize> = roots.flat_map(|(root, _)| self.lock.reached(*root)).collect();
        let reached = reached.into_iter().map(|index| &self.lock.packages[index]);
        reached.filter(|locked| locked.name == package).map(|locked| locked.version.clone()).collect()
    }

    /// The package of a dependency.
    pub fn dependency(&self, from: usize, dependency: &Dependency) -> Result<usize, Missing> {
        let found = self.lock.dependency(from, &dependency.package, dependency.version.as_deref());
        found.ok_or_else(|| Missing::Entry { package: dependency.package.clone() })
    }

    pub fn found(&self, index: usize) -> Result<Rc<Found>, Missing> {
        if let Some(found) = self.found.borrow().get(&index) {
            return Ok(found.clone());
        }
        let found = Rc::new(self.find(index)?);
        self.found.borrow_mut().insert(index, found.clone());
        Ok(found)
    }

    fn find(&self, index: usize) -> Result<Found, Missing> {
        let locked = &self.lock.packages[index];
        let label = format!("{}-{}", locked.name, locked.version);
        if let Some((_, package)) = self.local.iter().find(|(local, _)| *local == index) {
            return Ok(Found { package: package.clone(), tree: None, label });
        }
        let missing = || Missing::Source { package: format!("{} {}", locked.name, locked.version) };
        let (tree, folder) = match &locked.source {
            Some(source) => {
                let Located { tree, folder } =
                    self.sources.find(&locked.name, &locked.version, source).ok_or_else(missing)?;
                (Some(Rc::new(tree)), folder)
            }
            None => {
                let patches = &self.local[0].1.workspace.patches;
                (None, patches.get(&locked.name).cloned().ok_or_else(missing)?)
            }
        };
        let package = Package::at(tree.as_deref().unwrap_or(&self.tree), &folder).ok();
        let package = package.filter(|package| package.name == locked.name);
        let package = package.ok_or(Missing::Library { package: label.clone() })?;
        Ok(Found { package: Rc::new(package), tree, label })
    }

    /// The features that a package is compiled with. Only packages that depend on it, directly or not, affect these.
    pub fn features(&self, index: usize) -> Result<BTreeSet<String>, Missing> {
        if let Some(features) = self.enabled.borrow().get(&index) {
            return Ok(features.clone());
        }
        let mut graph = self.graph(Some(&self.lock.dependents(index)))?;
        let features = graph.remove(&index).map(|(_, features)| features).unwrap_or_default();
        self.enabled.borrow_mut().insert(index, features.clone());
        Ok(features)
    }

    /// The packages that are compiled, restricted to `interesting`.
    fn graph(&self, interesting: Option<&BTreeSet<usize>>) -> Result<Enabled, Missing> {
        features::enable(&self.local[..self.roots], |from, dependency| {
            let target = self.lock.dependency(from, &dependency.package, dependency.version.as_deref());
            match target.filter(|target| interesting.is_none_or(|interesting| interesting.contains(target))) {
                Some(target) => Ok(Some((target, self.found(target)?.package.clone()))),
                None => Ok(None),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::modules::{self, Modules};
    use super::super::names::{self, Namespace, Target};
    use super::*;
    use crate::derive::types::{Deriver, State};
    use crate::evaluate::context::{Context, Scope};
    use crate::known;
    use opctl_model::project::builtin;

    fn own_tree() -> Tree {
        let home = std::env::var_os("CARGO_HOME").map(Into::into);
        let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        Tree::at(env!("CARGO_MANIFEST_DIR")).with_cargo_home(home)
    }

    /// opctl contains the types; those of an unknown release are read from source.
    #[test]
    fn the_kinds_of_kubernetes_are_the_same_when_they_are_read_from_source() {
        let tree = own_tree();
        let modules = Modules::read(&tree, &[Package::at(&tree, "").unwrap()]);
        let (mut cx, mut state) = (Context::new(&modules), State::new(&crate::Options::default()));
        let (_, via) = modules.dependency(modules.local()[0], "k8s_openapi").unwrap();
        let minor = modules.kubernetes(&via).unwrap();
        let mut count = 0;
        for builtin in builtin::groups().collect::<BTreeSet<_>>().into_iter().flat_map(builtin::in_group) {
            let path: Vec<String> = builtin.path.split("::").chain([builtin.kind]).map(String::from).collect();
            let table = known::find(&path, Some(minor)).unwrap().shape(Vec::new()).ok();
            let foreign = names::Foreign { path, via: Some(via.clone()) };
            let target = names::follow(&modules, &foreign, Namespace::Type).unwrap();
            let Some(Target::Item(module, name)) = target else { panic!("{foreign:?} is not found") };
            let mut deriver = Deriver { cx: &mut cx, state: &mut state };
            let read = deriver.shape(&syn::parse_str(&name).unwrap(), &Scope::of(module)).ok();
            assert_eq!(read, table, "{foreign:?}");
            count += 1;
        }
        assert!(count > 40, "these are not the kinds of Kubernetes");
        assert!(modules.take_diagnostics().is_empty());
    }

    /// opctl's own dependencies serve as a real graph.
    #[test]
    fn every_package_has_the_features_that_cargo_gives_it() {
        let root = env!("CARGO_MANIFEST_DIR");
        let format = [
            "tree",
            "--package",
            "opctl-source",
            "--offline",
            "--prefix",
            "none",
            "--no-dedupe",
            "--format",
            "{p}|{f}",
        ];
        let platform = ["--edges", "normal,no-proc-macro", "--target", "x86_64-unknown-linux-gnu"];
        let output = Command::new(env!("CARGO")).args(format).args(platform).current_dir(root).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = String::from_utf8(output.stdout).unwrap();
        let expected: BTreeMap<String, BTreeSet<String>> = output
            .lines()
            .map(|line| {
                let (package, features) = line.split_once('|').unwrap();
                let mut words = package.split(' ');
                let label = format!("{}-{}", words.next().unwrap(), words.next().unwrap().trim_start_matches('v'));
                (label, features.split(',').filter(|feature| !feature.is_empty()).map(String::from).collect())
            })
            .collect();
        assert!(expected.len() > 50, "this is not the graph");

        let tree = own_tree();
        let (own, _) = modules::local(&tree, &[Package::at(&tree, "").unwrap()]);
        let own: Vec<Rc<Package>> = own.into_iter().map(|(package, _)| package).collect();
        let foreign = Foreign::read(Rc::new(tree), &own, 1).unwrap();
        let label = |index: usize| foreign.found(index).unwrap().label.clone();
        let read: BTreeMap<String, BTreeSet<String>> =
            foreign.graph(None).unwrap().into_iter().map(|(index, (_, features))| (label(index), features)).collect();
        assert_eq!(read, expected);

        // Computed for this package alone, the features are the same.
        for index in 0..foreign.lock.packages.len() {
            if let Some(expected) = foreign.found(index).ok().and_then(|found| expected.get(&found.label)) {
                assert_eq!(foreign.features(index).unwrap(), *expected, "{}", label(index));
            }
        }
    }
}
