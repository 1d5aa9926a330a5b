//! `opctl generate docs`: generates the reference of the operator's API, and JSON schemas.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::super::manifests::crate_for;
use super::super::{Console, Outcome, Task, carry_out, lock, tree};
use crate::error::UserError;
use crate::kinds::{Crd, Kinds};
use crate::places;
use opctl_edit::plan::Plan;
use opctl_model::counted;
use opctl_model::project::{ProjectError, ProjectFile, Tree, join};
use opctl_reference::{self as reference, Sample};
use opctl_source::dependencies;
use opctl_source::emit;

/// Generate the reference of the API, and JSON schemas
///
/// The reference has the fields of each kind with their types, defaults, rules and Rust docs, and the samples: as
/// Markdown (README.md) and as a web page (index.html). The JSON schemas are for editors (`yaml-language-server`) and
/// for kubeconform.
///
/// Works in any kube-rs crate: the CRDs are derived from the source, and for kube below 2 or types that opctl cannot
/// derive, those that are checked in are used.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl generate docs

  # In CI: fail if they are out of date
  opctl generate docs --check

  # In any kube-rs crate, from the CRDs of its chart
  opctl generate docs --crds charts/operator/crds

  # Validate manifests without a cluster
  kubeconform -schema-location default -schema-location 'docs/api/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' FILE")]
pub struct DocsArgs {
    /// The folder for the files
    #[arg(long, value_name = "DIR", default_value = "docs/api")]
    pub output_dir: String,

    /// The folder of a crate [default: the project or the crate around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    /// Use the CRDs in a file, folder or Helm chart
    /// [default: config/crd/bases; in a crate without PROJECT, those of the source, and else copies anywhere in the crate]
    #[arg(long, value_name = "PATH")]
    pub crds: Option<PathBuf>,
}

pub fn run(args: &DocsArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = crate_for(args.path.as_deref(), true, "generate docs")?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let (name, crds, unknown) = match ProjectFile::read(&tree) {
        Ok(project) if args.crds.is_none() => {
            let crds = crds(&tree, &project)?;
            (project.name.to_string(), crds, Vec::new())
        }
        Ok(project) => crds_of_crate(&tree, project.name.to_string(), args.crds.as_deref())?,
        Err(ProjectError::Missing(_)) => {
            let package =
                dependencies::read(&tree, "").ok().and_then(|packages| Some(packages.first()?.package.clone()));
            let folder = || root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            crds_of_crate(&tree, package.unwrap_or_else(folder), args.crds.as_deref())?
        }
        Err(error) => return Err(error.into()),
    };
    let apis = reference::apis(&crds);
    let samples = samples(&tree)?;
    let header = format!("{}`opctl generate docs` makes it of the CRDs.", emit::OURS);
    let comment = format!("<!-- {} -->\n", header.trim_start_matches("# "));
    let markdown = reference::markdown(&name, &apis, &samples);
    let folder = args.output_dir.trim_end_matches('/');
    let mut plan = Plan::default();
    plan.generate(join(folder, "README.md"), format!("{comment}\n{markdown}"));
    plan.generate(join(folder, "index.html"), format!("{comment}{}", reference::html(&name, &markdown)));
    for (path, text) in reference::json_schemas(&apis, &header) {
        plan.generate(join(folder, &format!("schemas/{path}")), text);
    }
    for path in tree.files_below(&join(folder, "schemas"))? {
        if !plan.changes.contains_key(&path) {
            plan.prune(path);
        }
    }
    let task = Task { again: "run `opctl generate docs`", tree: &tree, folder: "", plan, next: Vec::new() };
    let outcome = carry_out(&task, console)?;
    match unknown.into_iter().next() {
        Some(missing) => {
            console.error(&missing);
            Ok(Outcome::Problems)
        }
        None => Ok(outcome),
    }
}

/// The CRDs of a project, from the files listed in PROJECT.
fn crds(tree: &Tree, project: &ProjectFile) -> anyhow::Result<Vec<Value>> {
    let crds: Vec<Value> = places::crds(tree, &project.crds)?.into_iter().map(|kept| kept.crd).collect();
    if crds.is_empty() {
        let paths: Vec<String> = project.crds.iter().map(|path| format!("`{path}`")).collect();
        return Err(UserError::new(format!("there is no CRD in {}", paths.join(" or ")))
            .help("`opctl create api` adds a kind, `opctl manifests` regenerates the CRDs")
            .into());
    }
    Ok(crds)
}

/// The CRDs of a crate, and an error for the kinds without one.
fn crds_of_crate(
    tree: &Tree,
    name: String,
    copies: Option<&Path>,
) -> anyhow::Result<(String, Vec<Value>, Vec<UserError>)> {
    let read = Kinds::read(tree, copies)?;
    if read.kinds.is_empty() {
        return Err(UserError::new("the crate declares no kind")
            .help("give the folder of another crate: `opctl generate docs --path DIR`")
            .into());
    }
    let unknown = missing(&read);
    let crds = read.kinds.into_iter().filter_map(|kind| match kind.crd {
        Crd::Derived(crd) | Crd::Copy(crd, _) => Some(crd),
        Crd::Unknown => None,
    });
    let crds: Vec<Value> = crds.collect();
    match unknown {
        Some(error) if crds.is_empty() => Err(error.into()),
        unknown => Ok((name, crds, unknown.into_iter().collect())),
    }
}

/// An error for the kinds without a CRD, with the reasons and possible fixes.
fn missing(read: &Kinds) -> Option<UserError> {
    let unknown = read.unknown();
    if unknown.is_empty() {
        return None;
    }
    let names: Vec<String> = unknown.iter().map(|kind| format!("`{}`", kind.name())).collect();
    let crd = if unknown.len() == 1 { "CRD" } else { "CRDs" };
    let mut error = UserError::new(format!("no {crd} found for {}", names.join(", ")));
    if let Some(reason) = read.reasons.first() {
        let more = match read.reasons.len() - 1 {
            0 => String::new(),
            more => format!("; {} by `opctl manifests --path DIR`", counted(more, "more reason")),
        };
        error = error.help(format!("opctl cannot derive them: {}{more}", reason.message));
    }
    error = read.unused_copies.iter().fold(error, |error, why| error.help(why.clone()));
    Some(error.help(format!(
        "write the {crd} to a file or folder with the program of the crate, or with `opctl manifests --path DIR --engine cargo`, then repeat \
         the command with `--crds PATH`"
    )))
}

fn samples(tree: &Tree) -> anyhow::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let is_yaml = |path: &String| path.ends_with(".yaml") || path.ends_with(".yml");
    for path in tree.files_below("config/samples")?.into_iter().filter(is_yaml) {
        let read = reference::samples(&tree.read(&path)?.unwrap_or_default());
        samples
            .extend(read.map_err(|error| UserError::new(format!("cannot read `{path}`: {error}")).help("correct it"))?);
    }
    Ok(samples)
}
