//! `opctl manifests`: regenerates what follows from the Rust source.

use std::path::{Component, Path, PathBuf};

use anyhow::Context;

use super::error::{Diagnosed, Refusal};
use super::{Console, Next, Outcome, Task, carry_out, console::Verbosity, lock, resolve_part};
use crate::apiserver::{self, Finding};
use crate::cli::Manifests;
use crate::diagnostic::{self, Diagnostic};
use crate::emit::{self, Manifest};
use crate::plan::{Plan, Step};
use crate::project::{PROJECT, ProjectError, ProjectFile, Tree, join, root_above};
use crate::source::{self, Source};

/// Where manifests are made from and go to.
pub struct Place<'a> {
    /// The crate's folder, from the source tree's root.
    pub folder: &'a str,
    /// The folder of `crd` and `rbac`, from the root of the tree that is written to.
    pub output: &'a str,
    pub namespaced: bool,
}

pub fn run(args: &Manifests, console: &Console) -> anyhow::Result<Outcome> {
    let root = match &args.path {
        Some(path) => crate_at(path)?,
        None => root_above(&std::env::current_dir().context("cannot tell the current folder")?)?,
    };
    let output = Output::of(&args.output, &root)?;
    let _lock = lock(&output.root, console)?;
    let tree = super::tree(&root);
    let namespaced = match ProjectFile::read(&tree) {
        Ok(project) => project.namespaced,
        // Any kube-rs crate has manifests, also one that opctl did not scaffold.
        Err(ProjectError::Missing(_)) => false,
        Err(error) => return Err(error.into()),
    };
    let mut plan = Plan::default();
    let target = Tree::at(&output.root);
    let place = Place { folder: "", output: &output.folder, namespaced };
    let diagnostics = add(&mut plan, &tree, &target, &place)?.map_err(Diagnosed)?;
    warn(&diagnostics, console);
    let mut next = Vec::new();
    if tree.has("Makefile") && output.root == root {
        next.push(Next::new("make install", "brings the CRDs to the cluster of KUBECONFIG"));
    }
    carry_out(&Task { again: "run `opctl manifests`", tree: &target, folder: "", plan, next }, console)
}

/// Adds the manifests of the source to the plan, and removes those whose source is gone. Gives the warnings; or what is
/// wrong with the source, and the plan as it was.
fn add(
    plan: &mut Plan,
    source: &Tree,
    target: &Tree,
    place: &Place,
) -> anyhow::Result<Result<Vec<Diagnostic>, Vec<Diagnostic>>> {
    let source = source::read(source, place.folder);
    let (manifests, diagnostics) = match manifests(&source, place.namespaced) {
        (Some(manifests), diagnostics) => (manifests, diagnostics),
        (None, diagnostics) => return Ok(Err(diagnostics)),
    };
    let mut stale = ours(target, place.output)?;
    for manifest in manifests {
        let path = join(place.output, &manifest.path);
        stale.retain(|ours| *ours != path);
        plan.generate(path, manifest.text);
    }
    stale.into_iter().for_each(|path| plan.prune(path));
    Ok(Ok(diagnostics))
}

/// The same for a command that is about something else, from the source as it will be once its plan is carried out.
/// While the source has errors the manifests stay as they are.
pub fn add_if_sound(plan: &mut Plan, tree: &Tree, place: &Place, console: &Console) -> anyhow::Result<()> {
    let steps = resolve_part(plan, tree, place.folder, console)?;
    if steps.iter().any(Step::is_conflict) {
        // Nothing will be written: the conflicts are told when the plan is carried out.
        return Ok(());
    }
    let mut planned = tree.clone();
    for Step { path, after, .. } in steps {
        if let Some(text) = after {
            planned.lay_over(path, text);
        }
    }
    match add(plan, &planned, tree, place)? {
        Ok(warnings) => warn(&warnings, console),
        Err(_) => console.warn(
            "the source has errors, so the manifests stay as they are; `opctl manifests` shows what there is to fix",
        ),
    }
    Ok(())
}

/// What the source says as manifests, if it has no errors, and all that is to be said about it.
fn manifests(source: &Source, namespaced: bool) -> (Option<Vec<Manifest>>, Vec<Diagnostic>) {
    let mut diagnostics = source.diagnostics.clone();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return (None, diagnostics);
    }
    let crds = match emit::crds(&source.operator.apis) {
        Ok(crds) => crds,
        Err(errors) => {
            diagnostics.extend(errors);
            return (None, diagnostics);
        }
    };
    for crd in &crds {
        let findings = apiserver::check(crd).into_iter();
        diagnostics.extend(findings.map(|finding| found(source, &crd.spec.group, &crd.spec.names.plural, finding)));
    }
    match emit::manifests(&crds, &source.operator.rbac, &emit::Options { namespaced }) {
        Err(errors) => diagnostics.extend(errors),
        Ok(manifests) if !diagnostics.iter().any(Diagnostic::is_error) => return (Some(manifests), diagnostics),
        Ok(_) => {}
    }
    (None, diagnostics)
}

/// What the API server says to the kind `plural.group`, at its place in the source.
fn found(source: &Source, group: &str, plural: &str, finding: Finding) -> Diagnostic {
    let api = source.operator.apis.iter().find(|api| {
        (api.group.as_str(), api.plural.as_str()) == (group, plural)
            && finding.version.as_ref().is_none_or(|version| *version == api.version)
    });
    let place = source.locate(api.expect("each version of a CRD is an `Api`"), &finding.place);
    Diagnostic {
        severity: finding.severity,
        code: finding.code,
        message: finding.message,
        place: Some((place, String::new())),
        help: finding.help,
    }
}

/// The files below the output folder that opctl generated.
fn ours(tree: &Tree, output: &str) -> anyhow::Result<Vec<String>> {
    let mut ours = Vec::new();
    for folder in ["crd", "rbac"] {
        for path in tree.files_below(&join(output, folder)) {
            let generated = path.ends_with(".yaml")
                && tree.read(&path)?.is_some_and(|text| text.lines().next() == Some(emit::HEADER));
            if generated {
                ours.push(path);
            }
        }
    }
    Ok(ours)
}

/// Shows warnings about the source, which do not stop anything.
fn warn(diagnostics: &[Diagnostic], console: &Console) {
    if console.verbosity > Verbosity::Quiet {
        console.tell(&diagnostic::render(diagnostics, true));
    }
}

fn crate_at(path: &Path) -> anyhow::Result<PathBuf> {
    let has = |name| path.join(name).is_file();
    if !has("Cargo.toml") && !has(PROJECT) {
        return Err(Refusal::new(format!("no Cargo.toml in `{}`", path.display()))
            .help("give the folder of a crate: `opctl manifests --path DIR`")
            .into());
    }
    path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))
}

/// The folder that the manifests go to: the crate's own or one below it, or, said in full, any other.
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
