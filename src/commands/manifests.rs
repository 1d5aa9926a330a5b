//! `opctl manifests`: regenerates what follows from the Rust source.

use std::path::Path;

use anyhow::Context;

use super::error::{Diagnosed, Refusal};
use super::{Console, Outcome, Task, carry_out, console::Verbosity, lock, resolve_part};
use crate::cli::Manifests;
use crate::diagnostic::{self, Diagnostic};
use crate::plan::{Plan, Verdict};
use crate::project::{PROJECT, ProjectError, ProjectFile, Tree, root_above};
use crate::{emit, source};

/// Where manifests are made from and go to.
pub struct Place<'a> {
    /// The crate's folder, from the tree's root.
    pub folder: &'a str,
    /// The folder of `crd` and `rbac`, from the crate's.
    pub output: &'a str,
    pub namespaced: bool,
}

pub fn run(args: &Manifests, console: &Console) -> anyhow::Result<Outcome> {
    let root = match &args.path {
        Some(path) => crate_at(path)?,
        None => root_above(&std::env::current_dir().context("cannot tell the current folder")?)?,
    };
    let _lock = lock(&root, console)?;
    let tree = Tree::at(&root);
    let namespaced = match ProjectFile::read(&tree) {
        Ok(project) => project.namespaced,
        // Any kube-rs crate has manifests, also one that opctl did not scaffold.
        Err(ProjectError::Missing(_)) => false,
        Err(error) => return Err(error.into()),
    };
    let output = output(&args.output)?;
    let mut plan = Plan::default();
    let place = Place { folder: "", output: &output, namespaced };
    let diagnostics = add(&mut plan, &tree, &place, console)?.map_err(Diagnosed)?;
    warn(&diagnostics, console);
    if plan.changes.is_empty() {
        console.say("no custom resource and no RBAC marker in the source: there is nothing to generate");
        return Ok(Outcome::Done);
    }
    let next = format!("next: `kubectl diff -k {output}/crd` shows what would change in a cluster");
    carry_out(&Task { command: "opctl manifests", tree: &tree, folder: "", plan, next }, console)
}

/// Adds to the plan the manifests of the source as it will be once the plan is carried out, and removes those whose
/// source is gone. Gives the warnings; or what is wrong with the source, and the plan as it was.
pub fn add(
    plan: &mut Plan,
    tree: &Tree,
    place: &Place,
    console: &Console,
) -> anyhow::Result<Result<Vec<Diagnostic>, Vec<Diagnostic>>> {
    let mut planned = tree.clone();
    for step in resolve_part(plan, tree, place.folder, console)? {
        if let (Verdict::Create | Verdict::Update, Some(text)) = (step.verdict, step.after) {
            planned.lay_over(step.path, text);
        }
    }
    let (operator, diagnostics) = source::read(&planned, place.folder);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(Err(diagnostics));
    }
    let manifests = match emit::manifests(&operator, &emit::Options { namespaced: place.namespaced }) {
        Ok(manifests) => manifests,
        Err(errors) => return Ok(Err(diagnostics.into_iter().chain(errors).collect())),
    };
    let output = join(place.folder, place.output);
    let mut stale = ours(&planned, &output)?;
    for manifest in manifests {
        let path = join(&output, &manifest.path);
        stale.retain(|ours| *ours != path);
        plan.generate(path, manifest.text);
    }
    stale.into_iter().for_each(|path| plan.prune(path));
    Ok(Ok(diagnostics))
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
pub fn warn(diagnostics: &[Diagnostic], console: &Console) {
    if console.verbosity > Verbosity::Quiet {
        console.tell(&diagnostic::render(diagnostics, true));
    }
}

fn crate_at(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    let has = |name| path.join(name).is_file();
    if !has("Cargo.toml") && !has(PROJECT) {
        return Err(Refusal::new(format!("no Cargo.toml in `{}`", path.display()))
            .help("give the folder of a crate: `opctl manifests --path DIR`")
            .into());
    }
    path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))
}

/// The output folder as a path of the plan: relative, with `/`, inside the crate.
fn output(text: &str) -> Result<String, Refusal> {
    let path = Path::new(text);
    let parts: Option<Vec<&str>> = path
        .components()
        .filter(|part| *part != std::path::Component::CurDir)
        .map(|part| match part {
            std::path::Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    match parts {
        Some(parts) => Ok(parts.join("/")),
        None => Err(Refusal::new(format!("the output folder `{text}` is outside the crate"))
            .help("give a folder below the crate's: opctl never writes outside of it")),
    }
}

/// `a` + `b` → `a/b`; an empty part is no part.
pub fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.is_empty() { format!("{folder}{path}") } else { format!("{folder}/{path}") }
}
