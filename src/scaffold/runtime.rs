//! The crate `opctl-runtime` as it is copied to projects: the files of `crates/runtime`, without tests.
//!
//! `templates/runtime` contains links to that crate. Cargo excludes the crate from opctl's package, because it is a
//! package of its own, but follows the links. So every opctl contains the runtime of its release.

use std::sync::LazyLock;

use toml_edit::{DocumentMut, TableLike};

use super::File;
use super::bundle;
use opctl_edit::plan::{Plan, SUMS};
use opctl_model::project::{Carried, Manifest, ReadError, Tree, join};
use opctl_model::versions::Release;

/// The runtime that this opctl vendors.
#[derive(Debug)]
pub struct Runtime {
    pub version: String,
    /// By path relative to the crate's folder, sorted.
    pub files: Vec<File>,
}

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
        let Self { version, files } = Self::embedded();
        let mut tree = Tree::default();
        files.iter().for_each(|file| tree.lay_over(&file.path, &file.text));
        Carried { version: version.clone(), tree }
    }

    fn new() -> Self {
        let mut version = String::new();
        let mut files = Vec::new();
        let mut of_tests: Vec<String> = Vec::new();
        for (path, text) in bundle::verbatim("runtime") {
            let (path, text) = match path {
                // Named Cargo.toml, it would make the folder a package that cargo excludes from opctl's package.
                "manifest.toml" => {
                    let manifest;
                    (version, manifest) = vendored_manifest(text);
                    ("Cargo.toml", manifest)
                }
                _ if path.ends_with(".rs") => {
                    let (text, modules) = without_tests(text);
                    let folder = ["/mod.rs", "/lib.rs", ".rs"].iter().find_map(|end| path.strip_suffix(end));
                    let folder = folder.expect("one of the three matches");
                    of_tests.extend(modules.iter().map(|module| format!("{folder}/{module}")));
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
        Self { version, files }
    }
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

    /// Plans the replacement of the copy in a folder with the embedded runtime. `sums` are the checksums of the copy,
    /// if there are any.
    pub fn update(plan: &mut Plan, folder: &str, sums: Option<&str>) {
        let files = &Runtime::embedded().files;
        let files: Vec<(&str, &str)> = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
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

/// The text of a file without its `#[cfg(test)]` items, and the removed modules that are files. The text is formatted
/// by rustfmt, so an item ends with the next line that is not indented and ends in `;` or `}`.
fn without_tests(text: &str) -> (String, Vec<&str>) {
    let (mut kept, mut modules): (Vec<&str>, Vec<&str>) = Default::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        let last = lines.find(|line| !line.starts_with(' ') && line.ends_with([';', '}'])).unwrap_or_default();
        let module = last.strip_suffix(';').and_then(|line| Some(line.split_once("mod ")?.1));
        modules.extend(module.filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_')));
        // Avoids consecutive empty lines, and one at the end.
        if kept.last().is_some_and(|last| last.is_empty()) && lines.peek().is_none_or(|next| next.is_empty()) {
            kept.pop();
        }
    }
    (kept.iter().flat_map(|line| [line, "\n"]).collect(), modules)
}

#[cfg(test)]
mod tests {
    use syn::{Attribute, Item};

    use super::*;

    #[test]
    fn tests_are_left_out_of_a_file() {
        let text = "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub mod mock;\nmod b;\n\n#[cfg(test)]\nfn f(\n    a: A,\n) -> B {\n    g();\n}\n\n\
                    struct C;\n\n#[cfg(test)]\nmod tests {\n    mod inner;\n\n    fn h() {\n    }\n}\n";
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
                    let is_there = files.iter().any(|file| candidates.contains(&file.path));
                    assert!(is_there, "{path} names the module {}", module.ident);
                }
            }
        }
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
