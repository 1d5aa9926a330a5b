//! Every file below a folder, except for the record of the scaffold, which `tests/thorough/update.rs` compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The texts by path.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files =
        walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files
        .filter(|file| !file.path().components().any(|part| part.as_os_str() == ".opctl"))
        .map(|file| {
            let path = file.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            (path, fs::read(file.path()).unwrap())
        })
        .collect()
}
