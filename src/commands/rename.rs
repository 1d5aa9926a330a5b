//! `opctl rename`: renames a kind, a group, the domain or the project.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{Console, Next, Outcome, Task, carry_out, edit, lock, manifests, project_folder, tree, workspace_above};
use crate::commands::complete;
use crate::error::UserErrors;
use crate::rename::{Renaming, Target};
use opctl_model::names::{Domain, Group, Kind, Plural, ProjectName};

/// Rename a kind, a group, the domain or the project
///
/// Renames in the whole tree: types, modules and their files, `#[kube(…)]`, markers, samples, webhooks, roles, PROJECT
/// and Cargo.toml. Names in Rust are resolved, YAML is changed by its keys, and scaffolded files are rendered again.
/// Strings, comments and prose that still contain the old name are listed. Objects in a cluster are not renamed: the
/// output explains what happens to them.
#[derive(Debug, Subcommand)]
pub enum Rename {
    Kind(RenameKindArgs),
    Group(RenameGroupArgs),
    Domain(RenameDomainArgs),
    Project(RenameProjectArgs),
}

/// Rename a kind in all of its versions
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # List what would change, then show how
  opctl rename kind --group cache --kind Memcached --to Store --dry-run
  opctl rename kind --group cache --kind Memcached --to Store --diff

  # With an irregular plural
  opctl rename kind --group crew --kind Captain --to Person --plural people")]
pub struct RenameKindArgs {
    /// The group without the project's domain
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: String,

    /// The kind
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: String,

    /// Its new name
    #[arg(long, value_name = "KIND")]
    pub to: String,

    /// Its new plural, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
}

/// Rename a group with all of its kinds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl rename group --group cache --to store

  # Show the changes, and write nothing
  opctl rename group --group cache --to store --diff")]
pub struct RenameGroupArgs {
    /// The group without the project's domain
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: String,

    /// Its new name
    #[arg(long, value_name = "GROUP")]
    pub to: String,
}

/// Rename the domain, and with it the groups of all kinds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl rename domain --to example.org

  # Show the changes, and write nothing
  opctl rename domain --to example.org --diff")]
pub struct RenameDomainArgs {
    /// The new domain
    #[arg(long, value_name = "DOMAIN")]
    pub to: String,
}

/// Rename the project: its crate, its image, its namespace and the names of its objects
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl rename project --to store-operator

  # Show the changes, and write nothing
  opctl rename project --to store-operator --diff")]
pub struct RenameProjectArgs {
    /// The new name
    #[arg(long, value_name = "NAME")]
    pub to: String,
}

pub fn run(args: &Rename, console: &Console) -> anyhow::Result<Outcome> {
    let target = target(args)?;
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let renaming = Renaming::new(target, &tree)?;
    let (mut plan, mentions) = renaming.plan(&tree)?;
    if tree.has(edit::DASHBOARD) {
        edit::dashboards(&mut plan, &tree, renaming.new_file.name.as_str(), true, console)?;
    }
    manifests::refuse_taken_names(&plan, &tree, "", console)?;
    manifests::add_if_sound(&mut plan, &tree, &manifests::ManifestOptions::of(Some(&renaming.new_file)), console)?;
    if !mentions.is_empty() {
        let lines: String = mentions.iter().map(|line| format!("\n  {line}")).collect();
        console.note(&format!("the old name is still in these strings, comments and documents; check them:{lines}"));
    }
    let links: Vec<String> = tree.own_links()?.into_iter().filter(|path| path.ends_with(".rs")).collect();
    if !links.is_empty() {
        console.note(&format!("links are not followed; what they lead to has its old names: {}", links.join(", ")));
    }
    if workspace_above(tree.root())?.is_some() {
        console.note("other packages of the workspace are not changed; if they use this one, the compiler reports its old names there");
    }
    renaming.consequences().iter().for_each(|text| console.note(text));
    let generated = [
        ("dist/chart", "opctl generate chart"),
        ("bundle", "opctl generate bundle"),
        ("docs/api", "opctl generate docs"),
    ];
    let generated = generated.into_iter().filter(|(folder, _)| tree.has_folder(folder));
    let mut next = vec![
        Next::new("cargo test", "compiles the project with the new name"),
        Next::new("opctl check", "compares permissions and manifests"),
    ];
    next.extend(generated.map(|(_, command)| Next::new(command, "generates it with the new name")));
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}

fn target(args: &Rename) -> Result<Target, UserErrors> {
    let mut refusals = UserErrors::default();
    let target = match args {
        Rename::Kind(args) => {
            let group = refusals.check(Group::parse(&args.group));
            let [kind, to] = [&args.kind, &args.to].map(|text| refusals.check(Kind::parse(text)));
            let plural = args.plural.as_deref().and_then(|text| refusals.check(Plural::parse(text)));
            (|| Some(Target::Kind { group: group?, kind: kind?, to: to?, plural }))()
        }
        Rename::Group(args) => {
            let [group, to] = [&args.group, &args.to].map(|text| refusals.check(Group::parse(text)));
            (|| Some(Target::Group { group: group?, to: to? }))()
        }
        Rename::Domain(args) => refusals.check(Domain::parse(&args.to)).map(Target::Domain),
        Rename::Project(args) => refusals.check(ProjectName::parse(&args.to)).map(Target::Project),
    };
    refusals.settle()?;
    target.ok_or_else(UserErrors::default)
}
