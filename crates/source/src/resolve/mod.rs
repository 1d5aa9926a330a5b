//! Packages, modules and names: resolves paths in the source.
//!
//! The layer follows `use`, `cfg` and calls of `macro_rules!`, and reads other crates that cargo has downloaded. It
//! knows the names of types and functions, but no schema and no value.
//!
//! A file that does not mention `CustomResource` is only parsed if a path leads into it; in the others, `skim` omits
//! tests and the bodies that no manifest needs. Both follow from the tokens of the file, which also contain the
//! markers. Other crates are read module by module, so a project that names none has no cost. `lock` finds the
//! package, `opctl_model::project` its folder in cargo's cache, `features` the features that cargo's resolver
//! enables, considering only the packages that can affect it; `foreign` caches the result.
//!
//! A `cfg` that only a build script sets is undecided, and so are the items behind it. The exception is the build
//! script of k8s-openapi, which `kubernetes_version` follows. Macros are not expanded, except the project's own
//! `macro_rules!` for `requests`. `macro_output` finds the names that the calls of such macros may declare, and the
//! traits that they may implement; any other macro may declare any name, except for a list of common ones. In every
//! file of the package, a custom resource gets a CRD, or is reported (OP021, OP029).

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

/// The package in a folder, and the members of the workspace with this root. A runtime among other packages is not an
/// operator, and neither, in a project, is a nested project.
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
