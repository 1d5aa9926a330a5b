//! What the operator is built from, to tell when it has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

/// Looked at over and over rather than announced by the system: that works for every file system, containers' too, a look
/// takes a millisecond, and what opctl itself writes is not among it.
const WATCHED: [&str; 4] = ["src", "Cargo.toml", "build.rs", "PROJECT"];

/// Between two looks.
pub const PAUSE: Duration = Duration::from_millis(200);

/// Files by their paths from the project, with their times and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Files {
    pub fn of(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in WATCHED.iter().flat_map(|name| WalkDir::new(root.join(name))) {
            // What is gone meanwhile is missed the next time.
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

    /// The same once nothing has changed for a moment: an editor writes several files, git many.
    pub fn settled(self, root: &Path) -> Self {
        let mut before = self;
        loop {
            sleep(PAUSE / 2);
            let now = Self::of(root);
            if now == before {
                return now;
            }
            before = now;
        }
    }

    /// What is new, gone, or another since then.
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
        write("src/deep/b.rs", "b");
        let before = Files::of(root.path());
        write("config/crd.yaml", "");
        assert_eq!(Files::of(root.path()), before, "manifests are not what the operator is built from");
        write("src/deep/b.rs", "bb");
        write("Cargo.toml", "");
        fs::remove_file(root.path().join("src/a.rs")).unwrap();
        let after = Files::of(root.path()).settled(root.path());
        let changed: Vec<String> = after.changed_since(&before).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(changed, ["Cargo.toml", "src/deep/b.rs", "src/a.rs"]);
    }
}
