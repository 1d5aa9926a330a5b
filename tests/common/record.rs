//! The record of the scaffold, which `tree.rs` excludes.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use opctl_edit::plan::{RECORD_FILE, Record};

/// The texts below `.opctl`, by path.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let base = folder.join(".opctl");
    let files = walkdir::WalkDir::new(&base).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let name = |path: &Path| path.strip_prefix(&base).unwrap().to_str().unwrap().to_owned();
    files.map(|file| (name(file.path()), fs::read(file.path()).unwrap())).collect()
}

/// The record of a project that has one.
pub fn read(folder: &Path) -> Record {
    let read = |path: &str| Ok::<_, Infallible>(fs::read_to_string(folder.join(path)).ok());
    Record::read(read).unwrap().expect("the project has a record")
}

pub fn write(folder: &Path, record: &Record) {
    fs::write(folder.join(RECORD_FILE), record.to_text()).unwrap();
}
