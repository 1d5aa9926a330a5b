//! Prints the CRDs of an operator without a program for it, by compiling the operator with a few additional lines of
//! code.
//!
//! The lines are in copies of the files that declare kinds, in a view of the operator's tree below the target folder.
//! All other files of the view are links. So versions, features, patches and profiles are those of the operator, its
//! dependencies are compiled once for both, and kinds may be private, declared by a macro, or in a binary. The
//! alternative, a crate that depends on the operator's library, can name only public types, and has to imitate the
//! operator's workspace.

mod code;
mod view;

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize;
use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};
use walkdir::WalkDir;

use super::cargo::{self, Program};
use super::{Failure, documents};
use crate::diagnostics::{OP040, OP041, OP044};
use code::{Crates, Names};
use opctl_model::project::Features;

/// The position of code that declares a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declaration {
    pub file: PathBuf,
    /// The offset of the name of a type with `#[kube(…)]`, or of the start of a macro.
    pub at: usize,
    pub is_macro: bool,
}

/// The output of the compiled operator.
pub struct Printed {
    pub crds: Vec<CustomResourceDefinition>,
    /// The programs that printed them.
    pub programs: Vec<String>,
    /// The places whose CRDs are missing because a program failed, and the failure.
    pub failed: Option<(Vec<Declaration>, Box<Failure>)>,
}

/// The CRDs of the kinds at these positions in the package in `folder`, or in the workspace with this root.
///
/// # Errors
///
/// If no program prints a CRD, or one prints something else.
pub fn crds(
    folder: &Path,
    places: &[Declaration],
    features: &Features,
    progress: &mut dyn FnMut(&str),
) -> Result<Printed, Box<Failure>> {
    let metadata = Metadata::of(folder)?;
    let (programs, wanted) = Plan::new(&metadata, folder, places, features)?.write().map_err(not_written)?;
    if programs.is_empty() {
        let message = "no library or binary of the package could print the CRDs";
        return Err(Box::new(OP041.error(message).help(CRDGEN).into()));
    }
    let (mut printed, mut used) = (BTreeMap::new(), Vec::new());
    let (mut missing, mut failed) = (wanted, None::<Box<Failure>>);
    for program in &programs {
        if missing.is_empty() {
            break;
        }
        // Some binaries of a repository may not compile, and the others may contain all kinds.
        let text = match program.output(folder, progress) {
            Ok(text) => text,
            Err(failure) => {
                failed.get_or_insert(failure);
                continue;
            }
        };
        let before = printed.len();
        for line in text.lines() {
            let Line { place, crd } = serde_json::from_str(line).map_err(|_| {
                let message = format!("`{}` prints `{}`, which is not a CRD", program.name, documents::beginning(line));
                Box::new(Failure::from(OP044.error(message).help(CRDGEN)))
            })?;
            missing.remove(&place);
            // The files of a module may belong to several crates, and calls may refer to types of other modules, so
            // CRDs can be printed twice.
            printed.insert(crd.to_string(), crd);
        }
        if printed.len() > before {
            used.push(program.name.clone());
        }
    }
    let failed = match failed.filter(|_| !missing.is_empty()) {
        Some(failure) if printed.is_empty() => return Err(failure),
        failed => failed.map(|failure| (missing.into_values().flatten().collect(), failure)),
    };
    let crds = printed.into_values().map(|crd| {
        documents::definition(crd).map_err(|what| {
            let message = format!("a compiled type gives {what}, which is not a CRD");
            Box::new(Failure::from(OP044.error(message)))
        })
    });
    Ok(Printed { crds: crds.collect::<Result<_, _>>()?, programs: used, failed })
}

/// The fix if this does not work.
pub const CRDGEN: &str = "if the operator has a binary that prints its CRDs, name it with `--crdgen-bin`, and its arguments with `--crdgen-args`";

#[derive(Deserialize)]
struct Line {
    place: usize,
    crd: Value,
}

fn not_written(error: io::Error) -> Box<Failure> {
    Box::new(OP040.error(format!("cannot write to the target folder: {error}")).into())
}

/// The output of `cargo metadata --no-deps`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    features: Value,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
    /// `null` for normal dependencies, which are not only for tests or build scripts.
    kind: Option<String>,
    path: Option<PathBuf>,
}

impl Metadata {
    fn of(folder: &Path) -> Result<Self, Box<Failure>> {
        let not_read = |error| Failure::from(OP040.error(format!("cargo's answer cannot be read: {error}")));
        Ok(serde_json::from_value(cargo::metadata(folder)?).map_err(not_read)?)
    }

    /// The package with the innermost folder that contains a file.
    fn owner(&self, file: &Path) -> Option<&Package> {
        let around = self.packages.iter().filter(|package| file.starts_with(package.folder()));
        around.max_by_key(|package| package.folder().components().count())
    }
}

impl Package {
    fn folder(&self) -> &Path {
        self.manifest_path.parent().expect("a file is in a folder")
    }

    fn library(&self) -> Option<&Target> {
        let is_linked =
            |target: &&Target| target.kind.iter().any(|kind| ["lib", "rlib", "dylib"].contains(&kind.as_str()));
        self.targets.iter().find(is_linked)
    }

    fn binaries(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "bin"))
    }

    /// The name of a dependency in the code of this package.
    fn dependency(&self, is_it: impl Fn(&Dependency) -> bool) -> Option<String> {
        let mut used = self.dependencies.iter().filter(|dependency| dependency.kind.is_none());
        let dependency = used.find(|dependency| is_it(dependency))?;
        Some(dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_"))
    }

    fn crates(&self) -> Crates {
        let path = |name: &str| self.dependency(|it| it.name == name).map(|name| format!("::{name}"));
        Crates {
            kube: path("kube").or_else(|| path("kube-core")),
            serde_json: path("serde_json").unwrap_or_else(|| format!("::{SERDE_JSON}")),
        }
    }
}

/// The name of serde_json in packages that do not depend on it themselves. kube depends on it, so it is in the lock
/// file.
const SERDE_JSON: &str = "opctl_serde_json";

/// The items that must print at least one CRD. The key is the number that the programs print before the CRDs of an item.
/// The value is `None` for kinds that a macro declares, since their names are unknown.
type Declarations = BTreeMap<usize, Option<Declaration>>;

/// The files of the view that differ from the operator's, and the programs to run in it.
struct Plan<'a> {
    metadata: &'a Metadata,
    view: PathBuf,
    /// Distinguishes the view from those of other checkouts with the same target folder.
    id: String,
    /// The root folder of the view's originals.
    root: PathBuf,
    contents: BTreeMap<PathBuf, String>,
    programs: Vec<Program>,
    wanted: Declarations,
}

impl<'a> Plan<'a> {
    fn new(
        metadata: &'a Metadata,
        folder: &Path,
        places: &[Declaration],
        features: &Features,
    ) -> Result<Self, Box<Failure>> {
        let files = places.iter().map(|place| &place.file);
        let paths =
            metadata.packages.iter().flat_map(|package| &package.dependencies).filter_map(|it| it.path.as_ref());
        let root = common(repository(metadata), files.chain(paths));
        let mut hasher = DefaultHasher::new();
        root.hash(&mut hasher);
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let id = format!("{:016x}", hasher.finish());
        let view = metadata.target_directory.join("opctl").join(format!("{name}-{id}"));
        let mut plan =
            Self { metadata, view, id, root, contents: BTreeMap::new(), programs: Vec::new(), wanted: BTreeMap::new() };
        let asked: Vec<&Package> =
            cargo::asked(folder, &metadata.workspace_root, &metadata.packages, |it| &it.manifest_path);
        let owners = plan.print_at(places, &asked)?;
        plan.add_programs(&owners, &asked, features)?;
        // Libraries are first: they contain most kinds, and each binary costs another compilation.
        plan.programs.sort_by_key(|program| !program.name.ends_with("-lib"));
        Ok(plan)
    }

    /// Inserts the printing code into the files with these places. Returns the packages that contain them.
    fn print_at(&mut self, places: &[Declaration], asked: &[&'a Package]) -> Result<Vec<&'a Package>, Box<Failure>> {
        let mut items: BTreeMap<PathBuf, Vec<(usize, Names, Option<Declaration>)>> = BTreeMap::new();
        for place in places {
            let text = read(&place.file)?;
            let item = if place.is_macro { code::macro_use(&text, place.at) } else { code::kind(&text, place.at) };
            match code::defined_macro(&text, place.at).filter(|_| place.is_macro) {
                Some(name) => {
                    let package = self.metadata.owner(&place.file);
                    for file in package.map(rust_files).unwrap_or_default() {
                        let text = read(&file)?;
                        let calls = code::calls_of(&text, name).into_iter().filter_map(|at| code::macro_use(&text, at));
                        items.entry(file).or_default().extend(calls.map(|item| (item.end, item.names, None)));
                    }
                }
                None => {
                    let of_kind = Some(place.clone()).filter(|place| !place.is_macro);
                    items.entry(place.file.clone()).or_default().extend(item.map(|it| (it.end, it.names, of_kind)));
                }
            }
        }
        // A macro may compose names that occur in the source only where the operator uses them.
        if places.iter().any(|place| place.is_macro) {
            for package in asked {
                for file in rust_files(package) {
                    let calls = code::calls_of_crd(&read(&file)?);
                    items.entry(file).or_default().extend(calls.into_iter().map(|item| (item.end, item.names, None)));
                }
            }
        }
        for items in items.values_mut() {
            items.retain(|(_, names, _)| !matches!(names, Names::Possible(names) if names.is_empty()));
        }
        items.retain(|_, items| !items.is_empty());
        let count = items.values().map(Vec::len).sum();
        let (mut number, mut owners) = (0, BTreeMap::new());
        for (file, mut items) in items {
            let Some(package) = self.metadata.owner(&file) else { continue };
            owners.insert(&package.manifest_path, package);
            items.sort_by_key(|(end, ..)| *end);
            let (mut text, mut shift) = (read(&file)?, 0);
            for (end, names, place) in items {
                // A name in a macro call or before `crd()` need not be a kind.
                if matches!(names, Names::Known { .. }) {
                    self.wanted.insert(number, place);
                }
                let code = code::print(&names, number, &package.crates());
                text.insert_str(end + shift, &code);
                (number, shift) = (number + 1, shift + code.len());
            }
            self.contents.insert(file, text);
        }
        // Macros may declare kinds with unknown names, so all programs run.
        if places.iter().any(|place| place.is_macro) {
            self.wanted.insert(usize::MAX, None);
        }
        for package in owners.values() {
            for target in package.library().into_iter().chain(package.binaries()) {
                let text = self.text(&target.src_path)?;
                let root = text + &code::module(count);
                let is_library = !target.kind.iter().any(|kind| kind == "bin");
                if is_library {
                    self.contents.insert(target.src_path.clone(), root);
                } else if let Some(main) = code::printing_main(&root) {
                    self.contents.insert(binary_file(target), main);
                }
            }
        }
        Ok(owners.into_values().collect())
    }

    fn text(&self, path: &Path) -> Result<String, Box<Failure>> {
        self.contents.get(path).map_or_else(|| read(path), |text| Ok(text.clone()))
    }

    /// Adds a binary for each library, and one for each binary. The library of a package that is not selected is
    /// compiled as a dependency of a selected one, which determines its features.
    fn add_programs(
        &mut self,
        owners: &[&'a Package],
        asked: &[&'a Package],
        features: &Features,
    ) -> Result<(), Box<Failure>> {
        // By manifest path: the package, and the names of these libraries in its code.
        let mut libraries: BTreeMap<&Path, (&Package, Vec<String>)> =
            owners.iter().map(|package| (package.manifest_path.as_path(), (*package, Vec::new()))).collect();
        for owner in owners {
            let Some(library) = owner.library() else { continue };
            let is_requested = asked.iter().any(|package| package.manifest_path == owner.manifest_path);
            let users = asked.iter().filter(|_| !is_requested).filter_map(|package| {
                Some((*package, package.dependency(|it| it.path.as_deref() == Some(owner.folder()))?))
            });
            let mut users = users.peekable();
            if users.peek().is_none() {
                let names = &mut libraries.get_mut(owner.manifest_path.as_path()).expect("it is an owner").1;
                names.push(library.name.replace('-', "_"));
            }
            for (user, name) in users {
                libraries.entry(&user.manifest_path).or_insert((user, Vec::new())).1.push(name);
            }
        }
        for (package, libraries) in libraries.into_values() {
            self.add_programs_of(package, &libraries, features)?;
        }
        Ok(())
    }

    /// Adds the binaries to the package's manifest, and changes its version, so that cargo does not confuse this build
    /// with builds of the tree or of another checkout.
    fn add_programs_of(
        &mut self,
        package: &Package,
        libraries: &[String],
        features: &Features,
    ) -> Result<(), Box<Failure>> {
        let mut bins = Vec::new();
        if !libraries.is_empty() {
            let path = package.folder().join("opctl-lib.rs");
            let calls: String = libraries.iter().map(|library| format!("{library}::__opctl::print();")).collect();
            self.contents.insert(path.clone(), format!("fn main() {{ {calls} }}\n"));
            bins.push((format!("opctl-{}-lib", package.name), path, Vec::new()));
        }
        for target in package.binaries() {
            let path = binary_file(target);
            if self.contents.contains_key(&path) {
                bins.push((binary_name(target), path, target.required_features.clone()));
            }
        }
        let mut manifest: DocumentMut = read(&package.manifest_path)?.parse().map_err(|error| {
            Failure::from(OP040.error(format!("`{}` is not valid TOML: {error}", package.manifest_path.display())))
        })?;
        edit_manifest(&mut manifest, package, &self.id, &bins);
        self.contents.insert(package.manifest_path.clone(), manifest.to_string());
        let below = package.manifest_path.strip_prefix(&self.root).expect("the root is around all packages");
        for (name, _, required) in bins {
            let options = cargo::options(&package.features, required.into_iter(), features);
            self.programs.push(Program {
                name,
                package: package.name.clone(),
                options,
                manifest: Some((self.view.join(below), self.metadata.target_directory.clone())),
                arguments: Vec::new(),
            });
        }
        Ok(())
    }

    /// Writes the view.
    fn write(mut self) -> io::Result<(Vec<Program>, Declarations)> {
        let lock = self.metadata.workspace_root.join("Cargo.lock");
        let kept = self.view.with_extension("lock");
        let theirs = fs::read_to_string(&lock).unwrap_or_default();
        let copy = self.view.join(lock.strip_prefix(&self.root).expect("the root is around the workspace"));
        // Cargo completes the copy of the lock file. The copy is kept as long as the operator's lock file does not
        // change.
        let is_same = fs::read_to_string(&kept).is_ok_and(|before| before == theirs);
        let text = if is_same { fs::read_to_string(&copy).unwrap_or(theirs.clone()) } else { theirs.clone() };
        if !text.is_empty() {
            self.contents.insert(lock, text);
        }
        view::update(&self.root, &self.view, &self.contents, &self.metadata.target_directory)?;
        view::write(&kept, &theirs)?;
        Ok((self.programs, self.wanted))
    }
}

fn edit_manifest(manifest: &mut DocumentMut, package: &Package, id: &str, bins: &[(String, PathBuf, Vec<String>)]) {
    let separator = if package.version.contains('+') { '.' } else { '+' };
    manifest["package"]["version"] = value(format!("{}{separator}opctl.{id}", package.version));
    let tables = manifest.entry("bin").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if let Ok(list) = std::mem::take(tables).into_array_of_tables() {
        *tables = Item::ArrayOfTables(list);
    }
    for (name, path, required) in bins {
        let mut table = Table::new();
        let path = path.strip_prefix(package.folder()).unwrap_or(path);
        table["name"] = value(name);
        table["path"] = value(path.to_string_lossy().into_owned());
        table["required-features"] = value(required.iter().collect::<toml_edit::Array>());
        if let Some(tables) = tables.as_array_of_tables_mut() {
            tables.push(table);
        }
    }
    if package.dependency(|it| it.name == "serde_json").is_none() {
        let mut dependency = InlineTable::new();
        dependency.insert("package", "serde_json".into());
        dependency.insert("version", "1".into());
        manifest["dependencies"][SERDE_JSON] = value(dependency);
    }
}

/// The path of the copy of a binary's root file. It is in the same folder, so `mod name;` refers to the same files.
fn binary_file(target: &Target) -> PathBuf {
    target.src_path.with_file_name(format!("{}.rs", binary_name(target)))
}

fn binary_name(target: &Target) -> String {
    format!("opctl-{}-bin", target.name)
}

fn read(path: &Path) -> Result<String, Box<Failure>> {
    let not_read = |error| Failure::from(OP040.error(format!("cannot read `{}`: {error}", path.display())));
    Ok(fs::read_to_string(path).map_err(not_read)?)
}

/// The source files of a package's library and binaries.
fn rust_files(package: &Package) -> Vec<PathBuf> {
    let files = WalkDir::new(package.folder().join("src")).sort_by_file_name().into_iter().filter_map(Result::ok);
    files.map(walkdir::DirEntry::into_path).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// The repository around the workspace, from which source files may include others; otherwise the root of the
/// workspace.
fn repository(metadata: &Metadata) -> &Path {
    let Metadata { workspace_root, target_directory, .. } = metadata;
    // A view excludes the target folder, which may contain this workspace.
    let mut around = workspace_root.ancestors().filter(|_| !workspace_root.starts_with(target_directory));
    around.find(|above| above.join(".git").exists()).unwrap_or(workspace_root)
}

/// The innermost folder that contains `folder` and these paths.
fn common<'p>(folder: &Path, paths: impl Iterator<Item = &'p PathBuf>) -> PathBuf {
    let mut root = folder.to_owned();
    for path in paths {
        while !path.starts_with(&root) && root.pop() {}
    }
    root
}
