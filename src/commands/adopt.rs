//! `opctl adopt`: turns a crate with kinds that opctl did not scaffold into a project.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::init::{absolute, relative};
use super::manifests::{self, ManifestOptions};
use super::{Console, Next, Outcome, Task, carry_out, counted, lock, recover};
use crate::adopt;
use crate::api::plan::enter;
use crate::error::{UserError, UserErrors};
use crate::scaffold;
use opctl_edit::plan::Plan;
use opctl_model::Declared;
use opctl_model::names::{Domain, ProjectName};
use opctl_model::project::{
    CrdPath, Manifest, PROJECT, ProjectFile, ReadError, Resource, Tree, has_project, repository_above,
};
use opctl_process::quoted;
use opctl_source::diagnostics::OP051;
use opctl_source::{self as source, Source};

/// Make an existing kube-rs operator a project: write PROJECT, and the manifests that it lacks
///
/// The source is not changed, and files that exist are kept. Afterwards, all commands work in the crate. In a project, adds kinds of the
/// source that PROJECT does not list.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # The operator in the current folder
  opctl adopt

  # See what would be written
  opctl adopt --dry-run

  # Only PROJECT, for an operator whose manifests are elsewhere
  opctl adopt --config=false

  # With a Makefile, and a workflow that checks the manifests in CI
  opctl adopt --with makefile,workflow")]
pub struct AdoptArgs {
    /// The folder of the crate
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub dir: PathBuf,

    /// The domain for API groups that are added later [default: the common end of the groups of all kinds]
    #[arg(long)]
    pub domain: Option<String>,

    /// The project's name, a prefix of its Kubernetes resources [default: the package's name]
    #[arg(long, value_name = "NAME")]
    pub project_name: Option<String>,

    /// Add config/ with a Deployment, a role and kustomizations, if it has no manifests yet
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = true, hide_default_value = true, action = clap::ArgAction::Set)]
    pub config: bool,

    /// Also add these, if there are none (repeatable, or comma-separated)
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    pub with: Vec<Extra>,
}

impl AdoptArgs {
    pub fn new(dir: PathBuf, domain: Option<String>, project_name: Option<String>) -> Self {
        Self { dir, domain, project_name, config: true, with: Vec::new() }
    }
}

/// A file that not every operator needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Extra {
    /// A Makefile with the commands of opctl
    Makefile,
    /// A Dockerfile for the operator
    Dockerfile,
    /// A GitHub workflow that checks the manifests and permissions
    Workflow,
}

impl Extra {
    fn path(self) -> &'static str {
        match self {
            Self::Makefile => "Makefile",
            Self::Dockerfile => "Dockerfile",
            Self::Workflow => ".github/workflows/manifests.yml",
        }
    }
}

pub fn run(args: &AdoptArgs, console: &Console) -> anyhow::Result<Outcome> {
    let dir = absolute(&args.dir)?;
    recover(&dir, console)?;
    let _lock = lock(&dir, console)?;
    let tree = super::tree(&dir);
    if has_project(&dir) {
        return add_kinds(&tree, console);
    }
    let Some(manifest) = Manifest::read(&tree, "")? else {
        return Err(UserError::new(format!("no crate in `{}`: it has no Cargo.toml", args.dir.display()))
            .help("give the folder of the operator's crate, or create a new operator with `opctl init`")
            .into());
    };
    let source = source::read(&tree, "");
    let kinds = &source.operator.declared;
    refuse_other_folders(&manifest, &source)?;
    let (name, domain) = names(args, &manifest, kinds)?;
    let resources = resources(kinds, &domain, console);

    let root = repository_above(&dir);
    let places = adopt::crd_places(kinds, &Tree::at(&root), &relative(&root, &dir)?)?;
    let has_config = has_config(&tree)?;
    let crds = crds(args, &places, has_config);
    let mut plan = Plan::default();
    plan.scaffold(PROJECT, ProjectFile::text_of_adopted(&name, &domain, &crds));
    for resource in &resources {
        enter(&mut plan, resource.fields());
    }
    let file = ProjectFile { adopted: true, resources, crds, ..ProjectFile::new(name, domain) };
    add_files(&mut plan, args, &file, &tree, console)?;
    if args.config && !has_config {
        // Existing files are kept even if they are out of date: `opctl manifests` updates them.
        let generated: Vec<CrdPath> = file.crds.iter().filter(|path| path.is_bases()).cloned().collect();
        let options = ManifestOptions { crds: Some(&generated), ..ManifestOptions::of(Some(&file)) };
        manifests::add_if_sound(&mut plan, &tree, &options, console)?;
    }
    describe(kinds, console);
    for place in &places {
        console.info(&format!("found CRDs in `{place}`: `opctl manifests` keeps them up to date"));
    }
    let next = next(args, has_config);
    let task = Task { again: "run `opctl adopt`", tree: &tree, folder: "", plan, next };
    carry_out(&task, console)
}

/// The entries of PROJECT. Kinds without an entry are reported; their manifests are generated nevertheless.
fn resources(kinds: &[Declared], domain: &Domain, console: &Console) -> Vec<Resource> {
    let (resources, refusals) = adopt::resources(kinds, domain);
    for UserError { message, help } in refusals.0 {
        console.warn(&format!("a kind gets no entry in PROJECT: {message}"));
        help.iter().for_each(|help| console.hint(help));
    }
    resources
}

/// The files and folders of CRDs for PROJECT: existing ones, and the folder in `config` if it is new.
fn crds(args: &AdoptArgs, places: &[CrdPath], has_config: bool) -> Vec<CrdPath> {
    let generates = args.config && !has_config;
    let bases = CrdPath::default_list().into_iter().filter(|_| generates || places.is_empty());
    bases.chain(places.iter().filter(|path| !path.is_bases() || !generates).cloned()).collect()
}

/// Adds entries to PROJECT for kinds that were added to the source.
fn add_kinds(tree: &Tree, console: &Console) -> anyhow::Result<Outcome> {
    let file = ProjectFile::read(tree)?;
    let declared = source::read(tree, "").operator.declared;
    let mut plan = Plan::default();
    let name = |it: &Resource| (it.full_group(), it.version.clone(), it.kind.clone());
    let known: Vec<_> = file.resources.iter().map(name).collect();
    let new = resources(&declared, &file.domain, console).into_iter().filter(|kind| !known.contains(&name(kind)));
    new.for_each(|resource| enter(&mut plan, resource.fields()));
    manifests::add_if_sound(&mut plan, tree, &ManifestOptions::of(Some(&file)), console)?;
    carry_out(&Task { again: "run `opctl adopt`", tree, folder: "", plan, next: Vec::new() }, console)
}

/// Refuses a crate without kinds, and a workspace: PROJECT is beside the Cargo.toml of the package with the operator.
fn refuse_other_folders(manifest: &Manifest, source: &Source) -> Result<(), UserError> {
    let kinds = &source.operator.declared;
    if kinds.is_empty() {
        if let Some(warning) = source.diagnostics.iter().find(|diagnostic| diagnostic.code == OP051) {
            return Err(UserError::new(warning.message.clone())
                .help("enable it by default, in `[features]` of Cargo.toml, then run the command again"));
        }
        let refusal = UserError::new("no kind found: nothing in the crate has `#[kube(…)]` with a kind");
        return Err(match source.operator.underivable.is_empty() {
            true => refusal
                .help("`opctl init` creates a new operator in this folder")
                .help("if the kinds are in another crate, run `opctl adopt` in its folder"),
            false => refusal.help(
                "a macro makes its kinds: `opctl manifests --path . --engine cargo` asks the compiler for their CRDs",
            ),
        });
    }
    if manifest.package_name().is_some() {
        return Ok(());
    }
    let mut folders: Vec<&str> = kinds.iter().map(|kind| kind.folder.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    let refusal = folders
        .into_iter()
        .map(|folder| format!("it has kinds in `{folder}`: `opctl adopt {folder}`"))
        .fold(UserError::new("this Cargo.toml is that of a workspace, and not of an operator"), UserError::help);
    Err(refusal.help("if a binary depends on these crates, run `opctl adopt` in its folder"))
}

fn names(args: &AdoptArgs, manifest: &Manifest, kinds: &[Declared]) -> Result<(ProjectName, Domain), UserErrors> {
    let mut refusals = UserErrors::default();
    let name = match &args.project_name {
        Some(text) => refusals.check(ProjectName::parse(text)),
        None => refusals.check(adopt::name(manifest)),
    };
    let domain = match &args.domain {
        Some(text) => refusals.check(Domain::parse(text)),
        None => refusals.check(adopt::domain(kinds).ok_or_else(|| {
            UserError::new("all kinds of the crate belong to other projects, so it has no domain")
                .help("set the domain for API groups that are added later, e.g. `--domain example.com`")
                .help("a marker above a type says that its CRD belongs to the crate: `// +opctl:owned`")
        })),
    };
    match (name, domain) {
        (Some(name), Some(domain)) => Ok((name, domain)),
        _ => Err(refusals),
    }
}

/// Adds the requested files that do not exist.
fn add_files(
    plan: &mut Plan,
    args: &AdoptArgs,
    file: &ProjectFile,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<()> {
    let project = scaffold::Project::of(file, tree)?;
    let has_config = has_config(tree)?;
    if args.config && has_config {
        console.info("kept your `config`; commands such as `opctl deploy` render `config/default`, if there is one");
    }
    for scaffold::File { path, text } in scaffold::init(&project) {
        let is_wanted = match path.starts_with("config/") {
            true => args.config && !has_config,
            false => args.with.iter().any(|extra| extra.path() == path),
        };
        if is_wanted && tree.has(&path) {
            console.info(&format!("kept your `{path}`"));
        } else if is_wanted {
            plan.scaffold(path, text);
        }
    }
    Ok(())
}

/// `true` if the crate has a folder `config` with manifests.
fn has_config(tree: &Tree) -> Result<bool, ReadError> {
    Ok(tree.files_below("config")?.iter().any(|path| path.ends_with(".yaml") || path.ends_with(".yml")))
}

/// Prints the own and the external kinds of the crate.
fn describe(kinds: &[Declared], console: &Console) {
    let (external, own): (Vec<_>, Vec<_>) = kinds.iter().partition(|kind| kind.is_external);
    for (what, kinds) in [("own", own), ("external", external)] {
        if kinds.is_empty() {
            continue;
        }
        console.info(&format!("found {}:", counted(kinds.len(), &format!("{what} kind"))));
        for kind in kinds {
            console.info(&format!("  {} {}/{} at {}", kind.kind, kind.group, kind.version, kind.span));
        }
    }
}

fn next(args: &AdoptArgs, has_config: bool) -> Vec<Next> {
    let mut next = Vec::new();
    if args.dir != Path::new(".") {
        next.push(Next::new(format!("cd {}", quoted(&args.dir.to_string_lossy())), ""));
    }
    let generates = args.config && !has_config;
    if generates {
        next.push(Next::new(
            "edit config/manager/manager.yaml",
            "add the arguments, ports and probes of your operator",
        ));
    }
    next.push(Next::new("opctl manifests", "brings all CRDs up to date"));
    next.push(Next::new("opctl check", "checks the permissions and the manifests"));
    if generates {
        next.push(Next::new("opctl dev", "runs the operator with its own API server"));
    }
    next
}
