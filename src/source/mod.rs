//! Rust text → [`Operator`]: module tree and `use` resolution, serde, schemars and kube attributes, types → schema,
//! comment markers. Nothing is compiled or run; what cannot be derived exactly is a diagnostic.

mod attributes;
mod by_hand;
mod cfg;
mod constants;
mod containers;
mod custom_resource;
mod defaults;
mod json;
mod known;
mod kube_schema;
pub mod markers;
mod modules;
mod package;
mod resolve;
mod serialized;
mod skim;
mod types;

use crate::diagnostic::Diagnostic;
use crate::model::Operator;
use crate::project::{Tree, join};

use modules::Modules;
use package::Package;
use types::Deriver;

/// Reads the package in `folder` (where its Cargo.toml is; `""` is the root). The operator is whole only if no
/// diagnostic is an error.
pub fn read(tree: &Tree, folder: &str) -> (Operator, Vec<Diagnostic>) {
    let packages = match Package::read(tree, folder) {
        Ok(packages) => packages,
        Err(diagnostic) => return (Operator::default(), vec![diagnostic]),
    };
    let mut diagnostics = Vec::new();
    let mut modules = Modules::default();
    for package in &packages {
        modules.read(tree, package, &mut diagnostics);
    }

    let mut operator = Operator::default();
    let mut deriver = Deriver::new(&modules);
    for module in modules.ids() {
        operator.apis.extend(deriver.custom_resources(module));
    }
    diagnostics.append(&mut deriver.diagnostics);
    for file in &modules.files {
        let (rules, mut problems) = markers::read(file);
        operator.rbac.extend(rules);
        diagnostics.append(&mut problems);
    }
    if !operator.apis.is_empty() {
        diagnostics.extend(other_versions(&packages));
    }
    operator.apis.sort_by(|a, b| (&a.group, &a.kind, &a.version).cmp(&(&b.group, &b.kind, &b.version)));
    // A file that belongs to the library and to a binary declares its kinds once.
    operator.apis.dedup_by(|a, b| a.place == b.place);
    (operator, diagnostics)
}

/// opctl writes what kube 5 and schemars 1 make; another version may make something else.
fn other_versions(packages: &[Package]) -> Vec<Diagnostic> {
    let expected = [("kube", "5"), ("schemars", "1")];
    let differs = expected.into_iter().filter_map(|(krate, version)| {
        let (package, asked) = packages.iter().find_map(|package| {
            let dependency = package.dependencies.values().find(|dependency| dependency.krate == krate)?;
            (!dependency.accepts(version)).then(|| (package, dependency.version.clone().unwrap_or_default()))
        })?;
        let path = join(&package.folder, "Cargo.toml");
        let message = format!("`{path}` asks for {krate} {asked}, and opctl writes what {krate} {version} makes");
        let help = format!("update {krate}, or compare the CRDs with those that your compiled types print");
        Some(Diagnostic::warning("OP018", message).help(help))
    });
    differs.collect()
}
