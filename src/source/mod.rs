//! Rust text → [`Operator`]: module tree and `use` resolution, serde, schemars and kube attributes, types → schema,
//! comment markers. Nothing is compiled or run; what cannot be derived exactly is a diagnostic.

mod attributes;
mod by_hand;
mod cfg;
mod constants;
mod containers;
mod custom_resource;
mod defaults;
mod features;
mod foreign;
mod json;
pub mod known;
mod kube_schema;
mod kubernetes_version;
mod lexer;
mod locate;
mod lock;
pub mod markers;
mod modules;
mod package;
mod resolve;
mod serialized;
mod skim;
mod types;

use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::model::{Api, Operator};
use crate::project::{Tree, join};

use modules::Modules;
use package::Package;
use types::Deriver;

/// What was read.
#[derive(Default)]
pub struct Source {
    /// Whole only if no diagnostic is an error.
    pub operator: Operator,
    pub diagnostics: Vec<Diagnostic>,
    modules: Modules,
}

/// Reads the package in `folder` (where its Cargo.toml is; `""` is the root).
pub fn read(tree: &Tree, folder: &str) -> Source {
    let packages = match Package::read(tree, folder) {
        Ok(packages) => packages,
        Err(diagnostic) => return Source { diagnostics: vec![diagnostic], ..Source::default() },
    };
    let modules = Modules::read(tree, &packages);
    let mut diagnostics = modules.take_diagnostics();

    let mut operator = Operator::default();
    let mut deriver = Deriver::new(&modules);
    for module in modules.local() {
        operator.apis.extend(deriver.custom_resources(module));
    }
    diagnostics.append(&mut modules.take_diagnostics());
    diagnostics.append(&mut deriver.diagnostics);
    for file in modules.files() {
        let (rules, mut problems) = markers::read(&file);
        operator.rbac.extend(rules);
        diagnostics.append(&mut problems);
    }
    if !operator.apis.is_empty() {
        diagnostics.extend(other_versions(&packages));
    }
    operator.apis.sort_by(|a, b| (&a.group, &a.kind, &a.version).cmp(&(&b.group, &b.kind, &b.version)));
    // A file that belongs to the library and to a binary declares its kinds once.
    operator.apis.dedup_by(|a, b| a.place == b.place);
    diagnostics.extend(operator.apis.windows(2).filter_map(different_versions));
    Source { operator, diagnostics, modules }
}

/// Two served versions of a kind that differ, next to each other in the list: without a conversion webhook the API server
/// reads an object of the one as the other, field by field.
fn different_versions(pair: &[Api]) -> Option<Diagnostic> {
    let [first, second] = pair else { return None };
    let same_kind = (&first.group, &first.kind) == (&second.group, &second.kind);
    let shape = |api: &Api| api.schema.as_ref().map(without_texts);
    if !same_kind || !first.served || !second.served || shape(first) == shape(second) {
        return None;
    }
    let (kind, versions) = (&first.kind, format!("{} and {}", first.version, second.version));
    let message = format!("`{kind}` {versions} have different fields, and nothing converts between them");
    Some(
        Diagnostic::warning("OP022", message)
            .at(second.place.clone(), format!("the other version is at {}", first.place))
            .help("keep their fields equal, or serve only one: `#[kube(served = false)]`"),
    )
}

fn without_texts(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map
                .iter()
                .filter(|(key, value)| !(matches!(key.as_str(), "description" | "title") && value.is_string()));
            kept.map(|(key, value)| (key.clone(), without_texts(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(without_texts).collect::<Vec<_>>().into(),
        value => value.clone(),
    }
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
