//! `opctl manifests`: regenerates the manifests that are derived from the Rust source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::allow::{self, without_allowed};
use super::check::home;
use super::engine::{self, Choice, Engine, Found, Kind, MissingCrds, Part};
use super::features::FeatureArgs;
use super::kubectl::{self, KubectlArgs};
use super::message_format::MessageArgs;
use super::{
    Console, Next, Outcome, Task, adoptable, carry_out, carry_out_of, conflicts, console::Verbosity, counted,
    is_unreadable, lock, lock_all, recover, resolve, resolve_part, verify,
};
use crate::compatibility::{self, Baseline, Comparison};
use crate::diagnostics::OP350;
use crate::drift::{self, Copies};
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::places;
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Content, Plan, Step, Verdict};
use opctl_model::diagnostic::{Diagnostic, ReportedBy, Severity, SourceFile, Span};
use opctl_model::names::Namespace;
use opctl_model::project::{
    CrdPath, Descriptions, PROJECT, ProjectError, ProjectFile, ReadError, Tree, join, root_above,
};
use opctl_model::threads;
use opctl_model::{Api, CrdLocation, External};
use opctl_schema::apiserver::{self, Finding};
use opctl_schema::compat;
use opctl_schema::compat::diagnostics::OP601;
use opctl_source::diagnostics::{OP022, OP051};
use opctl_source::emit::{self, CustomResourceDefinition, Manifest};
use opctl_source::{self as source, Account, Source, grants};
use opctl_tools as tools;

/// Regenerate config/crd, config/rbac and config/webhook from the Rust source
///
/// The source is parsed, not compiled, so this works even if the code does not build. Generated files that are no longer
/// needed are removed. Your own files are never touched, except for CRDs in the files that `manifests.crds` in PROJECT lists.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In a project or any folder below it
  opctl manifests

  # Any other kube-rs crate
  opctl manifests --path ../operator --output deploy

  # In CI: fail if the manifests do not match the source
  opctl manifests --check

  # Only the roles, even if the types have errors
  opctl manifests --only rbac

  # In CI: fail if a change breaks users of the CRDs
  opctl manifests --against origin/main

  # Before a deployment: also check the objects in the cluster
  opctl manifests --against cluster

  # In CI of any kube-rs crate: fail if the CRDs in a folder or chart are stale
  opctl manifests --compare charts/operator

  # A binary of the operator that prints its CRDs, with its arguments
  opctl manifests --engine cargo --crdgen-bin operator --crdgen-args 'crd --all'

  # Check once that the CRDs derived from source equal those of the compiled types
  opctl manifests --verify

  # A CRD that contains a PodTemplateSpec, in a third of the size
  opctl manifests --no-foreign-descriptions")]
pub struct ManifestsArgs {
    /// The folder of a crate [default: the project around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    /// The output folder: relative to the crate, or an absolute path
    #[arg(long, value_name = "DIR", default_value = "config")]
    pub output: String,

    /// Regenerate this part only (repeatable, or comma-separated)
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    pub only: Vec<Part>,

    /// Derive CRDs from source (static), from compiled types (cargo), or by compiling only what the source does not
    /// determine (auto) [default: auto; in a crate that is no project of opctl, asks before it compiles, because that
    /// runs code of the crate]
    #[arg(long, value_name = "ENGINE", value_enum)]
    pub engine: Option<Engine>,

    /// A binary of the crate that prints the CRDs of the compiled types (repeatable); also found as PACKAGE-NAME
    /// [default: `crdgen` of a scaffolded project; elsewhere, opctl compiles a copy of the crate that prints them]
    #[arg(long, value_name = "NAME")]
    pub crdgen_bin: Vec<String>,

    /// With --crdgen-bin: the arguments with which these binaries print CRDs, separated by spaces
    #[arg(long, value_name = "ARGS", requires = "crdgen_bin", allow_hyphen_values = true, value_delimiter = ' ')]
    pub crdgen_args: Vec<String>,

    /// Shorten descriptions to this many characters, at the end of a sentence or word; 0 removes them
    ///
    /// Applies to this run only. To keep it for all commands, set `manifests: {maxDescription: N}` in PROJECT.
    #[arg(long, value_name = "N")]
    pub max_description: Option<usize>,

    /// Leave out the descriptions of Kubernetes types, which are most of a large CRD
    ///
    /// Applies to this run only. To keep it, set `manifests: {foreignDescriptions: false}` in PROJECT.
    #[arg(long)]
    pub no_foreign_descriptions: bool,

    /// Write nothing if a kind has an error, instead of leaving only its CRD as it is
    #[arg(long)]
    pub all_or_nothing: bool,

    /// Report which changes of the CRDs break objects, writers or readers, instead of writing: since a branch, tag or
    /// commit, a file, folder or Helm chart with CRDs, or `cluster`
    ///
    /// From a branch or tag, the comparison is with the commit where the current branch left it. With `cluster`,
    /// objects that are stored there are checked, too. Exits 1 if a change breaks a beta or stable version, or loses
    /// data.
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["only", "all_or_nothing"])]
    pub against: Option<String>,

    /// With --against: breaking changes of alpha versions are errors, too
    #[arg(long, requires = "against")]
    pub strict: bool,

    /// Compile all kinds, compare them with those that are derived from the source, and write nothing
    ///
    /// Works in any kube-rs crate. Lists the kinds that are equal, and where others differ. Exits 1 on a difference.
    #[arg(long, conflicts_with_all = ["against", "compare", "only", "all_or_nothing", "output", "engine"])]
    pub verify: bool,

    /// Compare the CRDs in a file, folder or Helm chart with the source, and write nothing
    ///
    /// Works in any kube-rs crate. Ignores comments, field order and default values. Exits 1 if a CRD differs or is missing.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["against", "only", "all_or_nothing", "output"])]
    pub compare: Option<PathBuf>,

    #[command(flatten)]
    pub features: FeatureArgs,

    #[command(flatten)]
    pub program: KubectlArgs,

    #[command(flatten)]
    pub messages: MessageArgs,
}

/// The source and destination of manifests, and the settings in PROJECT for them.
pub struct ManifestOptions<'a> {
    /// The crate's folder, relative to the source tree's root.
    pub folder: &'a str,
    /// The folder of `crd`, `rbac` and `webhook`, relative to the root of the tree that is written to.
    pub output: &'a str,
    pub namespaced: bool,
    pub namespaces: &'a [Namespace],
    pub descriptions: Descriptions,
    /// The project, if it is an adopted crate: its role also grants what the code requests.
    pub adopted: Option<&'a ProjectFile>,
    /// The files and folders of the CRDs, relative to the root of the tree that is written to; `None`: `crd/bases` in
    /// the output folder.
    pub crds: Option<&'a [CrdPath]>,
}

impl<'a> ManifestOptions<'a> {
    /// The options for a project's own crate and its `config`, with the settings in PROJECT, if there is one.
    pub fn of(project: Option<&'a ProjectFile>) -> Self {
        Self {
            folder: "",
            output: "config",
            namespaced: project.is_some_and(|project| project.namespaced),
            namespaces: project.map(|project| &project.namespaces[..]).unwrap_or_default(),
            descriptions: project.map(|project| project.descriptions).unwrap_or_default(),
            adopted: project.filter(|project| project.adopted),
            crds: project.map(|project| &project.crds[..]),
        }
    }

    /// `true` if opctl generates the operator's role. In an adopted crate, opctl generates it if there is an
    /// `rbac/kustomization.yaml` and no role of the user.
    ///
    /// # Errors
    ///
    /// If the role cannot be read.
    pub fn generates_role(&self, plan: &Plan, tree: &Tree) -> Result<bool, ReadError> {
        if self.adopted.is_none() {
            return Ok(true);
        }
        let kustomization = join(self.output, "rbac/kustomization.yaml");
        let is_listed = tree.has(&kustomization) || plan.changes.contains_key(&kustomization);
        let role = tree.read(&join(self.output, "rbac/role.yaml"))?;
        Ok(is_listed && role.is_none_or(|text| emit::is_generated(&text)))
    }

    /// `true` if `crd/bases` is generated.
    fn generates_crds(&self) -> bool {
        self.crds.is_none_or(|paths| paths.iter().any(CrdPath::is_bases))
    }
}

pub fn run(args: &ManifestsArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = crate_for(args.path.as_deref(), args.compare.is_some() || args.verify, "manifests")?;
    recover(&root, console)?;
    args.messages.run(&root, console, |console| run_in(args, &root, console))
}

fn run_in(args: &ManifestsArgs, root: &Path, console: &Console) -> anyhow::Result<Outcome> {
    let output = Output::of(&args.output, root)?;
    let writes = args.against.is_none() && args.compare.is_none() && !args.verify;
    // Both are locked: the crate is read, and the output may be in another project.
    let roots = [root, &output.root];
    let _locks = if writes { lock_all(roots.into_iter(), console)? } else { Vec::new() };
    let tree = super::tree(root).with_features(args.features.chosen());
    let project = match ProjectFile::read(&tree) {
        Ok(project) => Some(project),
        // Any kube-rs crate has manifests, even if opctl did not scaffold it.
        Err(ProjectError::Missing(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let mut options = ManifestOptions { output: &output.folder, ..ManifestOptions::of(project.as_ref()) };
    options.descriptions.max = args.max_description.or(options.descriptions.max);
    options.descriptions.foreign &= !args.no_foreign_descriptions;
    // Another output folder gets all manifests.
    options.crds = options.crds.filter(|_| output.root == root && output.folder == "config");
    let target = Tree::at(&output.root);
    let choice = Choice {
        engine: args.engine.unwrap_or_default(),
        may_compile: args.engine.is_some() || project.is_some(),
        binaries: &args.crdgen_bin,
        arguments: &args.crdgen_args,
        only: &args.only,
        all_or_nothing: args.all_or_nothing,
        crds: None,
    };
    if let Some(what) = &args.against {
        return compare(what, args, (&tree, &output), &options, &choice, console);
    }
    if let Some(path) = &args.compare {
        return compare_copies(path, &tree, &options, &choice, console);
    }
    if args.verify {
        return verify::run(&tree, &options, &choice, console);
    }
    let mut plan = Plan::default();
    let Added { warnings, refused, stuck, .. } = add(&mut plan, &tree, &target, &options, &choice, console)?;
    let why = refused.as_ref().map(|refused| &refused.why);
    let errors = why.map(|why| why.diagnostics.clone()).unwrap_or_default();
    let warnings = if console.verbosity > Verbosity::Quiet { warnings } else { Vec::new() };
    console.diagnose(&[errors, stuck.clone(), warnings].concat());
    why.iter().flat_map(|why| &why.help).for_each(|help| console.hint(help));
    let mut next = Vec::new();
    let crds = join(&output.folder, "crd/bases/");
    let has_crds = plan.changes.keys().any(|path| path.starts_with(&crds));
    if has_crds && refused.is_none() && tree.has("Makefile") && output.root == *root {
        next.push(Next::new("make install", "installs the CRDs in the cluster of KUBECONFIG"));
    }
    let task = Task { again: "run `opctl manifests`", tree: &target, folder: "", plan, next };
    if refused.is_none() && stuck.is_empty() {
        return carry_out(&task, console);
    }
    carry_out_of("everything else", &task, console)?;
    let Some(refused) = refused else {
        let crds = counted(stuck.len(), "CRD");
        console.error(
            &UserError::new(format!("{crds} cannot be updated"))
                .help("fix the errors above; everything else is current"),
        );
        return Ok(Outcome::Problems);
    };
    console.error(
        &UserError::new(format!("no CRD was generated for {}", names(&refused)))
            .help(
                "fix the errors above; until then, an existing CRD stays as it is, and all other manifests are current",
            )
            .help("with `--all-or-nothing`, nothing is written in this case"),
    );
    Ok(Outcome::Problems)
}

/// Reports the changes of the CRDs since an earlier release.
fn compare(
    what: &str,
    args: &ManifestsArgs,
    (tree, output): (&Tree, &Output),
    options: &ManifestOptions,
    choice: &Choice,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let baseline = match what {
        "cluster" => Baseline::Cluster(kubectl::find(args.program.kubectl.as_deref(), None).into()),
        what => {
            let bases = CrdPath::parse(&join(&output.folder, "crd/bases")).map_err(UserError::new)?;
            Baseline::read(what, &Tree::at(&output.root), options.crds.unwrap_or(&[bases]))?
        }
    };
    let mut found = engine::find(tree, options, choice, console)?;
    keep_generated_before(&mut found, &Tree::at(&output.root), options.output, choice)?;
    let mut errors = check(&mut found, choice);
    errors.retain(Diagnostic::is_error);
    errors.extend(found.refused.map(|refused| refused.why.diagnostics).unwrap_or_default());
    if !errors.is_empty() {
        // Without its CRD, a kind would be reported as removed.
        let help = vec!["the CRDs can be compared once the source has no errors".into()];
        return Err(SourceErrors { diagnostics: errors, help }.into());
    }
    let comparison = compatibility::compare(&baseline, &found.source, &found.crds, args.strict)?;
    Ok(report(comparison, &baseline, &found.source, found.crds.len(), console))
}

/// Reports the differences between the source and the CRDs that a repository contains.
fn compare_copies(
    path: &Path,
    tree: &Tree,
    options: &ManifestOptions,
    choice: &Choice,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let copies = Copies::read(path)?;
    let mut found = engine::find(tree, options, choice, console)?;
    if let Some(max) = options.descriptions.max {
        emit::shorten_descriptions(&mut found.crds, max);
    }
    let mut diagnostics = check(&mut found, choice);
    diagnostics.retain(Diagnostic::is_error);
    let is_sound = diagnostics.is_empty() && found.refused.is_none();
    let why = found.refused.as_ref().map(|refused| &refused.why);
    diagnostics.extend(why.iter().flat_map(|why| why.diagnostics.clone()));
    let may_be_refused = |group: &str, kind: &str| {
        found.refused.as_ref().is_some_and(|refused| refused.may_be((group.to_owned(), kind.to_owned())))
    };
    if found.crds.is_empty() && is_sound {
        return Err(UserError::new("no kind found in the source")
            .help("give the folder of the crate with `--path`, and features that add kinds with `--features`")
            .into());
    }
    let drift = drift::compare(&found.crds, &copies, may_be_refused);
    diagnostics.extend(drift.diagnostics);
    diagnostics.retain(|it| it.is_error() || console.verbosity > Verbosity::Quiet);
    console.diagnose(&diagnostics);
    why.iter().flat_map(|why| &why.help).for_each(|help| console.hint(help));
    let others = match drift.others {
        0 => String::new(),
        others => format!("; ignored {} of other groups", counted(others, "CRD")),
    };
    console.info(&format!(
        "compared {} with `{}`: {} equal, {} different or missing{others}",
        counted(found.crds.len(), "CRD"),
        copies.name,
        drift.equal,
        drift.different,
    ));
    Ok(if is_sound && drift.different == 0 { Outcome::Done } else { Outcome::Problems })
}

/// Reports the changes of the CRDs since the baseline.
fn report(
    Comparison { diagnostics, compatible }: Comparison,
    baseline: &Baseline,
    source: &Source,
    crds: usize,
    console: &Console,
) -> Outcome {
    let (allowed, left): (Vec<_>, Vec<_>) = diagnostics
        .into_iter()
        .map(|diagnostic| (allow::reason(&source.operator.allows, &diagnostic).map(str::to_owned), diagnostic))
        .partition(|(reason, _)| reason.is_some());
    let left: Vec<Diagnostic> = left.into_iter().map(|(_, diagnostic)| diagnostic).collect();
    let shown = |it: &&Diagnostic| it.is_error() || console.verbosity > Verbosity::Quiet;
    console.diagnose(&left.iter().filter(shown).cloned().collect::<Vec<_>>());
    for (reason, diagnostic) in &allowed {
        let reason = reason.as_deref().unwrap_or_default();
        console.info(&format!("allowed: {}: {} ({reason})", diagnostic.code, diagnostic.message));
    }
    if console.verbosity == Verbosity::Verbose {
        for message in &compatible {
            console.note(&format!("compatible: {message}"));
        }
    }
    let errors = left.iter().filter(|it| it.is_error()).count();
    console.info(&format!(
        "compared {} with {}: {}, {}, {}",
        counted(crds, "CRD"),
        baseline.name(),
        counted(errors, "breaking change"),
        counted(left.len() - errors, "warning"),
        counted(compatible.len(), "compatible change"),
    ));
    if errors > 0 { Outcome::Problems } else { Outcome::Done }
}

/// The kinds without a CRD, for a message.
fn names(refused: &MissingCrds) -> String {
    let known: Vec<String> = refused.kinds.iter().flatten().map(|(_, kind)| format!("`{kind}`")).collect();
    match (known.join(", "), refused.kinds.contains(&None)) {
        (known, false) => known,
        (known, true) if known.is_empty() => "some kinds".into(),
        (known, true) => format!("{known} and other kinds"),
    }
}

/// Updates the manifests of the project at `root`, even if there are warnings. Returns the files that changed.
pub fn regenerate(root: &Path, console: &Console) -> anyhow::Result<Vec<String>> {
    let _lock = lock(root, console)?;
    let tree = super::tree(root);
    let project = ProjectFile::read(&tree)?;
    let mut plan = Plan::default();
    let choice = Choice { engine: Engine::Auto, may_compile: true, ..Choice::STATIC };
    add(&mut plan, &tree, &tree, &ManifestOptions::of(Some(&project)), &choice, console)?;
    let steps = resolve(&plan, &tree, "", console)?;
    conflicts(&steps).settle()?;
    super::apply(root, &steps, &[])?;
    Ok(steps.into_iter().filter(|step| !step.is_unchanged()).map(|step| step.path).collect())
}

/// The result of adding manifests to a plan.
struct Added {
    warnings: Vec<Diagnostic>,
    /// Also those of refused kinds, as they were.
    crds: Vec<CustomResourceDefinition>,
    refused: Option<MissingCrds>,
    /// The CRDs in files of the user that cannot be updated, with the reasons.
    stuck: Vec<Diagnostic>,
}

/// Adds the manifests of the source to the plan, and removes those without a source. If the source has errors, returns
/// a [`SourceErrors`], and the plan does not change.
fn add(
    plan: &mut Plan,
    source: &Tree,
    target: &Tree,
    options: &ManifestOptions,
    choice: &Choice,
    console: &Console,
) -> anyhow::Result<Added> {
    let mut found = engine::find(source, options, choice, console)?;
    keep_generated_before(&mut found, target, options.output, choice)?;
    if console.verbosity == Verbosity::Verbose {
        console.note(&read(&found.source));
    }
    // OP051, if reported, names the features that add kinds.
    let is_explained = found.source.diagnostics.iter().any(|diagnostic| diagnostic.code == OP051);
    if let Account { written: 0, refused: 0, left_out: 1.., .. } = found.source.account
        && !is_explained
    {
        console.note("no kind is part of this build: a `cfg` leaves them out");
    }
    let generates_role = options.generates_role(plan, target)?;
    if let Some(project) = options.adopted.filter(|_| generates_role && choice.wants(Part::Rbac)) {
        let requests = source::read_requests(source, options.folder).operator;
        found.source.operator.rbac.extend(grants::rules_for_requests(&requests, &home(Some(project), &requests)));
    }
    if let Some(max) = options.descriptions.max {
        emit::shorten_descriptions(&mut found.crds, max);
    }
    if options.namespaced && !choice.wants(Part::Crd) {
        found.crds = existing(target, options)?;
    }
    let mut diagnostics = check(&mut found, choice);
    let mut crds = found.crds;
    let derived = crds.clone();
    if let Some(refused) = &found.refused {
        // The existing CRDs of refused kinds are kept, with their roles and list items.
        let made: BTreeSet<Kind> = crds.iter().map(engine::kind_of).collect();
        let kept = existing(target, options)?.into_iter();
        crds.extend(kept.filter(|crd| !made.contains(&engine::kind_of(crd)) && refused.may_be(engine::kind_of(crd))));
        crds.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    }
    let operator = &found.source.operator;
    let mut manifests = Vec::new();
    let emit_options = emit::Options { namespaced: options.namespaced, namespaces: options.namespaces.to_vec() };
    for part in [emit::manifests(&crds, &operator.rbac, &emit_options), emit::webhooks(operator)] {
        match part {
            Ok(mut part) => manifests.append(&mut part),
            Err(mut errors) => diagnostics.append(&mut errors),
        }
    }
    // Findings about compiled types have no position, so no comment can match them, and comments are not reported as
    // idle.
    let is_whole = !operator.apis.is_empty() && operator.underivable.is_empty();
    let is_sound = diagnostics.iter().all(|diagnostic| !diagnostic.is_error());
    let mut diagnostics = without_allowed(diagnostics, &operator.allows, is_whole.then_some(ReportedBy::OtherCommands));
    if !is_sound {
        let others = found.refused.map(|refused| refused.why.diagnostics).unwrap_or_default();
        return Err(SourceErrors::from([others, diagnostics].concat()).into());
    }
    if choice.wants(Part::Rbac) {
        keep_in_place(plan, &mut manifests, target, options)?;
    }
    let paths = options.crds.unwrap_or_default();
    let is_wanted = |manifest: &Manifest| {
        choice.wants(part_of(&manifest.path))
            && (options.generates_crds() || !manifest.path.starts_with("crd/"))
            && (generates_role || !manifest.path.starts_with("rbac/"))
    };
    let mut generated = BTreeSet::new();
    for manifest in manifests.into_iter().filter(is_wanted) {
        let path = join(options.output, &manifest.path);
        generated.insert(path.clone());
        plan.generate(path, manifest.text);
    }
    let mut stale = ours(target, options.output, choice, &generated)?;
    stale.retain(|path| !places::has(paths, path));
    let mut stuck = Vec::new();
    if choice.wants(Part::Crd) {
        let may_be_refused = |group: &str, kind: &str| {
            found.refused.as_ref().is_some_and(|refused| refused.may_be((group.to_owned(), kind.to_owned())))
        };
        let reported = places::update(plan, target, paths, &derived, may_be_refused)?;
        let (errors, warnings): (Vec<_>, Vec<_>) = reported.into_iter().partition(Diagnostic::is_error);
        stuck = errors;
        diagnostics.extend(warnings);
    }
    diagnostics.extend(removed(&stale, target, &crds)?);
    stale.into_iter().for_each(|path| plan.prune(path));
    if choice.wants(Part::Rbac) && generates_role && !has_service_account(plan, target, options.output)? {
        plan.scaffold(join(options.output, SERVICE_ACCOUNT), emit::service_account());
    }
    Ok(Added { warnings: diagnostics, crds, refused: found.refused, stuck })
}

/// Refuses kinds that seem to belong to other projects if their CRDs were generated before: removing the CRDs from the
/// manifests could delete the CRDs of the other projects from the cluster, with all objects.
fn keep_generated_before(found: &mut Found, target: &Tree, output: &str, choice: &Choice) -> anyhow::Result<()> {
    let externals = found.source.operator.externals.iter().filter(|external| external.warning.is_some());
    let externals: Vec<&External> = externals.collect();
    if externals.is_empty() || !choice.wants(Part::Crd) {
        return Ok(());
    }
    let mut errors = Vec::new();
    for (path, crd) in written(target, output)? {
        let (group, kind) = engine::kind_of(&crd);
        let Some(external) = externals.iter().find(|it| (&it.group, &it.kind) == (&group, &kind)) else { continue };
        found.source.diagnostics.retain(|diagnostic| Some(diagnostic) != external.warning.as_ref());
        errors.push((group, kind, source::generated_before(external, &path)));
    }
    for (group, kind, error) in errors {
        let refused = found.refused.get_or_insert_default();
        refused.kinds.insert(Some((group, kind)));
        refused.why.diagnostics.push(error);
    }
    match &mut found.refused {
        Some(refused) if choice.all_or_nothing => Err(std::mem::take(&mut refused.why).into()),
        _ => Ok(()),
    }
}

/// The existing generated CRDs, with their paths. If types are not read, they determine which kinds are cluster-scoped,
/// and those of refused kinds are kept.
fn written(tree: &Tree, output: &str) -> anyhow::Result<Vec<(String, CustomResourceDefinition)>> {
    let mut crds = Vec::new();
    for path in tree.files_below(&join(output, "crd/bases"))? {
        let text = tree.read(&path)?.unwrap_or_default();
        if emit::is_generated(&text) {
            // `opctl check` reports a file that cannot be read.
            let read = tools::documents::read(&text, &path).unwrap_or_default();
            crds.extend(read.into_iter().map(|crd| (path.clone(), crd)));
        }
    }
    Ok(crds)
}

/// The existing CRDs of the project.
fn existing(tree: &Tree, options: &ManifestOptions) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let mut crds = match options.generates_crds() {
        true => written(tree, options.output)?.into_iter().map(|(_, crd)| crd).collect(),
        false => Vec::new(),
    };
    let others: Vec<CrdPath> = options.crds.into_iter().flatten().filter(|path| !path.is_bases()).cloned().collect();
    for kept in places::readable_crds(tree, &others)?.0 {
        let is_known = |other: &CustomResourceDefinition| {
            kept.crd["metadata"]["name"] == other.metadata.name.as_deref().unwrap_or_default()
        };
        if !crds.iter().any(is_known) {
            // The cluster reports a CRD that cannot be read when it is applied.
            crds.extend(serde_json::from_value::<CustomResourceDefinition>(kept.crd));
        }
    }
    Ok(crds)
}

const PRUNED: &str = "where manifests are applied with pruning (Argo CD, Flux, `kubectl apply --prune`), the cluster deletes the CRD, and with \
                      it all objects of the kind";

/// A warning for each CRD whose file is no longer generated. `crds` are the generated CRDs.
fn removed(
    stale: &BTreeSet<String>,
    tree: &Tree,
    crds: &[CustomResourceDefinition],
) -> anyhow::Result<Vec<Diagnostic>> {
    let mut warnings = Vec::new();
    for path in stale {
        let text = tree.read(path)?.unwrap_or_default();
        for crd in tools::documents::read(&text, path).unwrap_or_default() {
            let name = crd.metadata.name.unwrap_or_default();
            if crds.iter().any(|other| other.metadata.name.as_deref() == Some(&name)) {
                continue;
            }
            let kind = &crd.spec.names.kind;
            let renamed =
                crds.iter().find(|other| other.spec.names.kind == *kind).and_then(|it| it.metadata.name.as_ref());
            let label = match renamed {
                Some(new) => format!("`{kind}` is in the CRD `{new}` now"),
                None => format!("the source has no kind `{kind}` in this group"),
            };
            let start = text.find(&format!("name: {name}")).map_or(0, |at| at + "name: ".len());
            let range = start..(start + name.len()).min(text.len());
            let span = Span { file: SourceFile::new(path, &text), range };
            let warning = OP350.warning(format!("the CRD `{name}` is removed from the manifests"));
            warnings
                .push(warning.at(span, label).help(PRUNED).help("if it should stay, restore its kind in the source"));
        }
    }
    Ok(warnings)
}

/// The part of the manifests that a generated file belongs to, from its path in the output folder.
fn part_of(path: &str) -> Part {
    // The roles for users depend on the CRDs, those of the operator on markers.
    match path.split('/').next() {
        Some("webhook") => Part::Webhook,
        Some("rbac") if !path.starts_with("rbac/kinds/") => Part::Rbac,
        _ => Part::Crd,
    }
}

/// The folders that keep the namespaces of Roles unchanged, and the keys that list them in
/// `default/kustomization.yaml`.
pub const KEEPERS: [(&str, &str); 2] =
    [("components", "../rbac/namespaces/before"), ("transformers", "../rbac/namespaces/after")];

/// Lists these folders in `default/kustomization.yaml` if there are such Roles and the file sets a namespace. Without
/// such Roles, the folders are not generated, unless a kustomization lists them: it would fail without them.
fn keep_in_place(
    plan: &mut Plan,
    manifests: &mut Vec<Manifest>,
    tree: &Tree,
    ManifestOptions { output, .. }: &ManifestOptions,
) -> anyhow::Result<()> {
    let path = join(output, "default/kustomization.yaml");
    if manifests.iter().any(|manifest| manifest.path == emit::MOVED_BACK) {
        if planned(plan, tree, &path)?.is_some_and(|text| text.lines().any(|line| line.starts_with("namespace:"))) {
            for (key, item) in KEEPERS.map(|(key, folder)| (key.to_owned(), folder.to_owned())) {
                plan.edit(&path, Edit::YamlListItem { key, item });
            }
        }
        return Ok(());
    }
    for file in tree.files_below(output)?.iter().filter(|file| file.ends_with("/kustomization.yaml")) {
        if planned(plan, tree, file)?.is_some_and(|text| text.contains("rbac/namespaces/")) {
            return Ok(());
        }
    }
    manifests.retain(|manifest| !manifest.path.starts_with("rbac/namespaces/"));
    Ok(())
}

/// The text of a file of the user after the plan.
fn planned(plan: &Plan, tree: &Tree, path: &str) -> anyhow::Result<Option<String>> {
    let text = tree.read(path)?;
    Ok(match plan.changes.get(path) {
        Some(Change::Scaffold(text)) => Some(text.clone()),
        Some(Change::Edit { edits, .. }) => {
            text.map(|text| edits.iter().fold(text, |text, edit| edit.apply(&text).unwrap_or(text)))
        }
        _ => text,
    })
}

const SERVICE_ACCOUNT: &str = "rbac/service_account.yaml";

/// `true` if there is a service account for the bindings. The service account belongs to the user: it may contain more
/// than the source determines (annotations of clouds, pull secrets), and may be in any file.
fn has_service_account(plan: &Plan, tree: &Tree, output: &str) -> anyhow::Result<bool> {
    let usual = join(output, SERVICE_ACCOUNT);
    if plan.changes.contains_key(&usual) || tree.has(&usual) {
        return Ok(true);
    }
    for path in tree.files_below(output)?.into_iter().filter(|path| path.ends_with(".yaml") || path.ends_with(".yml")) {
        if tree.read(&path)?.is_some_and(|text| text.lines().any(|line| line.trim_end() == "kind: ServiceAccount")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds the manifests to the plan of another command, from the source after that plan. If the source has errors, the
/// manifests do not change; if a file cannot be read, the command fails.
pub fn add_if_sound(plan: &mut Plan, tree: &Tree, options: &ManifestOptions, console: &Console) -> anyhow::Result<()> {
    add_with_crds(plan, tree, options, None, console)
}

/// Like the function above, for a plan that changes no types. `crds` are those of the source, if they are known.
pub fn add_with_crds(
    plan: &mut Plan,
    tree: &Tree,
    options: &ManifestOptions,
    crds: Option<&[CustomResourceDefinition]>,
    console: &Console,
) -> anyhow::Result<()> {
    super::runtime::complete(plan, tree, options.folder, console)?;
    let Some(planned) = planned_tree(plan, tree, options.folder, console)? else { return Ok(()) };
    let choice = Choice { all_or_nothing: false, crds, ..Choice::STATIC };
    match add(plan, &planned, tree, options, &choice, console) {
        Ok(Added { warnings, refused, stuck, .. }) => {
            warn(&warnings, console);
            console.diagnose(&stuck);
            if let Some(refused) = refused {
                let kinds = names(&refused);
                console.warn(&format!("no CRD was generated for {kinds}; run `opctl manifests` to see why"));
            }
        }
        Err(error) if error.is::<SourceErrors>() && !is_unreadable(&error) => console
            .warn("the source has errors, so the manifests were not regenerated; run `opctl manifests` to see them"),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The files after the plan; `None` if the plan has conflicts, which are reported later.
pub fn planned_tree(plan: &Plan, tree: &Tree, folder: &str, console: &Console) -> anyhow::Result<Option<Tree>> {
    let steps = resolve_part(plan, tree, folder, console)?;
    if steps.iter().any(Step::is_conflict) {
        return Ok(None);
    }
    let mut planned = tree.clone();
    for Step { path, verdict, after, .. } in steps {
        match after {
            Some(Content::Text(text)) => planned.lay_over(path, text),
            // No manifest depends on a binary file.
            Some(Content::Bytes(_)) => {}
            None if verdict == Verdict::Remove => planned.hide(path),
            None => {}
        }
    }
    Ok(Some(planned))
}

/// Refuses a plan that makes two kinds compete for a name.
pub fn refuse_taken_names(plan: &Plan, tree: &Tree, folder: &str, console: &Console) -> anyhow::Result<()> {
    let errors = |tree: &Tree| {
        let source = source::read(tree, folder);
        let (crds, _) = emit::crds_and_problems(&source.operator.apis);
        let found = name_conflicts(&source, &crds).into_iter().filter(Diagnostic::is_error);
        found.map(|error| (error.message.clone(), error)).collect::<BTreeMap<_, _>>()
    };
    let Some(planned) = planned_tree(plan, tree, folder, console)? else { return Ok(()) };
    let mut new = errors(&planned);
    if new.is_empty() {
        return Ok(());
    }
    let known = errors(tree);
    new.retain(|message, _| !known.contains_key(message));
    let refusal = |(message, error): (String, Diagnostic)| {
        // The position in a file that the plan creates does not help the user.
        let span = error.span.map(|(span, _)| span).filter(|span| tree.has(&span.file.path));
        let at = span.map(|span| format!(" (at {span})")).unwrap_or_default();
        UserError { message: format!("{message}{at}"), help: error.help }
    };
    Ok(UserErrors(new.into_iter().map(refusal).collect()).settle()?)
}

/// Refuses a project whose manifests cannot be generated. If only single kinds have errors, the manifests of the others
/// can be generated. Returns the CRDs.
///
/// # Errors
///
/// The errors in the source.
pub fn refuse_errors(tree: &Tree, console: &Console) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let project = ProjectFile::read(tree)?;
    let choice = Choice { all_or_nothing: false, ..Choice::STATIC };
    let added = add(&mut Plan::default(), tree, tree, &ManifestOptions::of(Some(&project)), &choice, console)?;
    Ok(added.crds)
}

/// The changes of `opctl manifests` without compiling, or the errors in the source.
pub fn steps(
    tree: &Tree,
    options: &ManifestOptions,
    console: &Console,
) -> anyhow::Result<Result<Vec<Step>, Vec<Diagnostic>>> {
    let mut plan = Plan::default();
    match add(&mut plan, tree, tree, options, &Choice::STATIC, console) {
        Ok(Added { stuck, .. }) => {
            let mut steps = resolve_part(&plan, tree, "", console)?;
            for (span, _) in stuck.into_iter().filter_map(|error| error.span) {
                let path = span.file.path.clone();
                steps.push(Step { path, vendored: None, verdict: Verdict::Update, before: None, after: None });
            }
            Ok(Ok(steps))
        }
        Err(error) => Ok(Err(error.downcast::<SourceErrors>()?.diagnostics)),
    }
}

/// Adds conversions to the CRDs, and returns the problems with CRDs, conversions and the source. Kinds that the API
/// server would reject are moved to `refused`, unless the choice is all or nothing.
fn check(Found { source, crds, refused }: &mut Found, choice: &Choice) -> Vec<Diagnostic> {
    let mut diagnostics = source.diagnostics.clone();
    if !choice.reads_types() {
        return diagnostics;
    }
    diagnostics.extend(emit::convert(crds, &source.operator));
    let findings = crds.iter().zip(threads::map(crds, apiserver::check));
    let mut findings: Vec<_> = findings.flat_map(|(crd, found)| found.into_iter().map(move |it| (crd, it))).collect();
    findings.extend(names_together(crds));
    for (crd, lossy) in crds.iter().filter_map(|crd| Some((crd, loses_fields(crd)?))) {
        // The loss of fields is worse than OP022 about the same kind, and replaces it.
        let kind = format!("`{}` ", crd.spec.names.kind);
        diagnostics.retain(|it| it.code != OP022 || !it.message.starts_with(&kind));
        findings.push((crd, lossy));
    }
    let mut rejected = BTreeSet::new();
    let mut why = Vec::new();
    for (crd, found) in located(source, findings) {
        if found.is_error() && !choice.all_or_nothing {
            rejected.insert(engine::kind_of(crd));
            why.push(found);
        } else {
            diagnostics.push(found);
        }
    }
    if !rejected.is_empty() {
        crds.retain(|crd| !rejected.contains(&engine::kind_of(crd)));
        let refused = refused.get_or_insert_default();
        refused.kinds.extend(rejected.into_iter().map(Some));
        refused.why.diagnostics.extend(why);
    }
    diagnostics
}

/// The names of these CRDs that the API server would not accept, at the arguments in the source.
pub fn name_conflicts(source: &Source, crds: &[CustomResourceDefinition]) -> Vec<Diagnostic> {
    located(source, names_together(crds)).into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

fn names_together(crds: &[CustomResourceDefinition]) -> Vec<(&CustomResourceDefinition, Finding)> {
    apiserver::check_together(crds).into_iter().map(|(index, finding)| (&crds[index], finding)).collect()
}

/// Findings about CRDs as diagnostics at the types that declare them: the type of the stored version, unless the
/// finding is about another version.
pub fn located<'c>(
    source: &Source,
    findings: Vec<(&'c CustomResourceDefinition, Finding)>,
) -> Vec<(&'c CustomResourceDefinition, Diagnostic)> {
    let declared = findings.iter().map(|(CustomResourceDefinition { spec, .. }, finding)| {
        let is_of_kind = |api: &&Api| (&api.group, &api.plural) == (&spec.group, &spec.names.plural);
        let mut apis = source.operator.apis.iter().filter(is_of_kind);
        let stored = spec.versions.iter().find(|version| version.storage).map(|version| &version.name);
        match (&finding.version, stored) {
            (Some(version), _) => apis.find(|api| api.version == *version),
            (None, Some(stored)) if apis.clone().any(|api| api.version == *stored) => {
                apis.find(|api| api.version == *stored)
            }
            (None, _) => apis.next(),
        }
    });
    let declared: Vec<Option<&Api>> = declared.collect();
    let places = declared.iter().zip(&findings).filter_map(|(api, (_, finding))| Some(((*api)?, &finding.location)));
    let mut places = source.locate(&places.collect::<Vec<_>>()).into_iter();
    let found = declared.into_iter().zip(findings).map(|(api, (crd, finding))| {
        let span = api.and_then(|_| places.next());
        let names = &crd.spec.names;
        (crd, to_diagnostic(finding, span, || format!("{}.{}", names.plural, crd.spec.group)))
    });
    found.collect()
}

/// A finding if fields would be lost: without a conversion, this happens to a field that only some versions have.
fn loses_fields(crd: &CustomResourceDefinition) -> Option<Finding> {
    let is_converted = crd.spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook");
    if is_converted || crd.spec.versions.len() < 2 {
        return None;
    }
    let spec = serde_json::to_value(&crd.spec).expect("a CRD is JSON");
    let (version, field) = compat::lost_fields(&spec).into_iter().next()?;
    let stored = crd.spec.versions.iter().find(|version| version.storage).map_or("", |version| &version.name);
    let message = format!(
        "objects lose `{field}`: they are stored as `{stored}`, which does not have it, and no webhook converts it"
    );
    let help = [
        "`opctl create webhook --conversion` creates a webhook that converts".to_owned(),
        format!("or add the field to `{stored}`, or stop serving `{version}`: `#[kube(served = false)]`"),
    ];
    let (location, help) = (CrdLocation::Kind, help.into());
    Some(Finding { severity: Severity::Error, code: OP601, message, version: Some(version), location, help })
}

/// A finding of the API server, at its span in the source. Compiled types have none, so the message names their CRD.
fn to_diagnostic(finding: Finding, span: Option<Span>, name: impl FnOnce() -> String) -> Diagnostic {
    let message = match span {
        Some(_) => finding.message,
        None => format!("in the CRD `{}` of the compiled types: {}", name(), finding.message),
    };
    Diagnostic {
        severity: finding.severity,
        code: finding.code,
        message,
        span: span.map(|span| (span, String::new())),
        help: finding.help,
    }
}

/// A summary of the markers, files and types that were read.
fn read(source: &Source) -> String {
    let (markers, files) = source.markers;
    let Account { found, written, refused, left_out, elsewhere } = source.account;
    let markers = format!("{} read from {}", counted(markers, "marker"), counted(files, "file"));
    format!(
        "{markers}; {}: {written} derived, {refused} refused, {left_out} left out by a `cfg`, {elsewhere} of other projects",
        counted(found, "kind")
    )
}

/// The existing files of the chosen parts below the output folder that opctl generated before, but no longer generates.
fn ours(tree: &Tree, output: &str, choice: &Choice, generated: &BTreeSet<String>) -> anyhow::Result<BTreeSet<String>> {
    let mut ours = BTreeSet::new();
    for folder in ["crd", "rbac", "webhook"] {
        for path in tree.files_below(&join(output, folder))? {
            let below = path.strip_prefix(output).unwrap_or(&path).trim_start_matches('/');
            let is_ours = path.ends_with(".yaml")
                && choice.wants(part_of(below))
                && !generated.contains(&path)
                && tree.read(&path)?.is_some_and(|text| emit::is_generated(&text));
            if is_ours {
                ours.insert(path);
            }
        }
    }
    Ok(ours)
}

/// Shows warnings about the source, which do not stop the command.
fn warn(diagnostics: &[Diagnostic], console: &Console) {
    if console.verbosity > Verbosity::Quiet {
        console.diagnose(diagnostics);
    }
}

/// Like [`crate_at`], but for a comparison, which writes nothing and needs no project: it falls back to the crate
/// around the current folder.
pub fn crate_for(path: Option<&Path>, compares: bool, command: &str) -> anyhow::Result<PathBuf> {
    let current = std::env::current_dir().ok().filter(|current| compares && root_above(current).is_err());
    let around =
        current.and_then(|it| Some(it.ancestors().find(|above| above.join("Cargo.toml").is_file())?.to_owned()));
    crate_at(path.or(around.as_deref()), command)
}

/// The crate to work on: the one at the path, or the crate of the project around the current folder.
pub fn crate_at(path: Option<&Path>, command: &str) -> anyhow::Result<PathBuf> {
    let Some(path) = path else {
        let current = std::env::current_dir().context("cannot determine the current folder")?;
        let root = root_above(&current);
        if root.is_err() && current.join("Cargo.toml").is_file() {
            let refusal = UserError::new(format!("no PROJECT file in `{}` or above", current.display()))
                .help(format!("for a crate that opctl did not make, run `opctl {command} --path .`"));
            return Err(adoptable(&current).into_iter().fold(refusal, UserError::help).into());
        }
        return Ok(root?);
    };
    let has = |name| path.join(name).symlink_metadata().is_ok();
    if !has("Cargo.toml") && !has(PROJECT) {
        return Err(UserError::new(format!("no Cargo.toml in `{}`", path.display()))
            .help(format!("give the folder of a crate: `opctl {command} --path DIR`"))
            .into());
    }
    path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))
}

/// The output folder of the manifests: in the crate's folder, or at an absolute path elsewhere.
struct Output {
    root: PathBuf,
    /// Relative to the root.
    folder: String,
}

impl Output {
    fn of(text: &str, crate_root: &Path) -> Result<Self, UserError> {
        let components = Path::new(text).components().filter(|part| *part != Component::CurDir);
        let parts: Option<Vec<&str>> = components
            .map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        match parts {
            Some(parts) => Ok(Self { root: crate_root.to_owned(), folder: parts.join("/") }),
            None if Path::new(text).is_absolute() => Ok(Self { root: text.into(), folder: String::new() }),
            None => Err(UserError::new(format!("the output folder `{text}` is outside the crate"))
                .help("give a folder below the crate's, or the full path of another one")),
        }
    }
}
