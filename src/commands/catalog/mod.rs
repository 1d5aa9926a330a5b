//! `opctl catalog`: file-based catalogs of the Operator Lifecycle Manager.

mod add;
mod dockerfile;
mod graph;
mod render;
mod validate;

use std::path::Path;

use clap::Subcommand;

use super::bundle::validate::folder;
use super::{Console, Outcome};
use crate::error::{SourceErrors, UserError};
use opctl_model::project::Tree;
use opctl_olm::bundle::{Bundle, Folder};
use opctl_olm::catalog::Catalog;

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    Render(render::RenderArgs),
    Validate(validate::ValidateArgs),
    Add(add::AddArgs),
    Graph(graph::GraphArgs),
    Dockerfile(dockerfile::DockerfileArgs),
}

pub fn run(command: &CatalogCommand, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        CatalogCommand::Render(args) => render::run(args, console),
        CatalogCommand::Validate(args) => validate::run(args, console),
        CatalogCommand::Add(args) => add::run(args, console),
        CatalogCommand::Graph(args) => graph::run(args, console),
        CatalogCommand::Dockerfile(args) => dockerfile::run(args, console),
    }
}

/// Reads the catalog in a folder.
fn catalog(dir: Option<&Path>, console: &Console) -> anyhow::Result<Catalog> {
    let dir = dir.unwrap_or(Path::new("catalog"));
    if !dir.is_dir() {
        let refusal = UserError::new(format!("there is no folder `{}`", dir.display()));
        return Err(refusal.help("name the folder of a catalog; `opctl catalog add` creates one").into());
    }
    let (root, shown) = folder(Some(dir), console)?;
    let tree = Tree::of_others(root);
    Ok(Catalog::read(Folder { tree: &tree, shown: &shown }).map_err(SourceErrors::from)?)
}

/// Reads the bundle in a folder, and refuses one with errors.
fn valid_bundle(dir: &Path, console: &Console) -> anyhow::Result<Bundle> {
    let (root, shown) = folder(Some(dir), console)?;
    let tree = Tree::of_others(root);
    let help = "a catalog has valid bundles only: see `opctl bundle validate`";
    super::bundle::valid(Folder { tree: &tree, shown: &shown }, help)
}
