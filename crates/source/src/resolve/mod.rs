//! Packages, modules and names: what a path in the source stands for.
//!
//! It follows `use`, `cfg` and calls of `macro_rules!`, and reads other crates where cargo has downloaded them. It knows the names
//! of types and functions, but no schema and no value.

pub mod cfg;
pub mod dependencies;
pub mod derives;
pub mod features;
pub mod foreign;
pub mod impls;
pub mod kubernetes_version;
pub mod lock;
pub mod macro_output;
pub mod macro_rules;
pub mod modules;
pub mod names;
pub mod package;
pub mod panics;
pub mod releases;
pub mod resources;
pub mod roots;
pub mod runtime;
pub mod shadows;
pub mod skim;

use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{PROJECT, Tree, join};

use package::Package;

/// The package in a folder, and the members of the workspace whose root is there. Beside them, a runtime is no operator, and in a
/// project, neither is a project of its own.
pub fn operators(tree: &Tree, folder: &str) -> Result<Vec<Package>, Diagnostic> {
    let mut packages = Package::read(tree, folder)?;
    if packages.len() > 1 {
        let is_project = |folder: &str| tree.has(&join(folder, PROJECT));
        let is_own = |package: &Package| {
            package.folder == folder
                || package.name != runtime::PACKAGE && !(is_project(folder) && is_project(&package.folder))
        };
        packages.retain(is_own);
    }
    Ok(packages)
}
