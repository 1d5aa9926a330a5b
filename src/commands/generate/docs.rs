//! `opctl generate docs`: the reference of the operator's API, and JSON schemas.

use clap::Args;

use super::super::{Console, Outcome, Task, carry_out, lock, project_folder, tree};
use crate::error::UserError;
use crate::places;
use crate::reference::{self, Sample};
use opctl_edit::plan::Plan;
use opctl_model::project::{ProjectFile, Tree, join};
use opctl_source::emit;

/// Generate the reference of the API, and JSON schemas
///
/// The reference has the fields of each kind with their types, defaults, rules and Rust docs, and the samples: as Markdown (README.md) and
/// as a web page (index.html). The JSON schemas are for editors (`yaml-language-server`) and for kubeconform.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl generate docs

  # In CI: fail if they are out of date
  opctl generate docs --check

  # Validate manifests without a cluster
  kubeconform -schema-location default -schema-location 'docs/api/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' FILE")]
pub struct DocsArgs {
    /// The folder for the files
    #[arg(long, value_name = "DIR", default_value = "docs/api")]
    pub output_dir: String,
}

pub fn run(args: &DocsArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let project = ProjectFile::read(&tree)?;
    let name = project.name.to_string();
    let crds = places::crds(&tree, &project.crds)?;
    let apis = reference::apis(&crds.into_iter().map(|kept| kept.crd).collect::<Vec<_>>());
    if apis.is_empty() {
        let paths: Vec<String> = project.crds.iter().map(|path| format!("`{path}`")).collect();
        return Err(UserError::new(format!("there is no CRD in {}", paths.join(" or ")))
            .help("`opctl create api` adds a kind, `opctl manifests` regenerates the CRDs")
            .into());
    }
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
    carry_out(&Task { again: "run `opctl generate docs`", tree: &tree, folder: "", plan, next: Vec::new() }, console)
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
