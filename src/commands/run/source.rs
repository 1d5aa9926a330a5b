//! The bundle to run: a folder, or an image.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::commands::Console;
use crate::commands::bundle::{valid, validate};
use crate::compiled::pull;
use crate::error::{ExternalError, UserError};
use opctl_model::names::Image;
use opctl_model::project::Tree;
use opctl_olm::bundle::Folder;
use opctl_olm::catalog::render::{Content, bundle as document};

/// A valid bundle.
#[derive(Debug)]
pub struct Source {
    /// The folder or image, as given by the user.
    pub reference: String,
    pub package: String,
    pub version: String,
    pub csv: Value,
    /// The objects in `manifests/`.
    pub manifests: Vec<Value>,
    /// The `olm.bundle` for a catalog. For an image, its metadata; for a folder, the whole bundle, since OLM cannot
    /// pull it.
    pub document: Value,
}

/// Reads a bundle. `insecure` disables the verification of the registry's certificate.
pub fn load(reference: &str, insecure: bool, console: &Console) -> anyhow::Result<Source> {
    let is_image = !Path::new(reference).is_dir() && Image::parse(reference).is_ok() && !is_path(reference);
    let (tree, shown) = if is_image {
        (pulled(reference, insecure)?, reference.to_owned())
    } else {
        let (root, shown) = validate::folder(Some(Path::new(reference)), console)?;
        (Tree::of_others(root), shown)
    };
    let read = valid(Folder { tree: &tree, shown: &shown }, "`opctl bundle validate` also shows warnings")?;
    let (image, content) = if is_image { (reference, Content::Metadata) } else { ("", Content::Objects) };
    let mut document = document(&read, image, content);
    if let (false, Some(fields)) = (is_image, document.as_object_mut()) {
        fields.remove("image");
    }
    let csv = read.csv().node.json();
    let documents = read.manifests.iter().flat_map(|manifest| std::iter::once(&manifest.node).chain(&manifest.others));
    Ok(Source {
        reference: reference.to_owned(),
        package: read.package().to_owned(),
        version: csv["spec"]["version"].as_str().unwrap_or("0.0.0").to_owned(),
        manifests: documents.map(opctl_kustomize::yaml::Node::json).filter(|object| !object.is_null()).collect(),
        csv,
        document,
    })
}

impl Source {
    /// The name of the CSV.
    pub fn name(&self) -> &str {
        self.csv["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The names of its Deployments.
    pub fn deployments(&self) -> BTreeSet<&str> {
        let deployments = self.csv.pointer("/spec/install/spec/deployments").and_then(Value::as_array);
        deployments.into_iter().flatten().filter_map(|deployment| deployment["name"].as_str()).collect()
    }
}

/// `true` for paths that are not names of images: `./bundle`, `/srv/bundle`, `bundle`.
fn is_path(reference: &str) -> bool {
    reference.starts_with(['.', '/']) || !reference.contains(['/', ':', '@'])
}

/// The text files in an image.
fn pulled(image: &str, insecure: bool) -> anyhow::Result<Tree> {
    let files = pull::files(image, insecure).map_err(|error| {
        let reasons = error.reasons.iter().map(|(program, reason)| format!("\n  {program}: {reason}"));
        ExternalError(
            UserError::new(format!("cannot get the image `{image}`{}", reasons.collect::<String>()))
                .help(format!(
                    "opctl runs the first of {} that gets it; log in to the registry with it",
                    pull::programs().join(", ")
                ))
                .help("a bundle in a folder needs none of them: `opctl run bundle DIR`"),
        )
    })?;
    let mut tree = Tree::empty();
    for (path, content) in files.files {
        match String::from_utf8(content) {
            Ok(text) => tree.lay_over(path, text),
            Err(_) if path.starts_with("manifests/") || path.starts_with("metadata/") => {
                let refusal = UserError::new(format!("`{path}` in the image `{image}` is not UTF-8"));
                return Err(refusal.help("a bundle has YAML files only").into());
            }
            Err(_) => {}
        }
    }
    Ok(tree)
}
