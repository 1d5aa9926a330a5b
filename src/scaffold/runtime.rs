//! The crate `opctl-runtime` as a project gets it: the files of `crates/runtime`, without its tests.
//!
//! `templates/runtime` consists of links to that crate. Cargo leaves the crate itself out of opctl's archive, for it is a
//! package of its own, but it follows the links. So every opctl carries the runtime that it was released with.

use std::sync::LazyLock;

use toml_edit::{DocumentMut, TableLike};

use super::File;
use super::bundle;

/// The runtime that this opctl vendors.
#[derive(Debug)]
pub struct Runtime {
    pub version: String,
    /// By their paths from the folder of the crate, sorted.
    pub files: Vec<File>,
}

/// Where a project gets the runtime from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RuntimeSource {
    /// A copy in the project, or at the root of its workspace.
    #[default]
    Vendored,
    /// The registry.
    Registry,
    /// A folder, from the project's.
    Path(String),
}

impl Runtime {
    /// The name of the package.
    pub const PACKAGE: &str = "opctl-runtime";
    /// The folder of the vendored copy.
    pub const FOLDER: &str = "runtime";

    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Runtime> = LazyLock::new(Runtime::new);
        &EMBEDDED
    }

    fn new() -> Self {
        let mut version = String::new();
        let mut files = Vec::new();
        for (path, text) in bundle::verbatim("runtime") {
            let (path, text) = match path {
                // Under its own name, it would make the folder a package that cargo leaves out of opctl's archive.
                "manifest.toml" => {
                    let manifest;
                    (version, manifest) = vendored_manifest(text);
                    ("Cargo.toml", manifest)
                }
                _ if path.ends_with("/tests.rs") || path.contains("/tests/") => continue,
                _ if path.ends_with(".rs") => (path, without_tests(text)),
                _ => (path, text.to_owned()),
            };
            files.push(File { path: path.into(), text });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { version, files }
    }
}

impl RuntimeSource {
    /// The path of the dependency in Cargo.toml; `workspace` leads from the project to the root of its workspace.
    pub fn path(&self, workspace: Option<&str>) -> Option<String> {
        match self {
            Self::Vendored => Some(workspace.map_or_else(
                || Runtime::FOLDER.to_owned(),
                |workspace| format!("{workspace}/{}", Runtime::FOLDER),
            )),
            Self::Registry => None,
            Self::Path(path) => Some(path.clone()),
        }
    }

    /// What Cargo.toml says of it besides features: `version = "5.0.0", path = "runtime"`.
    pub(super) fn keys(&self, workspace: Option<&str>) -> String {
        let version = format!("version = \"{}\"", Runtime::embedded().version);
        match self.path(workspace) {
            Some(path) => format!("{version}, path = {}", toml_edit::Value::from(path)),
            None => version,
        }
    }
}

const HEADER: &str = "\
# The runtime of the operator, vendored by opctl. `opctl init --runtime vendored` replaces it by that of another opctl, unless
# a file was edited: SHA256SUMS has the checksums.

";

/// The version, and Cargo.toml without what only the repository of opctl and the registry need.
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
    for key in ["exclude", "include", "metadata"] {
        package.remove(key);
    }
    let version = package.get("version").and_then(|version| version.as_str()).expect("a package has a version");
    (version.to_owned(), format!("{HEADER}{}", document.to_string().trim_start()))
}

/// Leaves out the `#[cfg(test)]` items of a file that rustfmt has formatted: each ends with the next line that is not
/// indented and ends in `;` or `}`.
fn without_tests(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        lines.find(|line| !line.starts_with(' ') && line.ends_with([';', '}']));
        // No two empty lines, and none at the end.
        if kept.last().is_some_and(|last| last.is_empty()) && lines.peek().is_none_or(|next| next.is_empty()) {
            kept.pop();
        }
    }
    kept.iter().flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use syn::{Attribute, Item};

    use super::*;

    #[test]
    fn tests_are_left_out_of_a_file() {
        let text = "mod a;\n#[cfg(test)]\nmod tests;\nmod b;\n\n#[cfg(test)]\nfn f(\n    a: A,\n) -> B {\n    g();\n}\n\n\
                    struct C;\n\n#[cfg(test)]\nmod tests {\n    mod inner;\n\n    fn h() {\n    }\n}\n";
        assert_eq!(without_tests(text), "mod a;\nmod b;\n\nstruct C;\n");
        assert_eq!(without_tests("struct A;\n"), "struct A;\n");
    }

    /// What the text cut of each file of the crate is what a compiler would leave out.
    #[test]
    fn every_file_is_that_of_the_crate_without_tests() {
        fn is_test(attributes: &[Attribute]) -> bool {
            attributes.iter().any(|attribute| *attribute == syn::parse_quote!(#[cfg(test)]))
        }
        let runtime = Runtime::embedded();
        let sources: Vec<(&str, &str)> = bundle::verbatim("runtime").filter(|(path, _)| path.ends_with(".rs")).collect();
        assert!(!sources.is_empty());
        for (path, text) in sources {
            let mut file = syn::parse_file(text).unwrap();
            for item in &file.items {
                if let Item::Mod(module) = item
                    && is_test(&module.attrs)
                    && module.content.is_none()
                {
                    assert_eq!(module.ident, "tests", "{path}: the file of another module would be vendored");
                }
            }
            let Some(vendored) = runtime.files.iter().find(|file| file.path == path) else { continue };
            file.items.retain(|item| match item {
                Item::Mod(item) => !is_test(&item.attrs),
                Item::Fn(item) => !is_test(&item.attrs),
                Item::Use(item) => !is_test(&item.attrs),
                Item::Const(item) => !is_test(&item.attrs),
                Item::Impl(item) => !is_test(&item.attrs),
                Item::Struct(item) => !is_test(&item.attrs),
                _ => true,
            });
            assert!(syn::parse_file(&vendored.text).unwrap() == file, "{path}");
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
        // Of a workspace, nothing could be inherited in a project.
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
