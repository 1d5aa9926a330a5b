//! Writes files of crates that are compiled more than once.

use std::fs;
use std::path::Path;

/// Does not write an unchanged file, so that cargo does not recompile.
pub fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
