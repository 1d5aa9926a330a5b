//! `opctl manifests`: regenerates the manifests that are derived from the Rust source.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::allow::{ReportedBy, without_allowed};
use super::engine::{self, Choice, Engine, Found, Part};
use super::error::{Diagnosed, Refusal};
use super::message_format::MessageArgs;
use super::{
    Console, Next, Outcome, Task, carry_out, conflicts, console::Verbosity, counted, lock, resolve, resolve_part,
};
use crate::apiserver::{self, Finding};
use crate::compiled;
use crate::diagnostic::{Diagnostic, Span};
use crate::edit::Edit;
use crate::emit::{self, CustomResourceDefinition, Manifest};
use crate::model::Api;
use crate::names::Namespace;
use crate::plan::{self, Change, Plan, Step};
use crate::project::{Descriptions, PROJECT, ProjectError, ProjectFile, Tree, join, root_above};

/// Regenerate config/crd, config/rbac and config/webhook from the Rust source
///
/// The source is parsed, not compiled, so this works even if the code does not build. Generated files that are no longer
/// needed are removed; your own files are never touched.
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

    /// How to derive CRDs: from source (static), from compiled types (cargo), or compiling only what source cannot give (auto)
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t)]
    pub engine: Engine,

    /// The binary that prints the CRDs of the compiled types; also found as PACKAGE-NAME
    #[arg(long, value_name = "NAME", default_value = "crdgen")]
    pub crdgen_bin: String,

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

    #[command(flatten)]
    pub messages: MessageArgs,
}

/// Where manifests are generated from and written to, and the settings of PROJECT for them.
pub struct ManifestOptions<'a> {
    /// The crate's folder, from the source tree's root.
    pub folder: &'a str,
    /// The folder of `crd`, `rbac` and `webhook`, from the root of the tree that is written to.
    pub output: &'a str,
    pub namespaced: bool,
    pub namespaces: &'a [Namespace],
    pub descriptions: Descriptions,
}

impl<'a> ManifestOptions<'a> {
    /// From the project's own crate to its `config`, as PROJECT says, if there is one.
    pub fn of(project: Option<&'a ProjectFile>) -> Self {
        Self {
            folder: "",
            output: "config",
            namespaced: project.is_some_and(|project| project.namespaced),
            namespaces: project.map(|project| &project.namespaces[..]).unwrap_or_default(),
            descriptions: project.map(|project| project.descriptions).unwrap_or_default(),
        }
    }
}

pub fn run(args: &ManifestsArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = crate_at(args.path.as_deref(), "manifests")?;
    args.messages.run(&root, console, |console| run_in(args, &root, console))
}

fn run_in(args: &ManifestsArgs, root: &Path, console: &Console) -> anyhow::Result<Outcome> {
    let output = Output::of(&args.output, root)?;
    let _lock = lock(&output.root, console)?;
    let tree = super::tree(root);
    let project = match ProjectFile::read(&tree) {
        Ok(project) => Some(project),
        // Any kube-rs crate has manifests, also one that opctl did not scaffold.
        Err(ProjectError::Missing(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let mut options = ManifestOptions { output: &output.folder, ..ManifestOptions::of(project.as_ref()) };
    options.descriptions.max = args.max_description.or(options.descriptions.max);
    options.descriptions.foreign &= !args.no_foreign_descriptions;
    let mut plan = Plan::default();
    let target = Tree::at(&output.root);
    let choice = Choice { engine: args.engine, binary: &args.crdgen_bin, only: &args.only };
    let warnings = add(&mut plan, &tree, &target, &options, &choice, console)?;
    warn(&warnings, console);
    let mut next = Vec::new();
    let crds = join(&output.folder, "crd/bases/");
    let has_crds = plan.changes.keys().any(|path| path.starts_with(&crds));
    if has_crds && tree.has("Makefile") && output.root == *root {
        next.push(Next::new("make install", "installs the CRDs in the cluster of KUBECONFIG"));
    }
    carry_out(&Task { again: "run `opctl manifests`", tree: &target, folder: "", plan, next }, console)
}

/// Brings the manifests of the project at `root` up to date, whatever warnings there are; gives the files that changed.
pub fn regenerate(root: &Path, console: &Console) -> anyhow::Result<Vec<String>> {
    let _lock = lock(root, console)?;
    let tree = super::tree(root);
    let project = ProjectFile::read(&tree)?;
    let mut plan = Plan::default();
    let choice = Choice { engine: Engine::Auto, binary: "crdgen", only: &[] };
    add(&mut plan, &tree, &tree, &ManifestOptions::of(Some(&project)), &choice, console)?;
    let steps = resolve(&plan, &tree, "", console)?;
    conflicts(&steps).settle()?;
    plan::apply(root, &steps, &[])?;
    Ok(steps.into_iter().filter(|step| !step.is_unchanged()).map(|step| step.path).collect())
}

/// Adds the manifests of the source to the plan, and removes those whose source is gone. Gives the warnings. What is wrong
/// with the source is a [`Diagnosed`], and the plan stays as it was.
fn add(
    plan: &mut Plan,
    source: &Tree,
    target: &Tree,
    options: &ManifestOptions,
    choice: &Choice,
    console: &Console,
) -> anyhow::Result<Vec<Diagnostic>> {
    let mut found = engine::find(source, options, choice, console)?;
    if console.verbosity == Verbosity::Verbose {
        console.note(&read(found.source.markers));
    }
    if let Some(max) = options.descriptions.max {
        emit::shorten_descriptions(&mut found.crds, max);
    }
    if options.namespaced && !choice.wants(Part::Crd) {
        found.crds = written(target, options.output)?;
    }
    let (mut manifests, diagnostics) = match manifests(&mut found, options, choice) {
        (Some(manifests), diagnostics) => (manifests, diagnostics),
        (None, diagnostics) => return Err(Diagnosed::from(diagnostics).into()),
    };
    if choice.wants(Part::Rbac) {
        keep_in_place(plan, &mut manifests, target, options)?;
    }
    let mut stale = ours(target, options.output, choice)?;
    for manifest in manifests.into_iter().filter(|manifest| choice.wants(part_of(&manifest.path))) {
        let path = join(options.output, &manifest.path);
        stale.remove(&path);
        plan.generate(path, manifest.text);
    }
    stale.into_iter().for_each(|path| plan.prune(path));
    if choice.wants(Part::Rbac) && !has_service_account(plan, target, options.output)? {
        plan.scaffold(join(options.output, SERVICE_ACCOUNT), emit::service_account());
    }
    Ok(diagnostics)
}

/// The CRDs as they are: where types are not read, they show which kinds are in no namespace.
fn written(tree: &Tree, output: &str) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let mut crds = Vec::new();
    for path in tree.files_below(&join(output, "crd/bases")) {
        let text = tree.read(&path)?.unwrap_or_default();
        // A file that cannot be read tells nothing here, and is reported by `opctl check`.
        crds.extend(compiled::documents::read(&text, &path).unwrap_or_default());
    }
    Ok(crds)
}

/// The part that a generated file belongs to, by its path below the output folder.
fn part_of(path: &str) -> Part {
    // The roles for people follow from the CRDs, those of the operator from markers.
    match path.split('/').next() {
        Some("webhook") => Part::Webhook,
        Some("rbac") if !path.starts_with("rbac/kinds/") => Part::Rbac,
        _ => Part::Crd,
    }
}

/// The folders that keep Roles in other namespaces from being moved, and the keys that list them in `default/kustomization.yaml`.
pub const KEEPERS: [(&str, &str); 2] =
    [("components", "../rbac/namespaces/before"), ("transformers", "../rbac/namespaces/after")];

/// Has `default/kustomization.yaml` list these folders if there are such Roles and it sets a namespace. Without such Roles the folders
/// are left out, unless a kustomization lists them: it would fail without.
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
    for file in tree.files_below(output).iter().filter(|file| file.ends_with("/kustomization.yaml")) {
        if planned(plan, tree, file)?.is_some_and(|text| text.contains("rbac/namespaces/")) {
            return Ok(());
        }
    }
    manifests.retain(|manifest| !manifest.path.starts_with("rbac/namespaces/"));
    Ok(())
}

/// The text of the user's file once the plan is carried out.
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

/// Whether the bindings have somebody to bind. The service account is the user's: there is more to say about it than source
/// tells (annotations of clouds, pull secrets), and it may stand in any file.
fn has_service_account(plan: &Plan, tree: &Tree, output: &str) -> anyhow::Result<bool> {
    let usual = join(output, SERVICE_ACCOUNT);
    if plan.changes.contains_key(&usual) || tree.has(&usual) {
        return Ok(true);
    }
    for path in tree.files_below(output).into_iter().filter(|path| path.ends_with(".yaml") || path.ends_with(".yml")) {
        if tree.read(&path)?.is_some_and(|text| text.lines().any(|line| line.trim_end() == "kind: ServiceAccount")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same for a command that is about something else, from the source as it will be once its plan is carried out.
/// While the source has errors the manifests stay as they are.
pub fn add_if_sound(plan: &mut Plan, tree: &Tree, options: &ManifestOptions, console: &Console) -> anyhow::Result<()> {
    let steps = resolve_part(plan, tree, options.folder, console)?;
    if steps.iter().any(Step::is_conflict) {
        // Nothing will be written: the conflicts are reported when the plan is carried out.
        return Ok(());
    }
    let mut planned = tree.clone();
    for Step { path, after, .. } in steps {
        if let Some(text) = after {
            planned.lay_over(path, text);
        }
    }
    match add(plan, &planned, tree, options, &Choice::STATIC, console) {
        Ok(warnings) => warn(&warnings, console),
        Err(error) if error.is::<Diagnosed>() => console
            .warn("the source has errors, so the manifests were not regenerated; run `opctl manifests` to see them"),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// What `opctl manifests` would do to the files if nothing were compiled, or what is wrong with the source.
pub fn steps(
    tree: &Tree,
    options: &ManifestOptions,
    console: &Console,
) -> anyhow::Result<Result<Vec<Step>, Vec<Diagnostic>>> {
    let mut plan = Plan::default();
    match add(&mut plan, tree, tree, options, &Choice::STATIC, console) {
        Ok(_) => Ok(Ok(resolve_part(&plan, tree, "", console)?)),
        Err(error) => Ok(Err(error.downcast::<Diagnosed>()?.diagnostics)),
    }
}

/// The manifests, unless there are errors, and all diagnostics about them.
fn manifests(
    Found { source, crds }: &mut Found,
    options: &ManifestOptions,
    choice: &Choice,
) -> (Option<Vec<Manifest>>, Vec<Diagnostic>) {
    let mut diagnostics = source.diagnostics.clone();
    if choice.wants(Part::Crd) {
        diagnostics.extend(emit::convert(crds, &source.operator));
    }
    let checked = if choice.wants(Part::Crd) { &crds[..] } else { &[] };
    let findings: Vec<_> =
        checked.iter().flat_map(|crd| apiserver::check(crd).into_iter().map(move |it| (crd, it))).collect();
    let declared = findings.iter().map(|(CustomResourceDefinition { spec, .. }, finding)| {
        source.operator.apis.iter().find(|api| {
            (&api.group, &api.plural) == (&spec.group, &spec.names.plural)
                && finding.version.as_ref().is_none_or(|version| *version == api.version)
        })
    });
    let declared: Vec<Option<&Api>> = declared.collect();
    let places = declared.iter().zip(&findings).filter_map(|(api, (_, finding))| Some(((*api)?, &finding.location)));
    let mut places = source.locate(&places.collect::<Vec<_>>()).into_iter();
    for (api, (CustomResourceDefinition { spec, .. }, finding)) in declared.into_iter().zip(findings) {
        let span = api.and_then(|_| places.next());
        diagnostics.push(to_diagnostic(finding, span, || format!("{}.{}", spec.names.plural, spec.group)));
    }
    let mut manifests = Vec::new();
    let emit_options = emit::Options { namespaced: options.namespaced, namespaces: options.namespaces.to_vec() };
    for part in [emit::manifests(crds, &source.operator.rbac, &emit_options), emit::webhooks(&source.operator)] {
        match part {
            Ok(mut part) => manifests.append(&mut part),
            Err(mut errors) => diagnostics.append(&mut errors),
        }
    }
    let is_sound = diagnostics.iter().all(|diagnostic| !diagnostic.is_error());
    // What comes from the compiled types has no place where it could be allowed.
    let is_whole = !source.operator.apis.is_empty() && source.operator.underivable.is_empty();
    let diagnostics =
        without_allowed(diagnostics, &source.operator.allows, is_whole.then_some(ReportedBy::OtherCommands));
    (is_sound.then_some(manifests), diagnostics)
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

/// How much was read.
fn read((markers, files): (usize, usize)) -> String {
    format!("{} read from {}", counted(markers, "marker"), counted(files, "file"))
}

/// The files below the output folder that opctl generated, of the chosen parts.
fn ours(tree: &Tree, output: &str, choice: &Choice) -> anyhow::Result<BTreeSet<String>> {
    let mut ours = BTreeSet::new();
    for folder in ["crd", "rbac", "webhook"] {
        for path in tree.files_below(&join(output, folder)) {
            let below = path.strip_prefix(output).unwrap_or(&path).trim_start_matches('/');
            let generated = path.ends_with(".yaml")
                && choice.wants(part_of(below))
                && tree.read(&path)?.is_some_and(|text| text.lines().next() == Some(emit::HEADER));
            if generated {
                ours.insert(path);
            }
        }
    }
    Ok(ours)
}

/// Shows warnings about the source, which do not stop anything.
fn warn(diagnostics: &[Diagnostic], console: &Console) {
    if console.verbosity > Verbosity::Quiet {
        console.diagnose(diagnostics);
    }
}

/// The crate to work on: the one at the path, or that of the project around the current folder.
pub fn crate_at(path: Option<&Path>, command: &str) -> anyhow::Result<PathBuf> {
    let Some(path) = path else {
        let current = std::env::current_dir().context("cannot determine the current folder")?;
        let root = root_above(&current);
        if root.is_err() && current.join("Cargo.toml").is_file() {
            return Err(Refusal::new(format!("no PROJECT file in `{}` or above", current.display()))
                .help(format!("for a crate that opctl did not make, run `opctl {command} --path .`"))
                .into());
        }
        return Ok(root?);
    };
    let has = |name| path.join(name).is_file();
    if !has("Cargo.toml") && !has(PROJECT) {
        return Err(Refusal::new(format!("no Cargo.toml in `{}`", path.display()))
            .help(format!("give the folder of a crate: `opctl {command} --path DIR`"))
            .into());
    }
    path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))
}

/// The folder that the manifests go to: the crate's own or one below it, or any other, as an absolute path.
struct Output {
    root: PathBuf,
    /// From the root.
    folder: String,
}

impl Output {
    fn of(text: &str, crate_root: &Path) -> Result<Self, Refusal> {
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
            None => Err(Refusal::new(format!("the output folder `{text}` is outside the crate"))
                .help("give a folder below the crate's, or the full path of another one")),
        }
    }
}
