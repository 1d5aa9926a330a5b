//! The members of a cargo workspace, as cargo finds them: the folders that `members` lists or matches, their path
//! dependencies, and the package at the root.
//!
//! Follows cargo's `workspace.rs` function by function. Paths are absolute and compared by component, as in cargo;
//! files are read through the tree, so planned ones count. A workspace that cargo rejects is an error here, too.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use glob::Pattern;
use toml_edit::{Document, Item, TableLike};

use super::{ReadError, Tree, join};
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::diagnostics::{OP003, OP047, OP048};

#[derive(Clone, Debug)]
pub struct CargoToml {
    /// Relative to the root of the tree.
    pub folder: String,
    pub file: Arc<SourceFile>,
    pub document: Document<String>,
}

impl CargoToml {
    fn read(tree: &Tree, folder: &str) -> Result<Option<Self>, Diagnostic> {
        let path = join(folder, "Cargo.toml");
        let Some(text) = tree.read(&path)? else { return Ok(None) };
        let file = SourceFile::new(&path, &text);
        match Document::parse(text) {
            Ok(document) => Ok(Some(Self { folder: folder.into(), file, document })),
            Err(error) => {
                let range = toml_edit::TomlError::span(&error).unwrap_or(0..0);
                Err(OP003.error(format!("`{path}` is not TOML")).at(Span { file, range }, error.message()))
            }
        }
    }

    pub fn span(&self, range: Option<Range<usize>>) -> Span {
        Span { file: self.file.clone(), range: range.unwrap_or(0..0) }
    }

    pub fn has_package(&self) -> bool {
        self.document.contains_key("package")
    }

    /// Each dependency: the name of its table, the target of the table, its key, and its settings.
    pub fn dependencies(&self) -> impl Iterator<Item = (&'static str, Option<&str>, &str, &Item)> {
        let targets = self.document.get("target").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter);
        let places =
            std::iter::once((None, self.document.as_item())).chain(targets.map(|(target, item)| (Some(target), item)));
        places.flat_map(|(target, place)| {
            DEPENDENCIES.iter().flat_map(move |[name, other]| {
                let table = [name, other].into_iter().find_map(|key| place.get(key)?.as_table_like());
                table.into_iter().flat_map(TableLike::iter).map(move |(key, item)| (*name, target, key, item))
            })
        })
    }

    /// The setting that a dependency with `workspace = true` inherits from this root.
    pub fn shared_dependency(&self, key: &str) -> Option<&Item> {
        self.document.get("workspace")?.get("dependencies")?.get(key)
    }
}

/// The tables of dependencies, each with its older spelling.
const DEPENDENCIES: [[&str; 2]; 3] = [
    ["dependencies", "dependencies"],
    ["build-dependencies", "build_dependencies"],
    ["dev-dependencies", "dev_dependencies"],
];

/// `true` if a dependency inherits its settings from the root of the workspace.
pub fn inherits(dependency: &Item) -> bool {
    dependency.get("workspace").and_then(Item::as_bool) == Some(true)
}

/// The packages of one workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub root: Rc<CargoToml>,
    /// Sorted by folder; includes the package at the root.
    pub members: Vec<Rc<CargoToml>>,
    /// The members that `cargo build` at the root compiles.
    pub default_members: Vec<Rc<CargoToml>>,
}

/// Finds workspaces in a tree and above it. Each Cargo.toml is read once.
pub struct Workspaces<'a> {
    tree: &'a Tree,
    base: PathBuf,
    read: RefCell<BTreeMap<PathBuf, Option<Rc<CargoToml>>>>,
}

/// The workspace settings of a Cargo.toml.
enum Config {
    Root(RootConfig),
    /// `package.workspace`: the folder of the root.
    Member(Option<PathBuf>),
}

/// The table `[workspace]`.
struct RootConfig {
    folder: PathBuf,
    members: Vec<Listed>,
    exclude: Vec<Listed>,
    default_members: Option<Vec<Listed>>,
}

/// An entry of a list, with its position.
#[derive(Clone)]
struct Listed {
    text: String,
    range: Option<Range<usize>>,
}

impl<'a> Workspaces<'a> {
    pub fn of(tree: &'a Tree) -> Self {
        let base = std::path::absolute(tree.root()).unwrap_or_else(|_| "/".into());
        Self { tree, base: normalize(&base), read: RefCell::default() }
    }

    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// The canonical name of a folder in the tree: `../op` may be the root.
    pub fn place(&self, folder: &str) -> String {
        self.folder(&self.absolute(folder))
    }

    /// The Cargo.toml in a folder; `None` if it does not exist.
    pub fn manifest(&self, folder: &str) -> Result<Option<Rc<CargoToml>>, Diagnostic> {
        self.load(&self.absolute(folder))
    }

    /// The root of the workspace of a package in `folder`: its `package.workspace`, or the nearest root that does not
    /// exclude the folder. It may be the package itself. The package need not exist yet.
    pub fn root_of(&self, folder: &str) -> Result<Option<Rc<CargoToml>>, Diagnostic> {
        match self.find_root(&self.absolute(folder))? {
            Some(root) => self.load(&root),
            None => Ok(None),
        }
    }

    /// The workspace with the root in `folder`; `None` if the folder contains no root.
    pub fn rooted_in(&self, folder: &str) -> Result<Option<Workspace>, Diagnostic> {
        let folder = self.absolute(folder);
        let Some(root) = self.load(&folder)? else { return Ok(None) };
        let Config::Root(config) = self.config(&root)? else { return Ok(None) };
        if self.find_root(&folder)?.as_ref() != Some(&folder) {
            return Ok(None);
        }
        Members { workspaces: self, config: &config, root: &root, found: BTreeMap::new() }.find().map(Some)
    }

    /// `true` if the members of the root in `root` include a package in `folder`, existing or planned.
    pub fn lists(&self, root: &str, folder: &str) -> Result<bool, Diagnostic> {
        let (root, folder) = (self.absolute(root), self.absolute(folder));
        let Some(manifest) = self.load(&root)? else { return Ok(false) };
        let Config::Root(config) = self.config(&manifest)? else { return Ok(false) };
        let listed = config.members.iter().map(|listed| self.expand(&manifest, &root, listed));
        let listed = listed.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(listed.iter().any(|listed| normalize(listed) == folder))
    }

    fn absolute(&self, folder: &str) -> PathBuf {
        normalize(&self.base.join(folder))
    }

    /// The path relative to the root of the tree.
    fn folder(&self, path: &Path) -> String {
        let (base, path) = (self.base.components(), path.components());
        let common = base.clone().zip(path.clone()).take_while(|(one, other)| one == other).count();
        let up = base.skip(common).map(|_| "..".into());
        up.chain(path.skip(common).map(|part| part.as_os_str().to_string_lossy())).collect::<Vec<_>>().join("/")
    }

    fn load(&self, folder: &Path) -> Result<Option<Rc<CargoToml>>, Diagnostic> {
        if let Some(read) = self.read.borrow().get(folder) {
            return Ok(read.clone());
        }
        let read = CargoToml::read(self.tree, &self.folder(folder))?.map(Rc::new);
        self.read.borrow_mut().insert(folder.into(), read.clone());
        Ok(read)
    }

    fn config(&self, manifest: &CargoToml) -> Result<Config, Diagnostic> {
        let folder = self.absolute(&manifest.folder);
        let pointer = manifest.document.get("package").and_then(|package| package.get("workspace"));
        let Some(workspace) = manifest.document.get("workspace") else {
            let pointer = pointer.and_then(Item::as_str).map(|root| normalize(&folder.join(root)));
            return Ok(Config::Member(pointer));
        };
        if let Some(pointer) = pointer {
            return Err(OP048
                .error("a root of a workspace is a member of another one")
                .at(manifest.span(pointer.span()), "there is also `[workspace]`")
                .help("remove one of both: cargo takes only `package.workspace` or `[workspace]`"));
        }
        let list = |key: &str| -> Result<Option<Vec<Listed>>, Diagnostic> {
            let Some(item) = workspace.get(key) else { return Ok(None) };
            let texts = item.as_array().and_then(|list| {
                let text =
                    |value: &toml_edit::Value| Some(Listed { text: value.as_str()?.into(), range: value.span() });
                list.iter().map(text).collect::<Option<Vec<_>>>()
            });
            let error = || {
                OP003
                    .error(format!("`{key}` of the workspace is not a list of strings"))
                    .at(manifest.span(item.span()), "")
                    .help(format!("write the folders in quotes and brackets: `{key} = [\"one\", \"two\"]`"))
            };
            texts.map(Some).ok_or_else(error)
        };
        Ok(Config::Root(RootConfig {
            folder,
            members: list("members")?.unwrap_or_default(),
            exclude: list("exclude")?.unwrap_or_default(),
            default_members: list("default-members")?,
        }))
    }

    /// Cargo's `find_root`.
    fn find_root(&self, folder: &Path) -> Result<Option<PathBuf>, Diagnostic> {
        let home = self.tree.cargo_home();
        for candidate in folder.ancestors() {
            if candidate.ends_with("target/package") && candidate != folder {
                break;
            }
            if let Some(manifest) = self.load(candidate)? {
                match self.config(&manifest)? {
                    Config::Root(root) if !root.excludes(folder) => return Ok(Some(root.folder)),
                    Config::Member(Some(root)) => return self.pointed_at(&manifest, root).map(Some),
                    Config::Root(_) | Config::Member(None) => {}
                }
            }
            // Packages that cargo downloaded do not belong to a workspace around its home.
            if candidate != folder && home == Some(candidate) {
                break;
            }
        }
        Ok(None)
    }

    /// The folder in `package.workspace`, if it contains a root.
    fn pointed_at(&self, manifest: &CargoToml, root: PathBuf) -> Result<PathBuf, Diagnostic> {
        if self.load(&root)?.is_some_and(|root| root.document.contains_key("workspace")) {
            return Ok(root);
        }
        let value = manifest.document.get("package").and_then(|package| package.get("workspace"));
        Err(OP048
            .error(format!("`{}` is not the root of a workspace", self.manifest_path(&root)))
            .at(manifest.span(value.and_then(Item::span)), "it is named here")
            .help("name the folder whose Cargo.toml has `[workspace]`"))
    }

    fn manifest_path(&self, folder: &Path) -> String {
        join(&self.folder(folder), "Cargo.toml")
    }

    /// The folders of one entry in `members` or `default-members`: the folders that match its pattern, or the literal
    /// path if nothing matches.
    fn expand(&self, root: &CargoToml, folder: &Path, listed: &Listed) -> Result<Vec<PathBuf>, Diagnostic> {
        let refuse = |why: String| {
            OP048.error(format!("`{}` is not a pattern that cargo can match", listed.text))
                .at(root.span(listed.range.clone()), why)
                .help("`*`, `?` and `[…]` match within one folder name, `**` any number of folders; write `[[]` for a bracket")
        };
        let pattern = |text: &str| Pattern::new(text).map_err(|error| refuse(error.msg.into()));
        pattern(&listed.text)?;
        // A leading `/` replaces the folder.
        let start = folder.join(if listed.text.starts_with('/') { "/" } else { "" });
        let segments = listed.text.split('/').filter(|segment| !segment.is_empty());
        let segments = segments.map(|segment| {
            Ok::<_, Diagnostic>(match segment {
                "**" => Segment::Recursive,
                _ if segment.contains(['*', '?', '[']) => Segment::Pattern(pattern(segment)?),
                _ => Segment::Name(segment),
            })
        });
        let segments = segments.collect::<Result<Vec<_>, _>>()?;
        let mut matches = Vec::new();
        let mut walk = Walk { tree: self.tree, workspaces: self, matches: &mut matches };
        walk.descend(&start, &segments)?;
        let folder_only = listed.text.ends_with('/');
        matches.retain(|(_, is_folder)| *is_folder || !folder_only);
        Ok(match matches.is_empty() {
            true => vec![folder.join(&listed.text)],
            false => matches.into_iter().filter(|(_, is_folder)| *is_folder).map(|(path, _)| path).collect(),
        })
    }
}

impl RootConfig {
    /// `true` if the package in `folder` is below a folder in `exclude`, and below none in `members`. Neither is used
    /// as a pattern.
    fn excludes(&self, folder: &Path) -> bool {
        let manifest = folder.join("Cargo.toml");
        let is_below = |listed: &Listed| manifest.starts_with(self.folder.join(&listed.text));
        self.exclude.iter().any(is_below) && !self.members.iter().any(is_below)
    }
}

/// A component of a pattern.
enum Segment<'a> {
    Name(&'a str),
    Pattern(Pattern),
    Recursive,
}

/// Collects the paths that match a pattern, and whether each is a folder, as `glob::glob` does on disk.
struct Walk<'a> {
    tree: &'a Tree,
    workspaces: &'a Workspaces<'a>,
    matches: &'a mut Vec<(PathBuf, bool)>,
}

impl Walk<'_> {
    fn descend(&mut self, folder: &Path, segments: &[Segment]) -> Result<(), ReadError> {
        let Some((first, rest)) = segments.split_first() else { return Ok(()) };
        let children = || self.tree.children(&self.workspaces.folder(&normalize(folder)));
        match first {
            Segment::Name(name) => {
                let path = folder.join(name);
                let place = self.workspaces.folder(&normalize(&path));
                let is_folder = self.tree.has_folder(&place);
                if is_folder || self.tree.has(&place) {
                    self.accept(path, is_folder, rest)?;
                }
            }
            Segment::Pattern(pattern) => {
                for (name, is_folder) in children()?.into_iter().filter(|(name, _)| pattern.matches(name)) {
                    self.accept(folder.join(name), is_folder, rest)?;
                }
                if pattern.as_str().starts_with('.') {
                    for name in [".", ".."].into_iter().filter(|name| pattern.matches(name)) {
                        self.accept(folder.join(name), true, rest)?;
                    }
                }
            }
            Segment::Recursive => {
                for (name, is_folder) in children()? {
                    let path = folder.join(&name);
                    if is_folder {
                        self.descend(&path, segments)?;
                    }
                    // `**` also matches zero folders.
                    let next = rest.iter().position(|segment| !matches!(segment, Segment::Recursive));
                    match next.map(|next| (&rest[next], &rest[next + 1..])) {
                        None if is_folder => self.matches.push((path, true)),
                        Some((Segment::Pattern(pattern), rest)) if pattern.matches(&name) => {
                            self.accept(path, is_folder, rest)?;
                        }
                        Some((Segment::Name(wanted), rest)) if *wanted == name => {
                            self.accept(path, is_folder, rest)?;
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, path: PathBuf, is_folder: bool, rest: &[Segment]) -> Result<(), ReadError> {
        if rest.is_empty() {
            self.matches.push((path, is_folder));
        } else if is_folder {
            self.descend(&path, rest)?;
        }
        Ok(())
    }
}

/// Cargo's `find_members` and `validate`.
struct Members<'a> {
    workspaces: &'a Workspaces<'a>,
    config: &'a RootConfig,
    root: &'a Rc<CargoToml>,
    found: BTreeMap<PathBuf, Rc<CargoToml>>,
}

/// The position that refers to a member.
struct Reference<'a> {
    manifest: &'a CargoToml,
    range: Option<Range<usize>>,
    label: &'static str,
    help: &'static str,
}

impl Members<'_> {
    fn find(mut self) -> Result<Workspace, Diagnostic> {
        let (root, config) = (self.root, self.config);
        let mut listed = Vec::new();
        for entry in &config.members {
            let is_pattern = entry.text.contains(['*', '?', '[']);
            let reference = Reference {
                manifest: root,
                range: entry.range.clone(),
                label: if is_pattern { "matched here" } else { "listed here" },
                help: if is_pattern {
                    "restore the file, remove the folder, or add it to `exclude`"
                } else {
                    "restore the folder, or remove it from `members`"
                },
            };
            for path in self.workspaces.expand(root, &config.folder, entry)? {
                self.add(&normalize(&path), false, &reference)?;
                listed.push(path);
            }
        }
        self.add(&config.folder, false, &Reference { manifest: root, range: None, label: "", help: "" })?;
        self.validate()?;
        let default_members = self.default_members(&listed)?;
        let members = self.found.into_values().filter(|member| member.has_package()).collect();
        Ok(Workspace { root: root.clone(), members, default_members })
    }

    /// Cargo's `find_path_deps`.
    fn add(&mut self, folder: &Path, is_dependency: bool, reference: &Reference) -> Result<(), Diagnostic> {
        let root = &self.config.folder;
        if self.found.contains_key(folder) {
            return Ok(());
        }
        if is_dependency && !folder.starts_with(root) {
            self.load(folder, reference)?;
            if self.workspaces.find_root(folder)?.as_ref() != Some(root) {
                return Ok(());
            }
        }
        if self.config.excludes(folder) {
            return Ok(());
        }
        let manifest = self.load(folder, reference)?;
        self.found.insert(folder.into(), manifest.clone());
        if !manifest.has_package() {
            return Ok(());
        }
        for (_, _, key, item) in manifest.dependencies() {
            let shared = self.root.shared_dependency(key).filter(|_| inherits(item));
            if inherits(item) && shared.is_none() {
                return Err(OP048
                    .error(format!("the workspace has no dependency `{key}`"))
                    .at(manifest.span(item.span()), "it is inherited here")
                    .help(format!("add it to `[workspace.dependencies]` in {}", self.root.file.path)));
            }
            let (base, path) = match (item.get("path"), shared.and_then(|shared| shared.get("path"))) {
                (Some(path), _) => (folder, path),
                (None, Some(path)) => (root.as_path(), path),
                (None, None) => continue,
            };
            let Some(path) = path.as_str() else { continue };
            let reference = Reference {
                manifest: &manifest,
                range: item.get("path").and_then(Item::span).or_else(|| item.span()),
                label: "this dependency is a member",
                help: "correct the path, or restore the folder",
            };
            self.add(&normalize(&base.join(path)), true, &reference)?;
        }
        Ok(())
    }

    fn load(&self, folder: &Path, reference: &Reference) -> Result<Rc<CargoToml>, Diagnostic> {
        let span = reference.manifest.span(reference.range.clone());
        let path = self.workspaces.manifest_path(folder);
        match self.workspaces.load(folder) {
            Ok(Some(manifest)) if manifest.has_package() || manifest.document.contains_key("workspace") => Ok(manifest),
            Ok(Some(manifest)) => Err(OP047
                .error(format!("`{path}` has no `[package]`"))
                .at(manifest.span(None), "")
                .help(format!("add the package, or remove the folder from the workspace: it is named in {span}"))),
            Ok(None) => Err(OP047
                .error(format!("a member of the workspace is missing: there is no `{path}`"))
                .at(span, reference.label)
                .help(reference.help)),
            Err(error) if error.span.is_none() => Err(error.at(span, reference.label)),
            Err(error) => Err(error),
        }
    }

    fn validate(&self) -> Result<(), Diagnostic> {
        let mut names: BTreeMap<&str, &CargoToml> = BTreeMap::new();
        for (folder, member) in &self.found {
            let name = member.document.get("package").and_then(|package| package.get("name"));
            if let Some((name, text)) = name.and_then(|name| Some((name, name.as_str()?)))
                && let Some(other) = names.insert(text, member)
            {
                let message = format!("two packages of the workspace have the name `{text}`");
                return Err(OP048
                    .error(message)
                    .at(member.span(name.span()), format!("the other one is in {}", other.file.path))
                    .help("rename one of them, or add its folder to `exclude` of the workspace"));
            }
            let workspace = member.document.get_key_value("workspace");
            if let Some((key, _)) = workspace.filter(|_| *folder != self.config.folder) {
                let message = format!("`{}` is a member of a workspace, and the root of another one", member.file.path);
                return Err(OP048
                    .error(message)
                    .at(member.span(key.span()), "")
                    .help(format!("remove this table, or add the folder to `exclude` in {}", self.root.file.path)));
            }
            if self.workspaces.find_root(folder)?.as_ref() != Some(&self.config.folder) {
                let message =
                    format!("`{}` does not belong to the workspace of {}", member.file.path, self.root.file.path);
                return Err(OP048.error(message).at(member.span(None), "").help(
                    "set `package.workspace` in it to the folder of the workspace, or remove it from `members`",
                ));
            }
        }
        Ok(())
    }

    /// `listed` are the folders in `members`, including those that `exclude` removes.
    fn default_members(&self, listed: &[PathBuf]) -> Result<Vec<Rc<CargoToml>>, Diagnostic> {
        let Some(entries) = &self.config.default_members else {
            let packages = self.found.values().filter(|member| member.has_package());
            return Ok(match self.root.has_package() {
                true => vec![self.root.clone()],
                false => packages.cloned().collect(),
            });
        };
        let mut found = Vec::new();
        for entry in entries {
            for path in self.workspaces.expand(self.root, &self.config.folder, entry)? {
                let folder = normalize(&path);
                match self.found.get(&folder) {
                    Some(member) => found.push(member.clone()),
                    None if listed.contains(&folder) && self.config.excludes(&folder) => {}
                    None => {
                        let message = format!("`{}` is not a member of the workspace", self.workspaces.folder(&folder));
                        return Err(OP048
                            .error(message)
                            .at(self.root.span(entry.range.clone()), "it is a default member")
                            .help("add it to `members`, or remove it from `default-members`"));
                    }
                }
            }
        }
        found.retain(|member| member.has_package());
        Ok(found)
    }
}

/// The path without `.` and `..`, normalized as in cargo: symbolic links are not followed.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The workspace to which a package in `dir` would belong, other than `dir` itself; `None` if there is none.
pub fn workspace_above(dir: &Path) -> Result<Option<PathBuf>, Diagnostic> {
    // `dir` may be planned, and paths through a missing folder cannot be read.
    let Some(existing) = dir.ancestors().find(|folder| folder.is_dir()) else { return Ok(None) };
    let tree = Tree::at(existing);
    let root = Workspaces::of(&tree).find_root(&normalize(dir))?;
    Ok(root.filter(|root| dir.starts_with(root) && dir != root))
}

/// The root of the git repository around a folder; else that of its cargo workspace; else the folder itself.
pub fn repository_above(dir: &Path) -> PathBuf {
    let repository = dir.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned);
    let workspace = || workspace_above(dir).ok().flatten();
    repository.or_else(workspace).unwrap_or_else(|| dir.to_owned())
}
