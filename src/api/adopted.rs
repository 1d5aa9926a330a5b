//! Scaffolded code in an adopted crate. The crate has its own `main`, and `opctl init` did not create the modules and
//! lists that the code is added to.

use crate::error::{UserError, UserErrors};
use crate::scaffold::{self, Project, Runtime, api_of_resource};
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Plan};
use opctl_model::project::{Manifest, Resource, Tree};

/// The modules at the root of a project that have scaffolded code.
const MODULES: [&str; 4] = ["api", "controller", "external", "webhook"];

/// Optional parts of `config` in an adopted crate. Changes to a missing part are dropped.
const OPTIONAL: [&str; 2] = ["config/certmanager/", "config/network-policy/"];

/// Completes a plan that adds code to an adopted crate: declares the modules, and creates the files that list them.
/// Plans for other projects do not change.
pub fn complete(plan: &mut Plan, project: &Project, tree: &Tree) {
    adapt(plan, project, tree);
    for module in MODULES {
        if project.adopted.is_some() && plan.changes.contains_key(&list(module)) {
            plan.edit(root(tree), Edit::RustMod { name: module.to_owned() });
        }
    }
}

/// Removes the declarations of modules whose lists of scaffolded code the plan removes.
pub fn undeclare(plan: &mut Plan, project: &Project, tree: &Tree) {
    for module in MODULES {
        if project.adopted.is_some() && matches!(plan.changes.get(&list(module)), Some(Change::Remove(_))) {
            let declaration = Edit::RustMod { name: module.to_owned() };
            plan.edit(root(tree), Edit::Undo { edit: Box::new(declaration), base: None });
        }
    }
}

/// Removes changes to missing parts of an adopted crate from a plan, and sets the initial texts of edited files that
/// may be missing.
pub fn adapt(plan: &mut Plan, project: &Project, tree: &Tree) {
    if project.adopted.is_none() {
        return;
    }
    plan.changes.retain(|path, _| tree.has(path) || !OPTIONAL.iter().any(|folder| path.starts_with(folder)));
    // The crate lists its CRDs itself.
    if let Some(Change::Edit { edits, .. }) = plan.changes.get_mut("src/api/mod.rs") {
        edits.retain(|edit| !matches!(edit, Edit::RustListItem { .. }));
    }
    if let Some(Change::Edit { edits, .. }) = plan.changes.remove("src/lib.rs") {
        edits.into_iter().for_each(|edit| plan.edit(root(tree), edit));
    }
    for file in scaffold::init(project) {
        if let Some(Change::Edit { base, .. }) = plan.changes.get_mut(&file.path) {
            base.get_or_insert(file.text);
        }
    }
}

/// Refuses a plan that cannot add code to an adopted crate.
///
/// # Errors
///
/// If a file of the crate has the path of a new file, or the plan adds controllers and the crate does not depend on the
/// runtime.
pub fn refuse(plan: &Plan, project: &Project, tree: &Tree) -> anyhow::Result<()> {
    if project.adopted.is_none() {
        return Ok(());
    }
    let mut refusals = UserErrors::default();
    for module in MODULES {
        let file = format!("src/{module}.rs");
        if plan.changes.contains_key(&list(module)) && tree.has(&file) {
            let refusal =
                UserError::new(format!("`{file}` conflicts with it: opctl scaffolds code in `src/{module}/`"));
            refusals.push(refusal.help(format!("move it to `{}`, which is the same module", list(module))));
        }
    }
    let manifest = Manifest::read(tree, "")?;
    let has_runtime = manifest.is_some_and(|manifest| manifest.requirement(Runtime::PACKAGE).is_some());
    if plan.changes.contains_key(&list("controller")) && !has_runtime {
        let package = Runtime::PACKAGE;
        refusals.push(
            UserError::new(format!("scaffolded controllers and webhooks use `{package}`, which is not a dependency"))
                .help(format!("add it with `opctl init --runtime vendored`: it needs kube {}", Runtime::kube()))
                .help("or create only the type with `--controller=false`, and write the controller with kube"),
        );
    }
    Ok(refusals.settle()?)
}

/// Refuses to scaffold code that names a type without a path.
///
/// # Errors
///
/// If a macro makes the type.
pub fn refuse_type_of_macro(resource: &Resource) -> Result<(), UserError> {
    let Resource { kind, version, .. } = resource;
    if !resource.is_of_macro() {
        return Ok(());
    }
    Err(UserError::new(format!("a macro makes the type of `{kind}` {version}, so opctl does not know its path"))
        .help("add the path to its entry in PROJECT, such as `path: crate::crd::v1::Memcached`"))
}

/// The root file of the crate, which declares the modules of scaffolded code.
fn root(tree: &Tree) -> &'static str {
    if tree.has("src/lib.rs") { "src/lib.rs" } else { "src/main.rs" }
}

/// The file of a module, which lists its submodules.
fn list(module: &str) -> String {
    format!("src/{module}/mod.rs")
}

/// The edits, adapted with [`adapt`].
pub fn edits(edits: impl Iterator<Item = (String, Edit)>, project: &Project, tree: &Tree) -> Vec<(String, Edit)> {
    let mut plan = Plan::default();
    edits.for_each(|(path, edit)| plan.edit(path, edit));
    adapt(&mut plan, project, tree);
    let of_file = |(path, change)| match change {
        Change::Edit { edits, .. } => edits.into_iter().map(|edit| (String::clone(&path), edit)).collect(),
        _ => Vec::new(),
    };
    plan.changes.into_iter().flat_map(of_file).collect()
}

/// The file of the type of a resource, and the modules from the root of the crate to the type.
pub fn types_file(resource: &Resource, tree: &Tree) -> (String, Vec<String>) {
    if !resource.is_adopted() {
        let modules = ["api", &resource.group.module(), resource.version.as_str(), &resource.kind.module()];
        return (api_of_resource(resource).types_file(), modules.map(str::to_owned).into());
    }
    let path: Vec<&str> = resource.path.split("::").collect();
    // A type of a macro has no path.
    let modules = path.get(1..path.len() - 1).unwrap_or_default();
    // An inline module is in the file of its parent module.
    let files = (1..=modules.len()).rev().flat_map(|depth| {
        let folder = modules[..depth].join("/");
        [format!("src/{folder}.rs"), format!("src/{folder}/mod.rs")]
    });
    let file = files.into_iter().find(|file| tree.has(file)).unwrap_or_else(|| root(tree).to_owned());
    (file, modules.iter().map(|module| (*module).to_owned()).collect())
}
