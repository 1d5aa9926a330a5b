//! Reads Cargo.toml to find the operator's binary target and the sources of dependencies.

use std::collections::BTreeSet;

use toml_edit::{DocumentMut, Item, TableLike};

use super::{ReadError, Tree, join};

#[derive(Debug)]
pub struct Manifest(DocumentMut);

/// A dependency in `[dependencies]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// As written, e.g. `"5"`.
    pub version: Option<String>,
    /// Relative to the folder of the Cargo.toml.
    pub path: Option<String>,
}

/// The metadata in `[package]` for people. Values inherited from a workspace are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    pub version: Option<String>,
    pub description: Option<String>,
    /// As written: `Name <address>`.
    pub authors: Vec<String>,
    pub repository: Option<String>,
    pub homepage: Option<String>,
    pub keywords: Vec<String>,
    pub license: Option<String>,
}

impl Manifest {
    /// Reads the Cargo.toml in a folder; `None` if it is missing or invalid.
    pub fn read(tree: &Tree, folder: &str) -> Result<Option<Self>, ReadError> {
        Ok(tree.read(&join(folder, "Cargo.toml"))?.and_then(|text| Self::parse(&text)))
    }

    /// `None` for invalid TOML.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// `true` if it contains no more than `cargo init` writes: a package, and an empty table of dependencies.
    pub fn is_bare(&self) -> bool {
        let package = self.0.get("package").and_then(|package| package.as_table());
        let is_usual = |key: &str| ["authors", "edition", "name", "rust-version", "version"].contains(&key);
        package.is_some_and(|package| package.iter().all(|(key, _)| is_usual(key)))
            && self.0.iter().all(|(key, item)| match key {
                "package" => true,
                "dependencies" => item.as_table().is_some_and(|table| table.is_empty()),
                _ => false,
            })
    }

    /// The name of the package; `None` for a workspace without one.
    pub fn package_name(&self) -> Option<&str> {
        self.0.get("package")?.get("name")?.as_str()
    }

    /// The name and the version of the package.
    pub fn package(&self) -> Option<(&str, &str)> {
        let package = self.0.get("package")?;
        Some((package.get("name")?.as_str()?, package.get("version")?.as_str()?))
    }

    pub fn metadata(&self) -> Package {
        let package = self.0.get("package");
        let text = |key: &str| Some(package?.get(key)?.as_str()?.to_owned()).filter(|text| !text.is_empty());
        let texts = |key: &str| strings(package.and_then(|package| package.get(key)));
        Package {
            version: text("version"),
            description: text("description"),
            authors: texts("authors"),
            repository: text("repository"),
            homepage: text("homepage"),
            keywords: texts("keywords"),
            license: text("license"),
        }
    }

    /// The binary that `cargo run` runs: `default-run`, else the one in `src/main.rs`. The latter has the name of the
    /// package unless `[[bin]]` names it.
    pub fn default_run(&self) -> Option<&str> {
        let package = self.0.get("package")?;
        let text = |item: &'static str| package.get(item).and_then(|item| item.as_str());
        let binaries = self.0.get("bin").and_then(|bins| bins.as_array_of_tables()).into_iter().flatten();
        let mut main = binaries.filter(|bin| bin.get("path").and_then(|path| path.as_str()) == Some("src/main.rs"));
        let named = main.next().and_then(|bin| bin.get("name")?.as_str());
        text("default-run").or(named).or(text("name"))
    }

    pub fn is_workspace(&self) -> bool {
        self.0.contains_key("workspace")
    }

    /// The features of a dependency that the package, or the workspace, enables anywhere: for tests, for another platform,
    /// or by a feature of its own.
    pub fn features_of(&self, package: &str) -> BTreeSet<String> {
        let mut features = BTreeSet::new();
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let targets = self.0.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(|targets| targets.iter().map(|(_, target)| target));
        let tables = targets.chain(self.0.get("workspace")).chain([self.0.as_item()]);
        for table in tables.flat_map(|table| kinds.iter().filter_map(|kind| table.get(kind)?.as_table_like())) {
            let is_it = |(name, item): &(&str, &Item)| {
                let renamed = item.as_table_like().and_then(|item| item.get("package")?.as_str());
                renamed.unwrap_or(name) == package
            };
            for (_, item) in table.iter().filter(is_it) {
                features.extend(strings(item.get("features")));
            }
        }
        let own = self.0.get("features").and_then(Item::as_table_like);
        for (_, values) in own.into_iter().flat_map(TableLike::iter) {
            let of_package = |value: String| {
                Some(value.strip_prefix(package)?.trim_start_matches('?').strip_prefix('/')?.to_owned())
            };
            features.extend(strings(Some(values)).into_iter().filter_map(of_package));
        }
        features
    }

    pub fn requirement(&self, package: &str) -> Option<Requirement> {
        let item = self.0.get("dependencies")?.get(package)?;
        let table = item.as_table_like();
        let text = |key: &str| table.and_then(|table: &dyn TableLike| table.get(key)?.as_str()).map(String::from);
        Some(Requirement { version: item.as_str().map(String::from).or_else(|| text("version")), path: text("path") })
    }
}

/// The strings in a list; none in anything else.
fn strings(item: Option<&Item>) -> Vec<String> {
    let items = item.and_then(Item::as_array).into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}
