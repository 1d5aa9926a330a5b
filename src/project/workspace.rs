//! The cargo workspace that a new package would belong to.

use std::path::{Path, PathBuf};

use super::{ReadError, Tree};

/// The root of the workspace around a folder that is not excluded from it; `None` where there is no workspace.
pub fn workspace_above(dir: &Path) -> Result<Option<PathBuf>, ReadError> {
    for folder in dir.ancestors().skip(1) {
        let Some(text) = Tree::at(folder).read("Cargo.toml")? else { continue };
        // A manifest that does not parse is no workspace that cargo would find either.
        let Ok(manifest) = text.parse::<toml_edit::DocumentMut>() else { continue };
        let Some(workspace) = manifest.get("workspace") else { continue };
        let excluded = workspace.get("exclude").and_then(|list| list.as_array()).is_some_and(|list| {
            list.iter().filter_map(|path| path.as_str()).any(|path| dir.starts_with(folder.join(path)))
        });
        return Ok((!excluded).then(|| folder.to_owned()));
    }
    Ok(None)
}
