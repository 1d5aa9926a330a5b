//! `opctl catalog render`: renders bundles, templates and catalogs as the documents of a catalog.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::super::bundle::source::{is_image, pulled};
use super::super::{Console, Outcome};
use super::{Format, catalog, catalog_of_image, print, valid_bundle, valid_tree};
use crate::error::{SourceErrors, UserError};
use opctl_kustomize::yaml::{Dialect, Node, documents};
use opctl_model::diagnostic::SourceFile;
use opctl_olm::bundle::Bundle;
use opctl_olm::catalog::render::{Content, bundle, migrate};
use opctl_olm::catalog::template::{Rendered, expand};

/// Render bundles, templates or catalogs as documents of a file-based catalog
///
/// SOURCE is the folder or image of a bundle or of a catalog, or a template (`olm.semver`, `olm.template.basic` or
/// `olm.template.substitutes`). The folder of a bundle needs the name of its image, and a template the folders of its
/// bundles, or `--pull`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog render bundle --image registry.example.com/memcached-operator-bundle:v0.1.0

  # A published bundle, pulled with skopeo, crane or a container engine
  opctl catalog render registry.example.com/memcached-operator-bundle:v0.1.0

  # Channels and upgrades from versions
  opctl catalog render semver.yaml --bundle registry.example.com/memcached-operator-bundle:v0.1.0=bundle > catalog/index.yaml")]
pub struct RenderArgs {
    /// Folders or images of bundles or catalogs, or templates
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,

    /// The image of the bundle
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,

    /// The folder of a bundle that a template lists (repeatable)
    #[arg(long = "bundle", value_name = "IMAGE=DIR")]
    pub bundles: Vec<String>,

    /// Pull the images of bundles that a template lists and `--bundle` does not name
    #[arg(long)]
    pub pull: bool,

    /// Replace the manifests in bundles of catalogs with the metadata of the ClusterServiceVersion, for OLM since 0.28
    #[arg(long, conflicts_with = "bundle_objects")]
    pub migrate: bool,

    /// Include all manifests, for OLM before 0.28, instead of the metadata of the ClusterServiceVersion
    #[arg(long)]
    pub bundle_objects: bool,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Format,
}

pub fn run(args: &RenderArgs, console: &Console) -> anyhow::Result<Outcome> {
    let content = if args.bundle_objects { Content::Objects } else { Content::Metadata };
    let mut documents = Vec::new();
    for source in &args.sources {
        if source.join("manifests").is_dir() && source.join("metadata").is_dir() {
            let Some(image) = &args.image else {
                let refusal = UserError::new(format!("the bundle `{}` needs the name of its image", source.display()));
                return Err(refusal.help("OLM pulls it: `--image IMAGE`").into());
            };
            documents.push(bundle(&valid_bundle(source, console)?, image, content));
        } else if is_image(source) {
            let image = source.to_string_lossy();
            let files = pulled(&image, false)?;
            if files.has_folder("manifests") {
                documents.push(bundle(&valid_tree(&files, &image)?, &image, content));
            } else {
                documents
                    .extend(catalog_of_image(&files, &image)?.documents.iter().map(|document| document.node.json()));
            }
        } else if source.is_dir() {
            documents.extend(catalog(Some(source), console)?.documents.iter().map(|document| document.node.json()));
        } else {
            documents.extend(template(source, args, content, console)?);
        }
    }
    if args.migrate {
        documents.iter_mut().for_each(migrate);
    }
    print(&documents, args.output, console);
    Ok(Outcome::Done)
}

fn template(path: &Path, args: &RenderArgs, content: Content, console: &Console) -> anyhow::Result<Vec<Value>> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        UserError::new(format!("cannot read `{shown}`: {error}"))
            .help("name the folder or image of a bundle or catalog, or a template")
    })?;
    let mut folders: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for entry in &args.bundles {
        let Some((image, dir)) = entry.rsplit_once('=') else {
            let refusal = UserError::new(format!("`{entry}` is not an image and the folder of its bundle"));
            return Err(refusal.help("write `--bundle IMAGE=DIR`").into());
        };
        folders.insert(image, dir.into());
    }
    let file = SourceFile::new(shown, text);
    let nodes = documents(&file, Dialect::Kubectl).map_err(|problem| SourceErrors::from(vec![*problem]))?;
    let problem = RefCell::new(None);
    let render = |image: &str| {
        let read = match folders.get(image) {
            Some(folder) => valid_bundle(folder, console),
            None if args.pull => pulled(image, false).and_then(|tree| valid_tree(&tree, image)),
            None => return None,
        };
        match read {
            Ok(read) => Some(rendered(&read, image, content)),
            Err(error) => {
                problem.borrow_mut().get_or_insert(error);
                None
            }
        }
    };
    let mut rendered = Vec::new();
    for node in &nodes {
        let expanded = expand(node, &render);
        if let Some(error) = problem.take() {
            return Err(error);
        }
        rendered.extend(expanded.map_err(SourceErrors::from)?);
    }
    Ok(rendered)
}

fn rendered(read: &Bundle, image: &str, content: Content) -> Rendered {
    let icon = read.spec().items_at(&["icon"]).first().map(Node::json);
    let icon = icon.filter(|icon| icon["base64data"].is_string());
    Rendered {
        document: bundle(read, image, content),
        description: read.spec().text_at(&["description"]).unwrap_or_default().to_owned(),
        icon: icon.map(|icon| json!({"base64data": icon["base64data"], "mediatype": icon["mediatype"]})),
    }
}
