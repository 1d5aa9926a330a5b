//! Detects changes in the files that the operator is built from, or reads when it starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

use crate::scaffold::Runtime;
use opctl_model::project::{Manifest, ReadError, Tree};

/// The watched files are polled, not watched by the operating system: polling works for all file systems, including
/// those of containers, takes a millisecond, and does not include files that opctl itself writes.
const WATCHED: [&str; 7] = ["src", "Cargo.toml", "build.rs", "PROJECT", "helm-charts", "roles", "playbooks"];

/// The folders and files to poll, relative to the project's folder. A runtime in a folder is built with the operator,
/// and may be updated while the operator runs.
pub fn watched(tree: &Tree) -> Result<Vec<String>, ReadError> {
    let runtime = Manifest::read(tree, "")?.and_then(|manifest| manifest.requirement(Runtime::PACKAGE)?.path);
    let runtime = runtime.iter().flat_map(|folder| ["src", "Cargo.toml"].map(|name| format!("{folder}/{name}")));
    Ok(WATCHED.map(String::from).into_iter().chain(runtime).collect())
}

/// The time between two polls.
pub const PAUSE: Duration = Duration::from_millis(200);

/// Files by path relative to the project, with their modification times and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Files {
    pub fn of(root: &Path, watched: &[String]) -> Self {
        let mut files = BTreeMap::new();
        for entry in watched.iter().flat_map(|name| WalkDir::new(root.join(name))) {
            // A file that disappeared meanwhile is noticed by the next poll.
            let Some((entry, metadata)) = entry.ok().and_then(|entry| Some((entry.clone(), entry.metadata().ok()?)))
            else {
                continue;
            };
            if metadata.is_file() {
                let path = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned();
                files.insert(path, (metadata.modified().ok(), metadata.len()));
            }
        }
        Self(files)
    }

    /// The files after changes have stopped for a moment: editors and git write several files at once.
    pub fn settled(self, root: &Path, watched: &[String]) -> Self {
        let mut before = self;
        loop {
            sleep(PAUSE / 2);
            let now = Self::of(root, watched);
            if now == before {
                return now;
            }
            before = now;
        }
    }

    /// The files that were added, removed or changed since `before`.
    pub fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let mut changed: Vec<PathBuf> = self
            .0
            .iter()
            .filter(|(path, file)| before.0.get(*path) != Some(file))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(before.0.keys().filter(|path| !self.0.contains_key(*path)).cloned());
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tells_what_has_changed() {
        let root = tempfile::TempDir::new().unwrap();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(root.path().join(path).parent().unwrap()).unwrap();
            fs::write(root.path().join(path), text).unwrap();
        };
        write("src/a.rs", "a");
        write("Cargo.toml", "[dependencies]\nopctl-runtime = { path = \"runtime\" }");
        write("runtime/src/lib.rs", "");
        let watched = watched(&Tree::at(root.path())).unwrap();
        write("src/deep/b.rs", "b");
        let before = Files::of(root.path(), &watched);
        write("config/crd.yaml", "");
        assert_eq!(Files::of(root.path(), &watched), before, "manifests are not what the operator is built from");
        write("src/deep/b.rs", "bb");
        write("Cargo.toml", "");
        write("runtime/src/lib.rs", "//");
        write("runtime/SHA256SUMS", "");
        fs::remove_file(root.path().join("src/a.rs")).unwrap();
        let after = Files::of(root.path(), &watched).settled(root.path(), &watched);
        let changed: Vec<String> = after.changed_since(&before).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(changed, ["Cargo.toml", "runtime/src/lib.rs", "src/deep/b.rs", "src/a.rs"]);
    }
}
