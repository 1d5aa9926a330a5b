//! The crate `opctl-runtime` as it is copied to projects: the files of `crates/runtime`, without tests, and without the
//! modules of features that no package of the project uses.
//!
//! `templates/runtime` contains links to that crate. Cargo excludes the crate from opctl's package, because it is a
//! package of its own, but follows the links. So every opctl contains the runtime of its release.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use toml_edit::{DocumentMut, TableLike};

use super::File;
use super::bundle;
use opctl_edit::plan::{Plan, SUMS, Sums};
use opctl_model::project::{Carried, Manifest, ReadError, Tree, Workspaces, join};
use opctl_model::versions::Release;

/// The runtime that this opctl vendors.
#[derive(Debug)]
pub struct Runtime {
    pub version: String,
    /// By path relative to the crate's folder, sorted.
    pub files: Vec<File>,
    /// The table `[features]`.
    features: BTreeMap<String, Vec<String>>,
    conditional: Vec<Conditional>,
}

/// Names of features of the runtime.
pub type Features = BTreeSet<String>;

/// The dependency on the runtime in Cargo.toml, except for features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeSource {
    pub version: String,
    /// The path relative to the project's folder; `None` for the registry.
    pub path: Option<String>,
    /// opctl wrote the copy in this folder.
    pub is_vendored: bool,
}

impl Runtime {
    /// The name of the package.
    pub const PACKAGE: &str = "opctl-runtime";
    /// The folder of the vendored copy.
    pub const FOLDER: &str = "runtime";

    /// The major version of kube that the runtime depends on.
    pub fn kube() -> &'static str {
        Self::embedded().version.split('.').next().expect("a version has a major part")
    }

    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Runtime> = LazyLock::new(Runtime::new);
        &EMBEDDED
    }

    /// The embedded runtime as a tree, for projects that use it from the registry.
    pub fn carried() -> Carried {
        let Self { version, files, .. } = Self::embedded();
        let mut tree = Tree::default();
        files.iter().for_each(|file| tree.lay_over(&file.path, &file.text));
        Carried { version: version.clone(), tree }
    }

    /// The features of the runtime that the project in `folder`, or another package of its workspace, uses, and those
    /// that they enable. `None` if a Cargo.toml is invalid.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn used_features(&self, tree: &Tree, folder: &str) -> Result<Option<Features>, ReadError> {
        let workspaces = Workspaces::of(tree);
        let Ok(root) = workspaces.root_of(folder) else { return Ok(None) };
        let root = root.map(|root| root.folder.clone());
        let Ok(workspace) = root.as_deref().map(|root| workspaces.rooted_in(root)).transpose() else { return Ok(None) };
        let members = workspace.iter().flatten().flat_map(|workspace| &workspace.members);
        let folders: BTreeSet<String> =
            members.map(|member| member.folder.clone()).chain(root).chain([folder.to_owned()]).collect();
        let mut features = Vec::new();
        for folder in folders {
            let Some(manifest) = Manifest::read(tree, &folder)? else { return Ok(None) };
            features.extend(manifest.features_of(Self::PACKAGE));
        }
        Ok(Some(self.closure(features)))
    }

    /// Like the method above, with all features if a Cargo.toml is invalid.
    pub fn needed_features(&self, tree: &Tree, folder: &str) -> Result<Features, ReadError> {
        let used = self.used_features(tree, folder)?;
        Ok(used.unwrap_or_else(|| self.features.keys().cloned().collect()))
    }

    /// These features and all that they enable, except for unknown ones.
    fn closure(&self, features: Vec<String>) -> Features {
        let (mut open, mut used) = (features, Features::new());
        while let Some(feature) = open.pop() {
            if let Some(enabled) = self.features.get(&feature)
                && used.insert(feature)
            {
                open.extend(enabled.iter().cloned());
            }
        }
        used
    }

    /// The paths and texts of the runtime with these features only.
    pub fn files_for(&self, features: &Features) -> Vec<(&str, Cow<'_, str>)> {
        let is_missing = |of: &[String]| !of.iter().any(|feature| features.contains(feature));
        let missing: Vec<&Conditional> =
            self.conditional.iter().filter(|module| is_missing(&module.features)).collect();
        let files = self.files.iter().filter(|file| !missing.iter().any(|module| module.contains(&file.path)));
        let is_changed = |file: &File| {
            !missing.is_empty() && (file.path == ROOT || missing.iter().any(|module| module.parent == file.path))
        };
        let texts = files.map(|file| match is_changed(file) {
            true => (file.path.as_str(), Cow::Owned(without_modules(file, &missing))),
            false => (file.path.as_str(), Cow::Borrowed(file.text.as_str())),
        });
        texts.collect()
    }

    /// The paths of the files that exist for this feature alone.
    fn files_of(&self, feature: &str) -> impl Iterator<Item = &str> {
        let modules = self.conditional.iter().filter(move |module| module.features == [feature]);
        modules
            .flat_map(|module| self.files.iter().filter(|file| module.contains(&file.path)))
            .map(|file| file.path.as_str())
    }

    /// The first of the used features that needs this file; `None` for a file of every copy.
    pub fn feature_of(&self, path: &str, used: &Features) -> Option<&str> {
        let module = self.conditional.iter().find(|module| module.contains(path))?;
        module.features.iter().find(|feature| used.contains(*feature)).map(String::as_str)
    }

    fn new() -> Self {
        let mut version = String::new();
        let mut features = BTreeMap::new();
        let mut files = Vec::new();
        let mut of_tests: Vec<String> = Vec::new();
        for (path, text) in bundle::verbatim("runtime") {
            let (path, text) = match path {
                // Named Cargo.toml, it would make the folder a package that cargo excludes from opctl's package.
                "manifest.toml" => {
                    let manifest;
                    (version, manifest) = vendored_manifest(text);
                    features = features_of(&manifest);
                    ("Cargo.toml", manifest)
                }
                _ if path.ends_with(".rs") => {
                    let (text, modules) = without(text, |attribute, _| attribute == "#[cfg(test)]");
                    of_tests.extend(modules.iter().map(|module| format!("{}/{module}", folder_of(path))));
                    (path, text)
                }
                _ => (path, text.to_owned()),
            };
            files.push(File { path: path.into(), text });
        }
        files.retain(|file| {
            let mut rest = of_tests.iter().filter_map(|module| file.path.strip_prefix(module.as_str()));
            !rest.any(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let conditional = files.iter().flat_map(Conditional::declared_in).collect();
        Self { version, files, features, conditional }
    }
}

/// A module that exists with one of several features.
#[derive(Debug)]
struct Conditional {
    /// Sorted.
    features: Vec<String>,
    name: String,
    /// The path of the file that declares it.
    parent: String,
}

impl Conditional {
    fn declared_in(file: &File) -> impl Iterator<Item = Self> {
        let lines = file.text.lines().zip(file.text.lines().skip(1));
        lines.filter_map(|(attribute, item)| {
            let (features, name) = (features_in(attribute)?, module(item)?.to_owned());
            Some(Self { features, name, parent: file.path.clone() })
        })
    }

    /// `true` for the path of a file of the module.
    fn contains(&self, path: &str) -> bool {
        let rest = path.strip_prefix(folder_of(&self.parent)).and_then(|rest| rest.strip_prefix('/'));
        rest.and_then(|rest| rest.strip_prefix(&*self.name)).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }
}

/// The text of a file without its missing modules. In the root of the crate, using their features is an error.
fn without_modules(file: &File, missing: &[&Conditional]) -> String {
    let is_missing = |attribute: &str, item: &str| {
        let (features, name) = (features_in(attribute), module(item));
        missing
            .iter()
            .any(|it| it.parent == file.path && Some(&*it.name) == name && Some(&it.features) == features.as_ref())
    };
    let (mut text, _) = without(&file.text, is_missing);
    if file.path == ROOT {
        let features: BTreeSet<&String> =
            missing.iter().filter(|it| it.features.len() == 1).flat_map(|it| &it.features).collect();
        let features: Vec<String> = features.iter().map(|name| format!("feature = \"{name}\"")).collect();
        let condition = match &features[..] {
            [one] => one.clone(),
            several => format!("any({})", several.join(", ")),
        };
        text.push_str(&format!("\n// {MISSING}\n#[cfg({condition})]\ncompile_error!(\"{MISSING_ERROR}\");\n"));
    }
    text
}

/// The folder of the modules that a file declares.
fn folder_of(path: &str) -> &str {
    let folder = ["/mod.rs", "/lib.rs", ".rs"].iter().find_map(|end| path.strip_suffix(end));
    folder.expect("one of the three matches")
}

const ROOT: &str = "src/lib.rs";

/// Ends the root of a copy that lacks modules.
const MISSING: &str = "opctl leaves out the modules of features that no Cargo.toml of the project uses.";
const MISSING_ERROR: &str =
    "run `opctl init --runtime vendored`: it adds the features that Cargo.toml uses to this copy";

fn features_of(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let manifest: DocumentMut = manifest.parse().expect("it was edited as such");
    let features = manifest["features"].as_table_like().expect("the runtime has features");
    let values = |item: &toml_edit::Item| {
        let values = item.as_array().into_iter().flatten();
        values.filter_map(|value| value.as_str()).map(str::to_owned).collect()
    };
    features.iter().map(|(name, item)| (name.to_owned(), values(item))).collect()
}

/// The features in `#[cfg(feature = "a")]` or `#[cfg(any(feature = "a", feature = "b"))]`; `None` for another attribute.
fn features_in(attribute: &str) -> Option<Vec<String>> {
    let is_it = attribute.starts_with("#[cfg(feature = ") || attribute.starts_with("#[cfg(any(feature = ");
    is_it.then(|| attribute.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// The runtime in a folder of a project.
pub struct RuntimeCopy {
    pub version: String,
    /// The list of checksums. A copy without one belongs to the user.
    pub sums: Option<String>,
}

impl RuntimeCopy {
    pub fn read(tree: &Tree, folder: &str) -> Result<Option<Self>, ReadError> {
        let manifest = Manifest::read(tree, folder)?;
        let Some((Runtime::PACKAGE, version)) = manifest.as_ref().and_then(Manifest::package) else { return Ok(None) };
        Ok(Some(Self { version: version.into(), sums: tree.read(&join(folder, SUMS))? }))
    }

    /// `true` if the copy is newer than the embedded runtime.
    pub fn is_newer(&self) -> bool {
        Release::parse(&self.version) > Release::parse(&Runtime::embedded().version)
    }

    /// The features whose modules are in the copy, if it is the embedded runtime with some of them.
    pub fn features(&self) -> Option<Features> {
        let runtime = Runtime::embedded();
        let listed = Sums::parse(self.sums.as_deref()?)?;
        let is_listed = |feature: &&String| runtime.files_of(feature).any(|path| listed.0.contains_key(path));
        let features: Features = runtime.features.keys().filter(is_listed).cloned().collect();
        let files = runtime.files_for(&features);
        (Sums::of(files.iter().map(|(path, text)| (*path, &**text))) == listed).then_some(features)
    }

    /// A file that the embedded runtime has for one of these features, and the copy has not.
    pub fn lacks(&self, features: &Features) -> Option<&'static str> {
        let listed = self.sums.as_deref().and_then(Sums::parse).unwrap_or_default();
        let runtime = Runtime::embedded();
        let is_conditional = |path: &str| runtime.conditional.iter().any(|module| module.contains(path));
        let mut paths = runtime.files_for(features).into_iter().map(|(path, _)| path);
        paths.find(|path| is_conditional(path) && !listed.0.contains_key(*path))
    }

    /// Plans the replacement of the copy in a folder with the embedded runtime, with the modules of these features.
    /// `sums` are the checksums of the copy, if there are any.
    pub fn update(plan: &mut Plan, folder: &str, sums: Option<&str>, features: &Features) {
        let files = Runtime::embedded().files_for(features);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        plan.vendor(folder, &files, sums);
    }
}

impl RuntimeSource {
    /// `version = "5.0.0", path = "runtime"`.
    pub(super) fn keys(&self) -> String {
        let version = format!("version = \"{}\"", self.version);
        match &self.path {
            Some(path) => format!("{version}, path = {}", toml_edit::Value::from(path)),
            None => version,
        }
    }
}

const HEADER: &str = "\
# The runtime of the operator, vendored by opctl. `opctl init --runtime vendored` replaces it by that of another opctl, unless
# a file was edited: SHA256SUMS has the checksums.

";

/// The version, and Cargo.toml without keys that only opctl's repository and the registry need.
fn vendored_manifest(text: &str) -> (String, String) {
    let mut document: DocumentMut = text.parse().expect("cargo has read this Cargo.toml");
    let tables = document.as_table_mut();
    for key in ["dev-dependencies", "test", "bench", "example"] {
        tables.remove(key);
    }
    let platforms = tables.get_mut("target").and_then(|target| target.as_table_like_mut());
    for (_, platform) in platforms.into_iter().flat_map(TableLike::iter_mut) {
        platform.as_table_like_mut().map(|platform| platform.remove("dev-dependencies"));
    }
    let package = document["package"].as_table_like_mut().expect("it is the Cargo.toml of a package");
    for key in ["autotests", "exclude", "include", "metadata"] {
        package.remove(key);
    }
    let version = package.get("version").and_then(|version| version.as_str()).expect("a package has a version");
    (version.to_owned(), format!("{HEADER}{}", document.to_string().trim_start()))
}

/// The text of a file without the items that `is_removed` accepts by their attribute and first line, and the removed
/// modules that are files. The text is formatted by rustfmt, so an item ends with the next line that is not indented
/// and ends in `;` or `}`.
fn without(text: &str, is_removed: impl Fn(&str, &str) -> bool) -> (String, Vec<&str>) {
    let (mut kept, mut modules): (Vec<&str>, Vec<&str>) = Default::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with("#[") || !lines.peek().is_some_and(|item| is_removed(line, item)) {
            kept.push(line);
            continue;
        }
        let last = lines.find(|line| !line.starts_with(' ') && line.ends_with([';', '}'])).unwrap_or_default();
        modules.extend(module(last));
        // Avoids consecutive empty lines, and one at the end.
        if kept.last().is_some_and(|last| last.is_empty()) && lines.peek().is_none_or(|next| next.is_empty()) {
            kept.pop();
        }
    }
    (kept.iter().flat_map(|line| [line, "\n"]).collect(), modules)
}

/// The name in `pub mod name;`.
fn module(line: &str) -> Option<&str> {
    let name = line.strip_suffix(';')?.split_once("mod ")?.1;
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

#[cfg(test)]
mod tests {
    use syn::{Attribute, Item};

    use super::*;

    #[test]
    fn tests_are_left_out_of_a_file() {
        let text = "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub mod mock;\nmod b;\n\n#[cfg(test)]\nfn f(\n    a: A,\n) -> B {\n    g();\n}\n\n\
                    struct C;\n\n#[cfg(test)]\nmod tests {\n    mod inner;\n\n    fn h() {\n    }\n}\n";
        let without_tests = |text| without(text, |attribute, _| attribute == "#[cfg(test)]");
        assert_eq!(without_tests(text), ("mod a;\nmod b;\n\nstruct C;\n".into(), vec!["tests", "mock"]));
        assert_eq!(without_tests("struct A;\n"), ("struct A;\n".into(), Vec::new()));
    }

    /// Each file equals what the compiler sees of the original without tests, and all modules exist.
    #[test]
    fn every_file_is_that_of_the_crate_without_tests() {
        let is_test = |item: &Item| {
            let attributes: &[Attribute] = match item {
                Item::Const(item) => &item.attrs,
                Item::Enum(item) => &item.attrs,
                Item::Fn(item) => &item.attrs,
                Item::Impl(item) => &item.attrs,
                Item::Mod(item) => &item.attrs,
                Item::Static(item) => &item.attrs,
                Item::Struct(item) => &item.attrs,
                Item::Trait(item) => &item.attrs,
                Item::Type(item) => &item.attrs,
                Item::Use(item) => &item.attrs,
                _ => &[],
            };
            attributes.iter().any(|attribute| *attribute == syn::parse_quote!(#[cfg(test)]))
        };
        let sources: Vec<(&str, &str)> =
            bundle::verbatim("runtime").filter(|(path, _)| path.ends_with(".rs")).collect();
        let files = &Runtime::embedded().files;
        assert!(sources.len() > 1 && files.len() > 5);
        for (path, text) in sources {
            let Some(vendored) = files.iter().find(|file| file.path == path) else { continue };
            let mut expected = syn::parse_file(text).unwrap();
            expected.items.retain(|item| !is_test(item));
            assert!(syn::parse_file(&vendored.text).unwrap() == expected, "{path}");
            let folder = ["/mod.rs", "/lib.rs", ".rs"].iter().find_map(|end| path.strip_suffix(end)).unwrap();
            for item in &expected.items {
                if let Item::Mod(module) = item
                    && module.content.is_none()
                {
                    let candidates = ["", "/mod"].map(|end| format!("{folder}/{}{end}.rs", module.ident));
                    let exists = files.iter().any(|file| candidates.contains(&file.path));
                    assert!(exists, "{path} names the module {}", module.ident);
                }
            }
        }
    }

    #[test]
    fn a_copy_has_the_modules_of_its_features() {
        let runtime = Runtime::embedded();
        let has_files = |name: &&String| runtime.files_of(name).next().is_some();
        let names: Vec<&String> = runtime.features.keys().filter(has_files).collect();
        assert_eq!(names, ["ansible", "conversion", "helm", "otlp", "shards", "testing", "webhook"]);
        for set in 0..1 << names.len() {
            let chosen =
                names.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, name)| (*name).clone());
            let features = runtime.closure(chosen.chain(["manager".to_owned()]).collect());
            let files = runtime.files_for(&features);
            let declared: BTreeSet<String> = files
                .iter()
                .filter(|(path, _)| path.ends_with(".rs"))
                .flat_map(|(path, text)| {
                    let modules = text.lines().filter(|line| !line.starts_with(' ')).filter_map(module);
                    modules.map(|name| format!("{}/{name}", folder_of(path))).collect::<Vec<_>>()
                })
                .collect();
            let paths: BTreeSet<&str> = files.iter().map(|(path, _)| *path).collect();
            for module in &declared {
                let candidates = [format!("{module}.rs"), format!("{module}/mod.rs")];
                assert!(candidates.iter().any(|path| paths.contains(&**path)), "{features:?}: {module}");
            }
            for path in paths.iter().filter_map(|path| path.strip_suffix(".rs")).filter(|path| *path != "src/lib") {
                let module = path.strip_suffix("/mod").unwrap_or(path);
                assert!(declared.contains(module), "{features:?}: nothing declares {module}");
            }
            let (_, root) = files.iter().find(|(path, _)| *path == ROOT).unwrap();
            syn::parse_file(root).unwrap();
            let lacks = |name: &&&String| !features.contains(**name);
            let error =
                root.split_once("compile_error!").map_or("", |(before, _)| before.rsplit("\n#[").next().unwrap());
            assert!(names.iter().filter(lacks).all(|name| error.contains(&format!("feature = \"{name}\""))), "{error}");
            assert_eq!(root.contains("compile_error!"), names.iter().any(|name| lacks(&name)), "{features:?}");

            let sums = Sums::of(files.iter().map(|(path, text)| (*path, &**text))).text();
            let copy = RuntimeCopy { version: String::new(), sums: Some(sums) };
            let with_files =
                |features: Features| features.into_iter().filter(|name| has_files(&name)).collect::<Vec<_>>();
            assert_eq!(copy.features().map(with_files), Some(with_files(features)));
        }
    }

    #[test]
    fn a_feature_counts_wherever_a_package_enables_it() {
        let mut tree = Tree::default();
        tree.lay_over("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nexclude = [\"runtime\"]\n");
        tree.lay_over("runtime/Cargo.toml", "[package]\nname = \"opctl-runtime\"\n");
        tree.lay_over(
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n\n[dependencies]\nopctl-runtime = { path = \"../runtime\", features = [\"manager\"] }\n\n\
             [features]\nmore = [\"opctl-runtime?/otlp\", \"other/helm\"]\n\n\
             [target.'cfg(unix)'.dev-dependencies]\nopctl-runtime = { path = \"../runtime\", features = [\"testing\"] }\n",
        );
        tree.lay_over(
            "b/Cargo.toml",
            "[package]\nname = \"b\"\n\n[dependencies.rt]\npackage = \"opctl-runtime\"\nfeatures = [\"conversion\"]\n",
        );
        let used = |tree: &Tree| Runtime::embedded().used_features(tree, "a").unwrap();
        let expected = ["conversion", "manager", "otlp", "testing", "webhook"].map(String::from);
        assert_eq!(used(&tree), Some(expected.into()));
        tree.lay_over("b/Cargo.toml", "<<<<<<<");
        assert_eq!(used(&tree), None);
    }

    #[test]
    fn the_files_are_those_of_a_crate_that_builds_by_itself() {
        let runtime = Runtime::embedded();
        let paths: Vec<&str> = runtime.files.iter().map(|file| file.path.as_str()).collect();
        for path in ["Cargo.toml", "LICENSE", "README.md", "rustfmt.toml", "src/lib.rs"] {
            assert!(paths.contains(&path), "{paths:?}");
        }
        let manifest: DocumentMut = runtime.files[0].text.parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(Runtime::PACKAGE));
        assert_eq!(manifest["package"]["version"].as_str(), Some(runtime.version.as_str()));
        // A project has no workspace whose keys could be inherited.
        assert!(!runtime.files[0].text.contains("workspace"), "{}", runtime.files[0].text);
        assert!(!runtime.files[0].text.contains("path = "), "{}", runtime.files[0].text);
    }

    #[test]
    fn dependencies_of_tests_are_left_out() {
        let (version, manifest) = vendored_manifest(
            "[package]\nname = \"a\"\nversion = \"1.2.3\"\ninclude = [\"/src\"]\n\n[package.metadata.docs.rs]\nfeatures = []\n\n\
             [dependencies]\n# Needed.\nb = \"1\"\n\n[dev-dependencies]\nc = \"1\"\n\n\
             [target.'cfg(unix)'.dev-dependencies]\nd = \"1\"\n\n[lints.rust]\nunsafe_code = \"forbid\"\n",
        );
        assert_eq!(version, "1.2.3");
        assert_eq!(
            manifest.strip_prefix(HEADER),
            Some(
                "[package]\nname = \"a\"\nversion = \"1.2.3\"\n\n[dependencies]\n# Needed.\nb = \"1\"\n\n\
                 [lints.rust]\nunsafe_code = \"forbid\"\n"
            )
        );
    }
}
