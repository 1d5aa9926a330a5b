//! Reads Cargo.toml: crate roots, names of dependencies, enabled features.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::slice;

use toml_edit::{Document, Item, TableLike};

use super::cfg;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::diagnostics::OP003;
use opctl_model::project::{self, CargoToml, Features, ReadError, Tree, Workspaces, inherits, join};
use opctl_model::versions::Requirement;

/// The parts of a package that affect manifests.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name in Cargo.toml, with hyphens.
    pub name: String,
    /// `None` if it is inherited from the workspace.
    pub version: Option<String>,
    /// The value of CARGO_PKG_VERSION; `None` if a workspace outside of the tree sets it.
    pub built_version: Option<String>,
    /// `rust-version`: its minimum version of Rust.
    pub rust_version: Option<String>,
    /// The folder of its Cargo.toml, relative to the tree; `""` is the root.
    pub folder: String,
    /// The library's crate name and root file, if the package has a library.
    pub library: Option<(String, String)>,
    /// Root files of the binaries.
    pub binaries: Vec<String>,
    /// Dependencies that its source can name, by their names in the source.
    pub dependencies: BTreeMap<String, Dependency>,
    pub dev_dependencies: BTreeMap<String, Dependency>,
    /// All entries of its dependency tables, of any kind and for any platform.
    pub declared: Vec<Dependency>,
    /// `[features]`, and the implicit features of optional dependencies.
    pub features: BTreeMap<String, Vec<String>>,
    pub has_build_script: bool,
    pub is_proc_macro: bool,
    pub workspace: Rc<Workspace>,
}

/// Settings in a workspace's root for all its members; a single package is its own workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Folder of Cargo.lock.
    pub folder: String,
    /// `resolver = "1"`: the features of build scripts, macros, tests and other platforms are unified.
    pub unifies: bool,
    /// `[patch]`: folders by the names of the packages that they replace.
    pub patches: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    /// Name in Cargo.toml.
    pub key: String,
    /// The package's own name, even if it is renamed.
    pub package: String,
    /// The crate's own name in code, e.g. `k8s_openapi`.
    pub krate: String,
    /// Folder of a path dependency, relative to the tree.
    pub folder: Option<String>,
    pub features: BTreeSet<String>,
    pub default_features: bool,
    pub optional: bool,
    pub kind: Kind,
    /// It is not restricted to platforms other than Linux.
    pub on_linux: bool,
    /// The requirement in Cargo.toml: `"5"`, `"=0.29.1"`.
    pub version: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Normal,
    Build,
    Dev,
}

impl Dependency {
    /// `true` if cargo could select this version.
    pub fn allows(&self, version: &str) -> bool {
        self.version.as_ref().is_none_or(|asked| Requirement::parse(asked).is_some_and(|asked| asked.allows(version)))
    }
}

impl Package {
    /// A package without dependencies, whose library is one file.
    pub fn of_root(root: &str) -> Self {
        let workspace = Workspace { folder: String::new(), unifies: false, patches: BTreeMap::new() };
        Self {
            name: root.into(),
            version: None,
            built_version: None,
            rust_version: None,
            folder: String::new(),
            library: Some((root.into(), root.into())),
            binaries: Vec::new(),
            dependencies: BTreeMap::new(),
            dev_dependencies: BTreeMap::new(),
            declared: Vec::new(),
            features: BTreeMap::new(),
            has_build_script: false,
            is_proc_macro: false,
            workspace: Rc::new(workspace),
        }
    }

    /// The names of all features.
    pub fn declared_features(&self) -> BTreeSet<String> {
        self.features.keys().cloned().collect()
    }

    /// Reads the package in `folder`, and all members of the workspace with this root.
    pub fn read(tree: &Tree, folder: &str) -> Result<Vec<Self>, Diagnostic> {
        let workspaces = Workspaces::of(tree);
        // Features are selected for the packages in the root, not for their dependencies.
        let chosen = Some(tree.features()).filter(|_| folder.is_empty());
        let Some(workspace) = workspaces.rooted_in(folder)? else {
            let (manifest, root) = found(&workspaces, folder)?;
            let package =
                Reading { manifest: &manifest, root: root.as_deref(), workspaces: &workspaces }.package(chosen)?;
            return known(chosen, slice::from_ref(&package), &manifest).map(|()| vec![package]);
        };
        let root = &*workspace.root;
        let read =
            |manifest: &Rc<CargoToml>| Reading { manifest, root: Some(root), workspaces: &workspaces }.package(chosen);
        let packages = workspace.members.iter().map(read);
        let packages = packages.collect::<Result<Vec<_>, _>>()?;
        if packages.is_empty() {
            return Err(OP003
                .error("this Cargo.toml has no `[package]` and no workspace members")
                .at(root.span(None), "")
                .help("pass the folder of a package: `opctl manifests --path DIR`"));
        }
        known(chosen, &packages, root).map(|()| packages)
    }

    /// Reads only the package in `folder`, such as a dependency.
    pub fn at(tree: &Tree, folder: &str) -> Result<Self, Diagnostic> {
        let workspaces = Workspaces::of(tree);
        let (manifest, root) = found(&workspaces, folder)?;
        Ok(Reading { manifest: &manifest, root: root.as_deref(), workspaces: &workspaces }.package(None)?)
    }

    /// The features that `cargo run` enables: `default`, and all values in `[features]` that it enables.
    pub fn by_default(&self) -> BTreeSet<String> {
        self.closure(["default".to_owned()])
    }

    /// These values in `[features]`, and all that they enable.
    pub fn closure(&self, values: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let mut enabled = BTreeSet::new();
        let mut open: Vec<String> = values.into_iter().collect();
        while let Some(value) = open.pop() {
            if enabled.insert(value.clone()) {
                open.extend(self.features.get(&value).into_iter().flatten().cloned());
            }
        }
        enabled
    }

    /// Errors of unreadable configuration files of cargo: without them, other code would be compiled.
    pub fn unreadable_settings(&self, tree: &Tree) -> Vec<Diagnostic> {
        let folders = std::iter::successors(Some(self.folder.clone()), |folder| Some(normalize(&join(folder, ".."))));
        let configs = folders.take(STEPS_UP).flat_map(|folder| CONFIGS.map(|path| join(&folder, path)));
        let lock = join(&self.workspace.folder, "Cargo.lock");
        configs.chain([lock]).filter_map(|path| tree.read(&path).err().map(Diagnostic::from)).collect()
    }

    /// The members of the workspace of the package in `folder`; empty for a workspace that cargo refuses.
    pub fn members_beside(tree: &Tree, folder: &str) -> Vec<Self> {
        let workspaces = Workspaces::of(tree);
        let root = workspaces.root_of(folder).ok().flatten();
        let workspace = root.and_then(|root| workspaces.rooted_in(&root.folder).ok().flatten());
        let Some(project::Workspace { root, members, .. }) = workspace else { return Vec::new() };
        let read =
            |manifest: &Rc<CargoToml>| Reading { manifest, root: Some(&root), workspaces: &workspaces }.package(None);
        members.iter().filter_map(|member| read(member).ok()).collect()
    }
}

/// The manifest of the package in a folder, and the root of its workspace.
fn found(workspaces: &Workspaces, folder: &str) -> Result<(Rc<CargoToml>, Option<Rc<CargoToml>>), Diagnostic> {
    let Some(manifest) = workspaces.manifest(folder)? else {
        return Err(OP003
            .error(format!("there is no `{}`", join(folder, "Cargo.toml")))
            .help("run opctl in the folder of a Rust package, or name it: `opctl manifests --path DIR`"));
    };
    if !manifest.has_package() {
        return Err(OP003
            .error(format!("`{}` has no `[package]`", manifest.file.path))
            .at(manifest.span(None), "")
            .help("pass the folder of a package: `opctl manifests --path DIR`"));
    }
    let root = workspaces.root_of(folder)?;
    Ok((manifest, root))
}

/// Returns an error unless each selected feature is one of a package.
fn known(chosen: Option<&Features>, packages: &[Package], manifest: &CargoToml) -> Result<(), Diagnostic> {
    let names = || packages.iter().flat_map(|package| package.features.keys());
    let mut chosen = chosen.into_iter().flat_map(|chosen| &chosen.features);
    let Some(unknown) = chosen.find(|name| !names().any(|known| known == *name)) else { return Ok(()) };
    let mut known: Vec<&str> = names().map(String::as_str).filter(|name| *name != "default").collect();
    known.sort_unstable();
    known.dedup();
    let error = OP003.error(format!("there is no feature `{unknown}`")).at(manifest.span(None), "");
    Err(match known[..] {
        [] => error.help("leave out `--features`: this crate has none"),
        _ => error.help(format!("the features are `{}`", known.join("`, `"))),
    })
}

/// The variable that cargo sets for build scripts in `folder`: from the nearest `.cargo/config.toml` that has it
/// under `[env]`.
pub fn environment(tree: &Tree, folder: &str, variable: &str) -> Option<String> {
    let mut folder = folder.to_string();
    for _ in 0..STEPS_UP {
        let config = tree.read(&join(&folder, ".cargo/config.toml")).ok().flatten();
        let config = config.and_then(|text| Document::parse(text).ok());
        if let Some(set) = config.as_ref().and_then(|config| config.get("env")?.get(variable)) {
            return set.as_str().or_else(|| set.get("value")?.as_str()).map(String::from);
        }
        folder = normalize(&join(&folder, ".."));
    }
    None
}

/// `true` if the profile `dev` disables debug assertions: in the Cargo.toml at the root of the workspace of `folder`,
/// or in a `.cargo/config.toml`, which takes precedence. `member`: the package is one of the workspace.
pub fn omits_debug_assertions(tree: &Tree, folder: &str, package: &str, member: bool) -> bool {
    let workspaces = Workspaces::of(tree);
    let root = workspaces.root_of(folder).ok().flatten().or_else(|| workspaces.manifest(folder).ok().flatten());
    let root = root.map(|root| root.document.clone());
    let profiles: Vec<Document<String>> = configs(tree, folder).into_iter().chain(root).collect();
    let value = |path: &[&str]| {
        let profile = |document: &Document<String>| {
            let dev = document.get("profile").and_then(|profile| profile.get("dev"));
            let table = path.iter().try_fold(dev?, |table, key| table.get(key))?;
            table.get("debug-assertions")?.as_bool()
        };
        profiles.iter().find_map(profile)
    };
    let of_others = if member { None } else { value(&["package", "*"]) };
    value(&["package", package]).or(of_others).or_else(|| value(&[])) == Some(false)
}

/// File names of cargo's configuration in a folder.
const CONFIGS: [&str; 2] = [".cargo/config.toml", ".cargo/config"];

/// Each `.cargo/config.toml` above a folder, the nearest first.
fn configs(tree: &Tree, folder: &str) -> Vec<Document<String>> {
    let mut folder = folder.to_string();
    let mut found = Vec::new();
    for _ in 0..STEPS_UP {
        let files = CONFIGS.map(|path| tree.read(&join(&folder, path)).ok().flatten());
        found.extend(files.into_iter().flatten().next().and_then(|text| Document::parse(text).ok()));
        folder = normalize(&join(&folder, ".."));
    }
    found
}

/// Names and values that `rustflags` of `.cargo/config.toml` set by `--cfg`, with `""` for names without a value.
/// cargo joins all files, and uses the flags of the platform instead of those of `[build]`.
pub fn flags(tree: &Tree, folder: &str) -> Vec<(String, String)> {
    let (mut build, mut target) = (Vec::new(), Vec::new());
    for config in configs(tree, folder) {
        build.extend(words(config.get("build").and_then(|build| build.get("rustflags"))));
        let targets = config.get("target").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter);
        for (_, item) in targets.filter(|(target, _)| cfg::is_linux(target)) {
            target.extend(words(item.get("rustflags")));
        }
    }
    let flags = if target.is_empty() { build } else { target };
    let mut set = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let said = match flag.strip_prefix("--cfg") {
            Some("") => rest.next().map(String::as_str),
            Some(said) => said.strip_prefix('='),
            None => None,
        };
        set.extend(said.map(|said| match said.split_once('=') {
            Some((name, value)) => (name.trim().to_owned(), value.trim().trim_matches('"').to_owned()),
            None => (said.trim().to_owned(), String::new()),
        }));
    }
    set
}

/// An array of strings, or a string with spaces.
fn words(item: Option<&Item>) -> Vec<String> {
    let text = item.and_then(Item::as_str).map(|text| text.split_whitespace().map(String::from).collect());
    let list =
        || item.and_then(Item::as_array).into_iter().flatten().filter_map(|word| word.as_str().map(String::from));
    text.unwrap_or_else(|| list().collect())
}

/// Maximum number of parent folders; above the tree's root the search continues with `..`.
const STEPS_UP: usize = 5;

/// A Cargo.toml, the one of the workspace's root if that is another file, and the workspaces in which they were
/// found.
struct Reading<'a> {
    manifest: &'a CargoToml,
    root: Option<&'a CargoToml>,
    workspaces: &'a Workspaces<'a>,
}

impl Reading<'_> {
    /// The Cargo.toml from which members inherit.
    fn root(&self) -> &CargoToml {
        self.root.unwrap_or(self.manifest)
    }

    fn package(&self, chosen: Option<&Features>) -> Result<Package, ReadError> {
        let (document, tree) = (&self.manifest.document, self.workspaces.tree());
        let name = document["package"].get("name").and_then(Item::as_str).unwrap_or("").to_string();
        let target = |item: Option<&Item>, key: &str| item.and_then(|item| item.get(key)?.as_str().map(String::from));
        let exists = |path: &str| tree.has(&join(&self.manifest.folder, path));

        let package = &document["package"];

        let lib = document.get("lib");
        let library = target(lib, "path")
            .or_else(|| (lib.is_some() || exists("src/lib.rs")).then(|| "src/lib.rs".into()))
            .map(|path| {
                (target(lib, "name").unwrap_or_else(|| name.replace('-', "_")), join(&self.manifest.folder, &path))
            });

        let mut binaries = BTreeSet::new();
        // `required-features`: cargo skips a binary if one is disabled.
        let mut conditional = Vec::new();
        for bin in document.get("bin").and_then(Item::as_array_of_tables).into_iter().flatten() {
            let path = bin.get("path").and_then(Item::as_str).map(|path| join(&self.manifest.folder, path));
            let named = bin.get("name").and_then(Item::as_str).unwrap_or_default();
            let required = strings(bin, "required-features");
            if !required.is_empty() {
                let usual = [format!("src/bin/{named}.rs"), format!("src/bin/{named}/main.rs"), "src/main.rs".into()];
                let usual = usual.into_iter().find(|path| exists(path)).map(|path| join(&self.manifest.folder, &path));
                conditional.extend(path.clone().or(usual).map(|path| (path, required)));
            }
            binaries.extend(path);
        }
        if document["package"].get("autobins").and_then(Item::as_bool) != Some(false) {
            if exists("src/main.rs") {
                binaries.insert(join(&self.manifest.folder, "src/main.rs"));
            }
            let folder = join(&self.manifest.folder, "src/bin");
            for path in tree.files_below(&folder)? {
                let rest = path[folder.len()..].trim_start_matches('/');
                if rest.ends_with(".rs")
                    && (!rest.contains('/') || rest.ends_with("/main.rs") && rest.matches('/').count() == 1)
                {
                    binaries.insert(path);
                }
            }
        }

        let build = package.get("build");
        let declared = self.declared();
        let named = |kind: Kind| {
            let named = declared.iter().filter(|dependency| dependency.kind == kind && dependency.on_linux);
            named.map(|dependency| (dependency.key.replace('-', "_"), dependency.clone())).collect()
        };
        let mut package = Package {
            version: package.get("version").and_then(Item::as_str).map(String::from),
            built_version: match package.get("version") {
                Some(_) => self.inherited("version"),
                None => Some("0.0.0".into()),
            },
            rust_version: self.inherited("rust-version"),
            folder: self.manifest.folder.clone(),
            library,
            binaries: binaries.into_iter().collect(),
            dependencies: named(Kind::Normal),
            dev_dependencies: named(Kind::Dev),
            features: self.features(&declared, chosen),
            declared,
            has_build_script: match build.and_then(Item::as_bool) {
                Some(built) => built,
                None => build.is_some() || exists("build.rs"),
            },
            is_proc_macro: lib.is_some_and(|lib| {
                ["proc-macro", "proc_macro"].iter().any(|key| lib.get(key).and_then(Item::as_bool) == Some(true))
            }),
            workspace: Rc::new(self.shared()),
            name,
        };
        let enabled = package.by_default();
        let is_skipped = |path: &String| {
            conditional.iter().any(|(bin, features)| bin == path && !features.iter().all(|it| enabled.contains(it)))
        };
        package.binaries.retain(|path| !is_skipped(path));
        Ok(package)
    }

    /// A string of `[package]`, or of `[workspace.package]` if it is inherited: `rust-version.workspace = true`.
    fn inherited(&self, key: &str) -> Option<String> {
        let own = self.manifest.document["package"].get(key)?;
        let shared = || self.root().document.get("workspace")?.get("package")?.get(key)?.as_str();
        own.as_str().or_else(shared).map(String::from)
    }

    /// All dependencies of all tables.
    fn declared(&self) -> Vec<Dependency> {
        let declared = self.manifest.dependencies().map(|(table, target, key, item)| {
            let kind = match table {
                "dependencies" => Kind::Normal,
                "build-dependencies" => Kind::Build,
                _ => Kind::Dev,
            };
            let on_linux = target.is_none_or(cfg::is_linux);
            Dependency { kind, on_linux, ..self.dependency(key, item) }
        });
        declared.collect()
    }

    fn dependency(&self, key: &str, item: &Item) -> Dependency {
        let own = item.as_table_like();
        let inherits = inherits(item);
        let root = self.root();
        let shared = inherits.then(|| Some((root.folder.as_str(), root.shared_dependency(key)?))).flatten();
        let shared_version = shared.and_then(|(_, item)| item.as_str());
        let (base, shared) =
            shared.map_or((self.manifest.folder.as_str(), None), |(base, item)| (base, item.as_table_like()));
        let tables = [own, shared];
        let text = |key: &str| tables.iter().flatten().find_map(|table| table.get(key)?.as_str());
        let flag = |table: Option<&dyn TableLike>, key: &str| table.and_then(|table| table.get(key)?.as_bool());
        let with_default = |table| flag(table, "default-features").or_else(|| flag(table, "default_features"));
        let package = text("package").unwrap_or(key);
        Dependency {
            key: key.into(),
            package: package.into(),
            krate: package.replace('-', "_"),
            folder: text("path").map(|path| self.workspaces.place(&join(base, path))),
            features: tables.iter().flatten().flat_map(|table| strings(*table, "features")).collect(),
            // A member may add the default features to those of its workspace, but not remove them.
            default_features: match (with_default(own), with_default(shared)) {
                (Some(true), _) => true,
                (own, None) if !inherits => own.unwrap_or(true),
                (_, shared) => shared.unwrap_or(true),
            },
            optional: flag(own, "optional").unwrap_or(false),
            kind: Kind::Normal,
            on_linux: true,
            version: item.as_str().or_else(|| text("version")).or(shared_version).map(String::from),
        }
    }

    /// `[features]` and optional dependencies, which are features unless another one names them with `dep:`.
    /// `default` is replaced by the selected features.
    fn features(&self, declared: &[Dependency], chosen: Option<&Features>) -> BTreeMap<String, Vec<String>> {
        let table = self.manifest.document.get("features").and_then(Item::as_table_like);
        let mut features: BTreeMap<String, Vec<String>> = table
            .into_iter()
            .flat_map(|table| table.iter().map(|(name, _)| (name.to_string(), strings(table, name))))
            .collect();
        let named: BTreeSet<String> =
            features.values().flatten().filter_map(|value| value.strip_prefix("dep:").map(String::from)).collect();
        for dependency in declared.iter().filter(|dependency| dependency.optional && !named.contains(&dependency.key)) {
            features.entry(dependency.key.clone()).or_insert_with(|| vec![format!("dep:{}", dependency.key)]);
        }
        let Some(Features { features: named, all_features, no_default_features }) = chosen else { return features };
        if *no_default_features {
            features.remove("default");
        }
        let names = features.keys().filter(|name| *all_features || named.contains(name));
        let on: Vec<String> = names.filter(|name| *name != "default").cloned().collect();
        if !on.is_empty() {
            features.entry("default".into()).or_default().extend(on);
        }
        features
    }

    /// Settings for all members of the workspace.
    fn shared(&self) -> Workspace {
        let CargoToml { folder, document, .. } = self.root();
        let get =
            |path: &[&str]| path.iter().try_fold(document.as_item(), |item, key| item.get(key)).and_then(Item::as_str);
        let resolver = get(&["workspace", "resolver"]).or_else(|| get(&["package", "resolver"]));
        let edition = get(&["package", "edition"]).or_else(|| get(&["workspace", "package", "edition"]));
        let is_virtual = !document.contains_key("package");
        let patches = document.get("patch").and_then(Item::as_table_like);
        let patched = patches.into_iter().flat_map(TableLike::iter).filter_map(|(_, table)| table.as_table_like());
        Workspace {
            folder: folder.clone(),
            unifies: match resolver {
                Some(resolver) => resolver == "1",
                None => is_virtual || edition.is_none_or(|edition| edition < "2021"),
            },
            patches: patched
                .flat_map(TableLike::iter)
                .filter_map(|(key, item)| {
                    let folder = self.workspaces.place(&join(folder, item.get("path")?.as_str()?));
                    Some((item.get("package").and_then(Item::as_str).unwrap_or(key).to_string(), folder))
                })
                .collect(),
        }
    }
}

fn strings(table: &dyn TableLike, key: &str) -> Vec<String> {
    let array = table.get(key).and_then(Item::as_array);
    array.into_iter().flatten().filter_map(|value| value.as_str().map(String::from)).collect()
}

/// Resolves `.` and `..` within the path; leading `..` remain.
pub fn normalize(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn paths_are_normalized_lexically() {
        for (path, normal) in [("a/./b", "a/b"), ("a/../b", "b"), ("../a/../../b", "../../b"), ("", ""), ("..", "..")] {
            assert_eq!(normalize(path), normal);
        }
    }
}
