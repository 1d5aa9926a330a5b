//! Copies of package folders for a test.

use std::fs;
use std::path::Path;

use crate::write::write;

/// Copies a folder, and replaces words in its texts.
pub fn copy(from: &Path, to: &Path, words: &[(&str, &str)]) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = fs::read_to_string(entry.path()).unwrap();
            let text = words.iter().fold(text, |text, (word, with)| text.replace(word, with));
            write(&to.join(entry.path().strip_prefix(from).unwrap()), &text);
        }
    }
}
