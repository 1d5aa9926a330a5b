//! The oracles of each release of kube: see `oracle.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// The releases to compile the cases with: `oracle.toml` or `Cargo.toml`, and `Cargo.lock`.
pub struct Oracle {
    folder: PathBuf,
}

impl Oracle {
    /// The releases that opctl itself uses.
    pub fn latest() -> Self {
        Self { folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine") }
    }

    /// A folder for each earlier release of kube, with the other crates' releases of that time.
    pub fn earlier() -> Vec<Self> {
        let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions")).unwrap();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders.into_iter().map(|folder| Self { folder }).collect()
    }

    pub fn name(&self) -> &str {
        self.folder.file_name().unwrap().to_str().unwrap()
    }

    pub fn manifest(&self, name: &str) -> String {
        let file = ["oracle.toml", "Cargo.toml"].map(|file| self.folder.join(file)).into_iter().find(|it| it.exists());
        fs::read_to_string(file.unwrap()).unwrap().replace("\"oracle\"", &format!("\"{name}\""))
    }

    pub fn lock(&self) -> String {
        fs::read_to_string(self.file("Cargo.lock")).unwrap()
    }

    /// A file next to its manifest.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}
