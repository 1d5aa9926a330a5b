//! The cases of `tests/config`: valid and invalid kustomizations.
//!
//! A case is one file. Sections `-- path --` are a project; `-- right: path --` is the content of a file (`none` to
//! delete it) that fixes all findings; `-- said --` is the expected output. `SNAPSHOTS=overwrite` records it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A project in memory.
pub struct Case {
    pub name: String,
    /// The texts of sections, which begin with lines `-- head --`.
    pub sections: Vec<(String, String)>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config")
}

pub fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases: Vec<Case> = paths.iter().map(|path| Case::read(path)).collect();
    assert!(cases.len() > 20, "the cases are not found");
    cases
}

impl Case {
    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Self { name, sections: sections(&fs::read_to_string(path).unwrap()) }
    }

    pub fn files(&self) -> BTreeMap<String, String> {
        let is_file = |(head, _): &&(String, String)| head != "said" && !head.starts_with("right: ");
        self.sections.iter().filter(is_file).cloned().collect()
    }

    /// The files with the fix applied.
    pub fn twin(&self) -> BTreeMap<String, String> {
        let mut files = self.files();
        for (head, text) in &self.sections {
            match (head.strip_prefix("right: "), text.trim()) {
                (Some(path), "none") => drop(files.remove(path)),
                (Some(path), _) => drop(files.insert(path.into(), text.clone())),
                (None, _) => {}
            }
        }
        files
    }
}

/// The texts of sections, which begin with lines `-- head --`.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let head = line.trim_end().strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        match (head, sections.last_mut()) {
            (Some(head), _) => sections.push((head.into(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => {}
        }
    }
    sections
}

pub fn on_disk(files: &BTreeMap<String, String>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}
