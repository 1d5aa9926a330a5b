//! `opctl catalog`: file-based catalogs of the Operator Lifecycle Manager.

mod add;
mod convert_template;
mod dockerfile;
mod graph;
mod init;
mod list;
mod render;
mod validate;

use std::path::Path;

use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use super::bundle::source::{folder, is_image, pulled, source};
use super::{Console, Outcome};
use crate::error::{SourceErrors, UserError};
use opctl_model::project::Tree;
use opctl_olm::bundle::{Bundle, Folder};
use opctl_olm::catalog::{Catalog, yaml};

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    Init(init::InitArgs),
    Render(render::RenderArgs),
    ConvertTemplate(convert_template::ConvertTemplateArgs),
    Validate(validate::ValidateArgs),
    Add(add::AddArgs),
    List(list::ListArgs),
    Graph(graph::GraphArgs),
    Dockerfile(dockerfile::DockerfileArgs),
}

pub fn run(command: &CatalogCommand, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        CatalogCommand::Init(args) => init::run(args, console),
        CatalogCommand::Render(args) => render::run(args, console),
        CatalogCommand::ConvertTemplate(args) => convert_template::run(args, console),
        CatalogCommand::Validate(args) => validate::run(args, console),
        CatalogCommand::Add(args) => add::run(args, console),
        CatalogCommand::List(args) => list::run(args, console),
        CatalogCommand::Graph(args) => graph::run(args, console),
        CatalogCommand::Dockerfile(args) => dockerfile::run(args, console),
    }
}

/// Reads the catalog in a folder or image.
fn catalog(dir: Option<&Path>, console: &Console) -> anyhow::Result<Catalog> {
    let dir = dir.unwrap_or(Path::new("catalog"));
    if is_image(dir) {
        let image = dir.to_string_lossy();
        return catalog_of_image(&pulled(&image, false)?, &image);
    }
    if !dir.is_dir() {
        let refusal = UserError::new(format!("there is no folder `{}`", dir.display()));
        return Err(refusal.help("name the folder of a catalog; `opctl catalog add` creates one").into());
    }
    let (root, shown) = folder(Some(dir), console)?;
    let tree = Tree::of_others(root);
    Ok(Catalog::read(Folder { tree: &tree, shown: &shown }).map_err(SourceErrors::from)?)
}

/// Reads the catalog among the files of an image.
fn catalog_of_image(files: &Tree, image: &str) -> anyhow::Result<Catalog> {
    const FOLDER: &str = "configs/";
    let mut tree = Tree::empty();
    for path in files.files_below(FOLDER.trim_end_matches('/'))? {
        if let (Some(name), Some(text)) = (path.strip_prefix(FOLDER), files.read(&path)?) {
            tree.lay_over(name, text);
        }
    }
    let catalog = Catalog::read(Folder { tree: &tree, shown: image }).map_err(SourceErrors::from)?;
    if catalog.documents.is_empty() {
        let refusal = UserError::new(format!("the image `{image}` has no catalog in `/{FOLDER}`"));
        return Err(refusal.help("`opctl catalog dockerfile` builds the image of a catalog").into());
    }
    Ok(catalog)
}

/// Prints documents of a catalog.
fn print(documents: &[Value], format: Format, console: &Console) {
    console.print(&match format {
        Format::Yaml => yaml(documents),
        Format::Json => documents.iter().map(|document| format!("{document:#}\n")).collect(),
    });
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Yaml,
    Json,
}

/// Reads the bundle in a folder or image, and refuses one with errors.
fn valid_bundle(reference: &Path, console: &Console) -> anyhow::Result<Bundle> {
    let (tree, shown) = source(reference, false, console)?;
    valid_tree(&tree, &shown)
}

fn valid_tree(tree: &Tree, shown: &str) -> anyhow::Result<Bundle> {
    super::bundle::valid(Folder { tree, shown }, "a catalog has valid bundles only: see `opctl bundle validate`")
}
