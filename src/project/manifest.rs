//! Reads Cargo.toml to find the operator's binary target and the sources of dependencies.

use toml_edit::{DocumentMut, TableLike};

use super::{ReadError, Tree, join};

/// A Cargo.toml.
#[derive(Debug)]
pub struct Manifest(DocumentMut);

/// What `[dependencies]` says of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// As written, e.g. `"5"`.
    pub version: Option<String>,
    /// From the folder of the Cargo.toml.
    pub path: Option<String>,
}

impl Manifest {
    /// `None` where there is none, or none that cargo could read.
    pub fn read(tree: &Tree, folder: &str) -> Result<Option<Self>, ReadError> {
        let text = tree.read(&join(folder, "Cargo.toml"))?;
        Ok(text.and_then(|text| text.parse().ok()).map(Self))
    }

    /// The name and the version of the package.
    pub fn package(&self) -> Option<(&str, &str)> {
        let package = self.0.get("package")?;
        Some((package.get("name")?.as_str()?, package.get("version")?.as_str()?))
    }

    /// The binary that `cargo run` runs.
    pub fn default_run(&self) -> Option<&str> {
        self.0.get("package")?.get("default-run")?.as_str()
    }

    pub fn is_workspace(&self) -> bool {
        self.0.contains_key("workspace")
    }

    pub fn requirement(&self, package: &str) -> Option<Requirement> {
        let item = self.0.get("dependencies")?.get(package)?;
        let table = item.as_table_like();
        let text = |key: &str| table.and_then(|table: &dyn TableLike| table.get(key)?.as_str()).map(String::from);
        Some(Requirement { version: item.as_str().map(String::from).or_else(|| text("version")), path: text("path") })
    }
}
