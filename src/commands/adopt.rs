//! `opctl adopt`: turns a crate with kinds that opctl did not scaffold into a project.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::engine::{self, Choice, Engine};
use super::init::{absolute, relative};
use super::manifests::{self, ManifestOptions};
use super::{Console, Next, Outcome, Task, carry_out, counted, lock, recover};
use crate::adopt;
use crate::api::plan::enter;
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold;
use opctl_edit::Edit;
use opctl_edit::plan::Plan;
use opctl_model::Declared;
use opctl_model::names::{Domain, ProjectName};
use opctl_model::project::{
    CrdPath, Manifest, PROJECT, ProjectFile, ReadError, Resource, Tree, has_project, repository_above,
};
use opctl_process::quoted;
use opctl_source::diagnostics::OP051;
use opctl_source::emit::{self, CustomResourceDefinition};
use opctl_source::{self as source, Source};

/// Make an existing kube-rs operator a project: write PROJECT, and the manifests that it lacks
///
/// The source is not changed, and files that exist are kept. Afterwards, all commands work in the crate. In a project,
/// adds kinds of the source that PROJECT does not list, and what `--config` and `--with` name.
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
  opctl adopt --with makefile,workflow

  # Later, in the project: the manifests in config/ that --config=false left out
  opctl adopt --config")]
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

    /// Add config/ with a Deployment, a role and kustomizations, if it has no manifests yet [default: true, but not in a project]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub config: Option<bool>,

    /// Find kinds that macros make by compiling the crate (auto, cargo), or do not (static)
    /// [default: auto; asks before it compiles, because that runs code of the crate]
    #[arg(long, value_name = "ENGINE", value_enum)]
    pub engine: Option<Engine>,

    /// Also add these, if there are none (repeatable, or comma-separated)
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    pub with: Vec<Extra>,
}

impl AdoptArgs {
    pub fn new(dir: PathBuf, domain: Option<String>, project_name: Option<String>) -> Self {
        Self { dir, domain, project_name, config: None, engine: None, with: Vec::new() }
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
        return add_to_project(args, &tree, console);
    }
    let Some(manifest) = Manifest::read(&tree, "")? else {
        return Err(UserError::new(format!("no crate in `{}`: it has no Cargo.toml", args.dir.display()))
            .help("give the folder of the operator's crate, or create a new operator with `opctl init`")
            .into());
    };
    let source = source::read(&tree, "");
    let kinds =
        Kinds { of_macros: of_macros(args, &source, &tree, console)?, declared: source.operator.declared.clone() };
    refuse_other_folders(&manifest, &source, &kinds)?;
    let (name, domain) = names(args, &manifest, &kinds)?;
    let resources = resources(&kinds, &domain, console);

    let root = repository_above(&dir);
    let places = adopt::crd_places(&kinds.crds(), &Tree::at(&root), &relative(&root, &dir)?)?;
    let has_config = has_config(&tree)?;
    let adds_config = args.config != Some(false) && !has_config;
    let crds = crds(&places, adds_config);
    let mut plan = Plan::default();
    plan.scaffold(PROJECT, ProjectFile::text_of_adopted(&name, &domain, &crds));
    for resource in &resources {
        enter(&mut plan, resource.fields());
    }
    let file = ProjectFile { adopted: true, resources, crds, ..ProjectFile::new(name, domain) };
    if args.config != Some(false) && has_config {
        console.info("kept your `config`; commands such as `opctl deploy` render `config/default`, if there is one");
    }
    add_files(&mut plan, adds_config, &args.with, &scaffold::Project::of(&file, &tree)?, &tree, console);
    if adds_config {
        // Existing files are kept even if they are out of date: `opctl manifests` updates them.
        let generated: Vec<CrdPath> = file.crds.iter().filter(|path| path.is_bases()).cloned().collect();
        let options = ManifestOptions { crds: Some(&generated), ..ManifestOptions::of(Some(&file)) };
        manifests::add_if_sound(&mut plan, &tree, &options, console)?;
    }
    describe(&kinds, console);
    for place in &places {
        console.info(&format!("found CRDs in `{place}`: `opctl manifests` keeps them up to date"));
    }
    let next = next(&args.dir, adds_config);
    let task = Task { again: "run `opctl adopt`", tree: &tree, folder: "", plan, next };
    carry_out(&task, console)
}

/// The kinds of a crate.
struct Kinds {
    declared: Vec<Declared>,
    /// The CRDs of own kinds that macros make.
    of_macros: Vec<CustomResourceDefinition>,
}

impl Kinds {
    fn are_none(&self) -> bool {
        self.declared.is_empty() && self.of_macros.is_empty()
    }

    fn own(&self) -> impl Iterator<Item = &Declared> {
        self.declared.iter().filter(|kind| !kind.is_external)
    }

    /// The groups of own kinds.
    fn groups(&self) -> impl Iterator<Item = &str> {
        self.own().map(|kind| kind.group.as_str()).chain(self.of_macros.iter().map(|crd| crd.spec.group.as_str()))
    }

    /// The names of the CRDs of own kinds.
    fn crds(&self) -> Vec<String> {
        self.own().map(Declared::crd).chain(self.of_macros.iter().filter_map(|crd| crd.metadata.name.clone())).collect()
    }
}

/// The way to find the kinds of macros.
const COMPILE: &str = "`opctl adopt --engine auto` compiles the crate, which runs its build scripts and macros";

/// The CRDs of own kinds that macros make, which only the compiler knows. Without it, they are reported.
fn of_macros(
    args: &AdoptArgs,
    source: &Source,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    if source.operator.underivable.iter().all(|stopped| stopped.kind.is_some()) {
        return Ok(Vec::new());
    }
    let engine = args.engine.unwrap_or_default();
    let choice = Choice { engine, may_compile: args.engine.is_some(), all_or_nothing: false, ..Choice::STATIC };
    let found =
        engine::find(tree, &ManifestOptions::of(None), &choice, console).and_then(|found| match found.refused {
            Some(refused) if refused.kinds.contains(&None) => Err(refused.why.into()),
            _ => Ok(found.crds),
        });
    let (crds, failure) = found.map_or_else(|error| (Vec::new(), Some(error)), |crds| (crds, None));
    if let Some(failure) = failure {
        if choice.may_compile && engine != Engine::Static {
            return Err(failure);
        }
        if !source.operator.declared.is_empty() {
            console.warn("a macro makes kinds, and only the compiler knows them: they get no entries in PROJECT");
            console.hint(COMPILE);
        }
    }
    let is_declared = |crd: &CustomResourceDefinition| {
        let (group, kind) = engine::kind_of(crd);
        source.operator.declared.iter().any(|it| (&it.group, &it.kind) == (&group, &kind))
    };
    Ok(crds.into_iter().filter(|crd| !is_declared(crd)).collect())
}

/// The entries of PROJECT. Kinds without an entry are reported; their manifests are generated nevertheless.
fn resources(kinds: &Kinds, domain: &Domain, console: &Console) -> Vec<Resource> {
    let (mut resources, mut refusals) = adopt::resources(&kinds.declared, domain);
    let (of_macros, refused) = adopt::resources_of_macros(&kinds.of_macros, domain);
    resources.extend(of_macros);
    refusals.0.extend(refused.0);
    for UserError { message, help } in refusals.0 {
        console.warn(&format!("a kind gets no entry in PROJECT: {message}"));
        help.iter().for_each(|help| console.hint(help));
    }
    resources
}

/// The files and folders of CRDs for PROJECT: existing ones, and the folder in `config` if it is new.
fn crds(places: &[CrdPath], generates: bool) -> Vec<CrdPath> {
    let bases = CrdPath::default_list().into_iter().filter(|_| generates || places.is_empty());
    bases.chain(places.iter().filter(|path| !path.is_bases() || !generates).cloned()).collect()
}

/// Adds entries to PROJECT for kinds that were added to the source, and the requested files.
fn add_to_project(args: &AdoptArgs, tree: &Tree, console: &Console) -> anyhow::Result<Outcome> {
    let mut file = ProjectFile::read(tree)?;
    refuse_in_project(args, &file, has_config(tree)?)?;
    let source = source::read(tree, "");
    let kinds = Kinds { of_macros: of_macros(args, &source, tree, console)?, declared: source.operator.declared };
    let mut plan = Plan::default();
    let adds_config = args.config == Some(true);
    if adds_config && !file.crds.iter().any(CrdPath::is_bases) {
        let before = tree.read(PROJECT)?.unwrap_or_default();
        let after = with_bases(&before)?;
        file = ProjectFile::parse(&after).map_err(SourceErrors::from)?;
        plan.edit(PROJECT, Edit::Lines { before, after });
    }
    if file.adopted {
        add_files(&mut plan, adds_config, &args.with, &scaffold::Project::of(&file, tree)?, tree, console);
    }
    let name = |it: &Resource| (it.full_group(), it.version.clone(), it.kind.clone());
    let known: Vec<_> = file.resources.iter().map(name).collect();
    let new = resources(&kinds, &file.domain, console).into_iter().filter(|kind| !known.contains(&name(kind)));
    new.for_each(|resource| enter(&mut plan, resource.fields()));
    manifests::add_if_sound(&mut plan, tree, &ManifestOptions::of(Some(&file)), console)?;
    let next = if adds_config { next(Path::new("."), true) } else { Vec::new() };
    carry_out(&Task { again: "run `opctl adopt`", tree, folder: "", plan, next }, console)
}

/// Refuses options that have no effect in a project.
fn refuse_in_project(args: &AdoptArgs, file: &ProjectFile, has_config: bool) -> Result<(), UserErrors> {
    let mut refusals = UserErrors::default();
    if let Some(domain) = args.domain.as_ref().filter(|domain| **domain != *file.domain.as_str()) {
        let refusal = UserError::new(format!("PROJECT has the domain `{}` already", file.domain));
        refusals.push(refusal.help(format!("change it with `opctl rename domain --to {domain}`")));
    }
    if let Some(name) = args.project_name.as_ref().filter(|name| **name != *file.name.as_str()) {
        let refusal = UserError::new(format!("PROJECT has the name `{}` already", file.name));
        refusals.push(refusal.help(format!("change it with `opctl rename project --to {name}`")));
    }
    let adds_config = args.config == Some(true);
    if !file.adopted && (adds_config || !args.with.is_empty()) {
        let refusal = UserError::new("`--config` and `--with` are for adopted crates, and `opctl init` made this one");
        refusals.push(refusal.help("`opctl update` restores files of the scaffold"));
    } else if adds_config && has_config {
        let refusal = UserError::new("`config` has manifests already, which opctl does not change");
        refusals.push(refusal.help(
            "the commands render `config/default`: list your folders with manifests in its `kustomization.yaml`",
        ));
    }
    refusals.settle()
}

/// The text of PROJECT with the generated folder in `manifests.crds`.
fn with_bases(text: &str) -> Result<String, UserError> {
    let mut lines: Vec<&str> = text.lines().collect();
    let list = lines.iter().position(|line| line.trim() == "crds:");
    let item = list.and_then(|at| lines.get(at + 1)).filter(|line| line.trim_start().starts_with("- "));
    let (Some(at), Some(item)) = (list, item) else {
        return Err(UserError::new(format!("cannot add `{}` to `manifests.crds` in PROJECT", CrdPath::BASES))
            .help("add it by hand, then run the command again"));
    };
    let added = format!("{}- {}", &item[..item.len() - item.trim_start().len()], CrdPath::BASES);
    lines.insert(at + 1, &added);
    Ok(lines.join("\n") + "\n")
}

/// Refuses a crate without kinds, and a workspace: PROJECT is beside the Cargo.toml of the package with the operator.
fn refuse_other_folders(manifest: &Manifest, source: &Source, kinds: &Kinds) -> Result<(), UserError> {
    if kinds.are_none() {
        if let Some(warning) = source.diagnostics.iter().find(|diagnostic| diagnostic.code == OP051) {
            return Err(UserError::new(warning.message.clone())
                .help("enable it by default, in `[features]` of Cargo.toml, then run the command again"));
        }
        let refusal = UserError::new("no kind found: nothing in the crate has `#[kube(…)]` with a kind");
        return Err(match source.operator.underivable.is_empty() {
            true => refusal
                .help("`opctl init` creates a new operator in this folder")
                .help("if the kinds are in another crate, run `opctl adopt` in its folder"),
            false => {
                UserError::new("a macro makes the kinds of the crate, and only the compiler knows them").help(COMPILE)
            }
        });
    }
    if manifest.package_name().is_some() {
        return Ok(());
    }
    let mut folders: Vec<&str> = kinds.declared.iter().map(|kind| kind.folder.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    let refusal = folders
        .into_iter()
        .map(|folder| format!("it has kinds in `{folder}`: `opctl adopt {folder}`"))
        .fold(UserError::new("this Cargo.toml is that of a workspace, and not of an operator"), UserError::help);
    Err(refusal.help("if a binary depends on these crates, run `opctl adopt` in its folder"))
}

fn names(args: &AdoptArgs, manifest: &Manifest, kinds: &Kinds) -> Result<(ProjectName, Domain), UserErrors> {
    let mut refusals = UserErrors::default();
    let name = match &args.project_name {
        Some(text) => refusals.check(ProjectName::parse(text)),
        None => refusals.check(adopt::name(manifest)),
    };
    let domain = match &args.domain {
        Some(text) => refusals.check(Domain::parse(text)),
        None => refusals.check(adopt::domain(kinds.groups()).ok_or_else(|| {
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
    adds_config: bool,
    with: &[Extra],
    project: &scaffold::Project,
    tree: &Tree,
    console: &Console,
) {
    for scaffold::File { path, text } in scaffold::init(project) {
        let is_wanted = match path.starts_with("config/") {
            true => adds_config,
            false => with.iter().any(|extra| extra.path() == path),
        };
        if is_wanted && tree.has(&path) {
            console.info(&format!("kept your `{path}`"));
        } else if is_wanted {
            plan.scaffold(path, text);
        }
    }
}

/// `true` if the crate has a folder `config` with manifests, except for generated ones and samples.
fn has_config(tree: &Tree) -> Result<bool, ReadError> {
    for path in tree.files_below("config")? {
        let is_manifest = path.ends_with(".yaml") || path.ends_with(".yml");
        if is_manifest
            && !path.starts_with("config/samples/")
            && !emit::is_generated(&tree.read(&path)?.unwrap_or_default())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Prints the own and the external kinds of the crate.
fn describe(kinds: &Kinds, console: &Console) {
    let (external, own): (Vec<_>, Vec<_>) = kinds.declared.iter().partition(|kind| kind.is_external);
    for (what, kinds) in [("own", own), ("external", external)] {
        if kinds.is_empty() {
            continue;
        }
        console.info(&format!("found {}:", counted(kinds.len(), &format!("{what} kind"))));
        for kind in kinds {
            console.info(&format!("  {} {}/{} at {}", kind.kind, kind.group, kind.version, kind.span));
        }
    }
    if !kinds.of_macros.is_empty() {
        console.info(&format!("found {} that macros make:", counted(kinds.of_macros.len(), "own kind")));
        for CustomResourceDefinition { spec, .. } in &kinds.of_macros {
            let versions: Vec<&str> = spec.versions.iter().map(|version| version.name.as_str()).collect();
            console.info(&format!("  {} {}/{}", spec.names.kind, spec.group, versions.join(", ")));
        }
    }
}

fn next(dir: &Path, adds_config: bool) -> Vec<Next> {
    let mut next = Vec::new();
    if dir != Path::new(".") {
        next.push(Next::new(format!("cd {}", quoted(&dir.to_string_lossy())), ""));
    }
    if adds_config {
        next.push(Next::new(
            "edit config/manager/manager.yaml",
            "add the arguments, ports and probes of your operator",
        ));
    }
    next.push(Next::new("opctl manifests", "brings all CRDs up to date"));
    next.push(Next::new("opctl check", "checks the permissions and the manifests"));
    if adds_config {
        next.push(Next::new("opctl dev", "runs the operator with its own API server"));
    }
    next
}
