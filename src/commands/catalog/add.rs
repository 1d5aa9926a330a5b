//! `opctl catalog add`: adds a bundle to the files of a catalog.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::bundle::source::is_image;
use super::super::{Console, Next, Outcome, Task, carry_out_of, lock};
use super::{catalog, valid_bundle};
use crate::error::{SourceErrors, UserError};
use opctl_edit::Edit;
use opctl_edit::plan::Plan;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::Tree;
use opctl_olm::bundle::Folder;
use opctl_olm::bundle::image::is_reference;
use opctl_olm::catalog::add::{Addition, FileChange, add};
use opctl_olm::catalog::render::{Content, bundle};
use opctl_olm::catalog::{Catalog, validate, yaml};

/// Add a bundle to a file-based catalog
///
/// Writes the bundle to a file of its own, and adds it to channels, where it replaces their heads. Files that exist
/// keep their comments. Nothing is written unless the new catalog is valid.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog add catalog bundle --image registry.example.com/memcached-operator-bundle:v0.1.0

  # Of a published bundle
  opctl catalog add catalog registry.example.com/memcached-operator-bundle:v0.1.0

  # In other channels than the bundle's own, with an upgrade from all older versions
  opctl catalog add catalog bundle --image IMAGE --channels stable-v1 --skip-range '<1.2.0'")]
pub struct AddArgs {
    /// The folder of the catalog, which may be empty
    pub catalog: PathBuf,

    /// The folder of the bundle, or its image
    pub bundle: PathBuf,

    /// The image of a bundle in a folder
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,

    /// The channels, e.g. candidate,stable [default: those of the bundle]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub channels: Vec<String>,

    /// The bundle that this one replaces [default: spec.replaces if the channel has it, else the head of the channel]
    #[arg(long, value_name = "NAME")]
    pub replaces: Option<String>,

    /// A bundle that this one skips (repeatable) [default: spec.skips]
    #[arg(long, value_name = "NAME")]
    pub skips: Vec<String>,

    /// The versions that can be upgraded to this one directly [default: the annotation olm.skipRange]
    #[arg(long, value_name = "RANGE")]
    pub skip_range: Option<String>,

    /// Include all manifests, for OLM before 0.28, instead of the metadata of the ClusterServiceVersion
    #[arg(long)]
    pub bundle_objects: bool,
}

pub fn run(args: &AddArgs, console: &Console) -> anyhow::Result<Outcome> {
    let image = match &args.image {
        Some(image) => image.clone(),
        None if is_image(&args.bundle) => args.bundle.to_string_lossy().into_owned(),
        None => {
            let refusal = UserError::new(format!("the bundle `{}` needs the name of its image", args.bundle.display()));
            return Err(refusal.help("OLM pulls it: `--image IMAGE`").into());
        }
    };
    let read = valid_bundle(&args.bundle, console)?;
    if !is_reference(&image) {
        let refusal = UserError::new(format!("`{image}` is not a reference of an image"));
        return Err(refusal.help("write `HOST/PATH:TAG` or `HOST/PATH@sha256:…`").into());
    }
    let root = root(&args.catalog)?;
    let _lock = lock(&root, console)?;
    let old = catalog(Some(&args.catalog), console)?;
    let content = if args.bundle_objects { Content::Objects } else { Content::Metadata };
    let list = |text: &str| {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let spec = read.spec();
    let has_entry = |name: &&str| {
        old.channels(read.package())
            .any(|channel| opctl_olm::catalog::entries(channel).iter().any(|entry| entry.name == **name))
    };
    let replaces = args.replaces.as_deref().or_else(|| spec.text_at(&["replaces"]).filter(has_entry));
    let skips = match args.skips.is_empty() {
        true => spec.items_at(&["skips"]).iter().filter_map(|skip| skip.as_text()).map(str::to_owned).collect(),
        false => args.skips.clone(),
    };
    let of_bundle = read.csv_annotation("olm.skipRange").and_then(|range| range.as_text());
    let addition = Addition {
        bundle: bundle(&read, &image, content),
        channels: if args.channels.is_empty() {
            list(read.annotation_text("channels.v1"))
        } else {
            args.channels.clone()
        },
        default_channel: Some(read.annotation_text("channel.default.v1").to_owned())
            .filter(|name| !name.is_empty() && args.channels.is_empty()),
        replaces: replaces.map(str::to_owned),
        skips,
        skip_range: args.skip_range.as_deref().or(of_bundle).map(str::to_owned),
    };
    let changes = add(&old, &addition).map_err(|[problem, help]| UserError::new(problem).help(help))?;
    let tree = Tree::at(&root);
    let mut plan = Plan::default();
    let mut new = Tree::at(&root);
    for change in changes {
        match change {
            FileChange::Create { path, documents } => {
                let text = yaml(&documents);
                new.lay_over(&path, &text);
                plan.scaffold(path, text);
            }
            FileChange::Edit { path, before, after } => {
                new.lay_over(&path, &after);
                plan.edit(path, Edit::Lines { before, after });
            }
        }
    }
    let shown = args.catalog.to_string_lossy();
    let new = Catalog::read(Folder { tree: &new, shown: shown.trim_end_matches('/') }).map_err(SourceErrors::from)?;
    let mut problems = validate::check(&new);
    problems.retain(Diagnostic::is_error);
    if !problems.is_empty() {
        let help = "the catalog would not be valid with this bundle; `--replaces`, `--skips` and `--channels` set its upgrades".into();
        return Err(SourceErrors { diagnostics: problems, help: vec![help] }.into());
    }
    let next = vec![Next::new(format!("opctl catalog graph {shown}"), "show the upgrades")];
    carry_out_of(
        "the catalog",
        &Task { again: "run `opctl catalog add`", tree: &tree, folder: "", plan, next },
        console,
    )
}

/// The root of the catalog. The plan only writes below an existing folder.
fn root(catalog: &Path) -> anyhow::Result<PathBuf> {
    if !catalog.is_dir() {
        let refusal = UserError::new(format!("there is no folder `{}`", catalog.display()));
        return Err(refusal.help(format!("create it: `mkdir -p {}`", catalog.display())).into());
    }
    Ok(catalog.to_owned())
}
