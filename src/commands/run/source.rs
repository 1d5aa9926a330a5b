//! The bundle to run: a folder, or an image.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::commands::Console;
use crate::commands::bundle::source::{is_image, source};
use crate::commands::bundle::valid;
use opctl_olm::bundle::{Bundle, Folder};
use opctl_olm::catalog::render::{Content, bundle as document};

/// A valid bundle.
#[derive(Debug)]
pub struct Source {
    /// The folder or image, as given by the user.
    pub reference: String,
    pub package: String,
    pub version: String,
    pub csv: Value,
    pub bundle: Bundle,
    /// The `olm.bundle` for a catalog. For an image, its metadata; for a folder, the whole bundle, since OLM cannot
    /// pull it.
    pub document: Value,
}

/// Reads a bundle. `insecure` disables the verification of the registry's certificate.
pub fn load(reference: &str, insecure: bool, console: &Console) -> anyhow::Result<Source> {
    let is_image = is_image(Path::new(reference));
    let (tree, shown) = source(Path::new(reference), insecure, console)?;
    let read = valid(Folder { tree: &tree, shown: &shown }, "`opctl bundle validate` also shows warnings")?;
    let (image, content) = if is_image { (reference, Content::Metadata) } else { ("", Content::Objects) };
    let mut document = document(&read, image, content);
    if let (false, Some(fields)) = (is_image, document.as_object_mut()) {
        fields.remove("image");
    }
    let csv = read.csv().node.json();
    Ok(Source {
        reference: reference.to_owned(),
        package: read.package().to_owned(),
        version: csv["spec"]["version"].as_str().unwrap_or("0.0.0").to_owned(),
        bundle: read,
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
