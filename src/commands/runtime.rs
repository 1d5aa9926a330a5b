//! `opctl init --runtime`: the source of `opctl-runtime` for a new project, and its change for an existing one.

use std::path::{Component, Path, PathBuf};

use super::{Console, Outcome, Task, carry_out, lock, workspace_above};
use crate::error::{USE_A_NEWER_OPCTL, UserError};
use crate::scaffold::{Features, Runtime, RuntimeCopy, RuntimeSource};
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Plan, SUMS, Sums};
use opctl_model::project::{Manifest, ReadError, Tree, Workspaces, join};

/// The value of `--runtime`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A copy in the project, or at the root of its workspace.
    Vendored,
    Registry,
    /// The folder of the crate, relative to the project's folder.
    Folder(String),
}

impl Choice {
    pub fn parse(text: &str) -> Self {
        match text {
            "vendored" => Self::Vendored,
            "registry" => Self::Registry,
            folder => Self::Folder(folder.into()),
        }
    }
}

/// A project in a tree.
#[derive(Clone, Copy)]
pub struct ProjectFolder<'a> {
    pub tree: &'a Tree,
    /// Relative to the tree's root, which is the root of the workspace, if there is one.
    pub folder: &'a str,
}

impl ProjectFolder<'_> {
    /// The dependency for Cargo.toml. Adds its files to the plan.
    pub fn source(&self, choice: &Choice, plan: &mut Plan, console: &Console) -> anyhow::Result<RuntimeSource> {
        let version = Runtime::embedded().version.clone();
        match choice {
            Choice::Registry => Ok(RuntimeSource { version, path: None, is_vendored: false }),
            Choice::Folder(path) => {
                let folder = without_dots(&self.tree.root().join(self.folder).join(path));
                let copy = RuntimeCopy::read(&Tree::at(folder), "")?.ok_or_else(|| {
                    UserError::new(format!("no `{}` in `{path}`, seen from the project's folder", Runtime::PACKAGE))
                        .help("pass the folder of the crate, `--runtime vendored` for a copy, or `--runtime registry`")
                })?;
                Ok(RuntimeSource { version: copy.version, path: Some(path.clone()), is_vendored: false })
            }
            Choice::Vendored => {
                let up = self.folder.split('/').filter(|part| !part.is_empty()).map(|_| "..");
                let path: Vec<&str> = up.chain([Runtime::FOLDER]).collect();
                let version = self.vendor(plan, console)?.unwrap_or(version);
                Ok(RuntimeSource { version, path: Some(path.join("/")), is_vendored: true })
            }
        }
    }

    /// Adds the copy at the tree's root to the plan. Skips a copy that is newer or belongs to the user, and returns its
    /// version.
    fn vendor(&self, plan: &mut Plan, console: &Console) -> anyhow::Result<Option<String>> {
        if self.folder == Runtime::FOLDER {
            let refusal = format!("the folder `{}` of a workspace is for the vendored runtime", self.folder);
            let help = "choose another folder for the project, or `--runtime registry`";
            return Err(UserError::new(refusal).help(help).into());
        }
        let copy = RuntimeCopy::read(self.tree, Runtime::FOLDER)?;
        if let Some(copy) = copy.as_ref().filter(|copy| copy.sums.is_none() || copy.is_newer()) {
            let why = if copy.sums.is_none() { "your own" } else { "newer than this opctl's" };
            console.info(&format!("kept `{}`: it is {why}", Runtime::FOLDER));
            return Ok(Some(copy.version.clone()));
        }
        // Its features are known when Cargo.toml is planned: see `complete`.
        RuntimeCopy::update(plan, Runtime::FOLDER, copy.and_then(|copy| copy.sums).as_deref(), &Features::new());
        // Otherwise, cargo would treat a folder below the root as a member, which is linted and tested with the others.
        if !self.folder.is_empty() {
            plan.edit("Cargo.toml", Edit::CargoExclude { path: Runtime::FOLDER.into() });
        }
        Ok(None)
    }
}

/// Updates the runtime of an existing project, or changes its source.
pub fn change(choice: &Choice, dir: &Path, console: &Console) -> anyhow::Result<Outcome> {
    let workspace = workspace_above(dir)?;
    let root = workspace.as_deref().unwrap_or(dir);
    let _lock = lock(root, console)?;
    let tree = super::tree(root);
    let folder = super::init::relative(root, dir)?;
    let project = ProjectFolder { tree: &tree, folder: &folder };
    if let (Choice::Vendored, Some(copy)) = (choice, RuntimeCopy::read(&tree, Runtime::FOLDER)?) {
        refuse_to_replace(&copy)?;
    }
    let mut plan = Plan::default();
    let RuntimeSource { version, path, .. } = project.source(choice, &mut plan, console)?;
    let features = vec!["manager".to_owned()];
    let edit = Edit::CargoSource { package: Runtime::PACKAGE.into(), version, path, features };
    plan.edit(join(&folder, "Cargo.toml"), edit);
    let is_workspace =
        || Ok::<_, ReadError>(Manifest::read(&tree, "")?.is_some_and(|manifest| manifest.is_workspace()));
    if *choice == Choice::Vendored && folder.is_empty() && is_workspace()? {
        plan.edit("Cargo.toml", Edit::CargoExclude { path: Runtime::FOLDER.into() });
    }
    if *choice != Choice::Vendored && RuntimeCopy::read(&tree, Runtime::FOLDER)?.is_some_and(|copy| copy.sums.is_some())
    {
        console.info(&format!("kept `{}`: delete it if no other project uses it", Runtime::FOLDER));
    }
    complete(&mut plan, &tree, &folder, console)?;
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &tree, folder: &folder, plan, next: Vec::new() }, console)
}

/// Adds the modules of the vendored runtime to a plan that the features in Cargo.toml need after it, and removes those
/// that no package uses any more. `folder` is that of the project.
pub fn complete(plan: &mut Plan, tree: &Tree, folder: &str, console: &Console) -> anyhow::Result<()> {
    let Some(planned) = with_manifests(plan, tree, folder, console)? else { return Ok(()) };
    let requirement = Manifest::read(&planned, folder)?.and_then(|manifest| manifest.requirement(Runtime::PACKAGE));
    let Some(path) = requirement.and_then(|requirement| requirement.path) else { return Ok(()) };
    let runtime = Workspaces::of(tree).place(&join(folder, &path));
    let copy = RuntimeCopy::read(tree, &runtime)?;
    if plan.changes.contains_key(&join(&runtime, SUMS)) {
        plan.changes.retain(|_, change| !matches!(change, Change::Vendor { folder, .. } if *folder == runtime));
        let used = Runtime::embedded().needed_features(&planned, folder)?;
        RuntimeCopy::update(plan, &runtime, copy.and_then(|copy| copy.sums).as_deref(), &used);
        return Ok(());
    }
    let used = Runtime::embedded().used_features(&planned, folder)?;
    let (Some(copy), Some(used)) = (copy.filter(|copy| copy.sums.is_some()), used) else { return Ok(()) };
    match copy.features() {
        Some(features) => {
            let files = |features: &Features| Runtime::embedded().files_for(features).len();
            let both: Features = features.union(&used).cloned().collect();
            if files(&both) == files(&features) && files(&both) == files(&used) {
                return Ok(());
            }
            RuntimeCopy::update(plan, &runtime, copy.sums.as_deref(), &used);
            Ok(())
        }
        None => match copy.lacks(&used) {
            None => Ok(()),
            Some(path) => Err(UserError::new(format!(
                "`{runtime}` is that of another opctl, and lacks `{path}`, which the features in Cargo.toml need"
            ))
            .help("first run `opctl update`, and commit what it changes")
            .into()),
        },
    }
}

/// The files, with every Cargo.toml as it is after the plan. `None` if the plan changes none, or has a conflict there.
pub fn with_manifests(plan: &Plan, tree: &Tree, folder: &str, console: &Console) -> anyhow::Result<Option<Tree>> {
    let is_manifest = |path: &str| path == "Cargo.toml" || path.ends_with("/Cargo.toml");
    let changes = plan.changes.iter().filter(|(path, _)| is_manifest(path));
    let plan =
        Plan { changes: changes.map(|(path, change)| (path.clone(), change.clone())).collect(), ..Plan::default() };
    match plan.changes.is_empty() {
        true => Ok(None),
        false => super::manifests::planned_tree(&plan, tree, folder, console),
    }
}

/// Resolves `..` in a path lexically, because the project's folder may not exist yet.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn refuse_to_replace(copy: &RuntimeCopy) -> Result<(), UserError> {
    let (folder, own) = (Runtime::FOLDER, &Runtime::embedded().version);
    if copy.sums.as_deref().and_then(Sums::parse).is_none() {
        return Err(UserError::new(format!("`{folder}` is your own: it has no `{SUMS}` of opctl"))
            .help(format!("delete or move `{folder}` to get the runtime of this opctl")));
    }
    if copy.is_newer() {
        return Err(UserError::new(format!("`{folder}` is {}, newer than this opctl's {own}", copy.version))
            .help(USE_A_NEWER_OPCTL));
    }
    Ok(())
}
