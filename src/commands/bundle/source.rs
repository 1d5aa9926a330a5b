//! A bundle given on the command line: a folder, or an image, which is pulled.

use std::path::{Path, PathBuf};

use super::super::{Console, recover};
use crate::error::{ExternalError, UserError};
use opctl_model::names::Image;
use opctl_model::project::Tree;
use opctl_tools::pull;

/// The files of a bundle, and its name in messages. `insecure` disables the verification of the registry's certificate.
pub fn source(reference: &Path, insecure: bool, console: &Console) -> anyhow::Result<(Tree, String)> {
    if is_image(reference) {
        let image = reference.to_string_lossy().into_owned();
        return Ok((pulled(&image, insecure)?, image));
    }
    let (root, shown) = folder(Some(reference), console)?;
    Ok((Tree::of_others(root), shown))
}

/// The folder on disk, and its name in messages.
pub fn folder(dir: Option<&Path>, console: &Console) -> anyhow::Result<(PathBuf, String)> {
    let dir = dir.unwrap_or(Path::new("bundle"));
    if !dir.is_dir() {
        let refusal = UserError::new(format!("there is no folder `{}`", dir.display()));
        return Err(refusal.help("name the folder of a bundle, or generate one: `opctl generate bundle`").into());
    }
    recover(dir, console)?;
    let shown = dir.to_string_lossy().replace('\\', "/");
    let shown = shown.trim_end_matches('/').trim_start_matches("./");
    let shown = if shown == "." { "" } else { shown };
    Ok((dir.to_owned(), shown.to_owned()))
}

/// `true` for an image with a registry, a tag or a digest in its name, unless a file or folder has this name.
pub fn is_image(reference: &Path) -> bool {
    let text = reference.to_string_lossy();
    let host = text.split_once('/').map_or("", |(host, _)| host);
    let is_path = text.starts_with(['.', '/']) || [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    let is_name = text.contains([':', '@']) || host.contains('.');
    is_name && !is_path && !reference.exists() && Image::parse(&text).is_ok()
}

/// The text files in an image.
pub fn pulled(image: &str, insecure: bool) -> anyhow::Result<Tree> {
    let files = pull::files(image, insecure).map_err(|error| {
        ExternalError(
            UserError::new(format!("cannot get the image `{image}`{error}"))
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
