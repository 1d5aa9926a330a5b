//! The record of the scaffold, which `tree.rs` excludes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The texts below `.opctl`, by path.
pub fn record(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let base = folder.join(".opctl");
    let files = walkdir::WalkDir::new(&base).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let name = |path: &Path| path.strip_prefix(&base).unwrap().to_str().unwrap().to_owned();
    files.map(|file| (name(file.path()), fs::read(file.path()).unwrap())).collect()
}
