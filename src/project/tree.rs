//! The file tree of a project as a command sees it: the files on disk, overlaid with those that the command is about to
//! write.

use std::collections::BTreeMap;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// A folder on disk with an overlay of texts that are not written yet, so that manifests can be made from source that
/// is only planned. Paths are relative to the root, with `/`.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: PathBuf,
    /// `None`: the file counts as absent.
    overlay: BTreeMap<String, Option<String>>,
    cargo_home: Option<PathBuf>,
    runtime: Option<fn() -> Carried>,
    features: Features,
}

/// The features that a project is compiled with, as cargo's options of the same names choose them.
#[derive(Clone, Debug, Default)]
pub struct Features {
    pub features: Vec<String>,
    pub all_features: bool,
    pub no_default_features: bool,
}

/// A package that opctl has in itself.
#[derive(Debug)]
pub struct Carried {
    pub version: String,
    /// Its files, in the root.
    pub tree: Tree,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`: {source}")]
pub struct ReadError {
    pub path: String,
    pub source: io::Error,
}

impl Tree {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..Self::default() }
    }

    /// Without a folder on disk: only what is laid over it.
    pub fn empty() -> Self {
        // Nothing is below a device.
        Self::at("/dev/null")
    }

    /// Where cargo keeps the sources of other packages (`CARGO_HOME`); without it there are none.
    #[must_use]
    pub fn with_cargo_home(mut self, cargo_home: Option<PathBuf>) -> Self {
        self.cargo_home = cargo_home;
        self
    }

    pub fn cargo_home(&self) -> Option<&Path> {
        self.cargo_home.as_deref()
    }

    /// The `opctl-runtime` of opctl itself, for a project whose own is not on disk yet.
    #[must_use]
    pub fn with_runtime(mut self, runtime: fn() -> Carried) -> Self {
        self.runtime = Some(runtime);
        self
    }

    pub fn runtime(&self) -> Option<Carried> {
        self.runtime.map(|runtime| runtime())
    }

    /// The features of the packages in the root; otherwise their default features.
    #[must_use]
    pub fn with_features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    pub fn features(&self) -> &Features {
        &self.features
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file; `None` where there is none. A folder, text that is not UTF-8 and a file that may not be read
    /// are errors.
    pub fn read(&self, path: &str) -> Result<Option<String>, ReadError> {
        if let Some(text) = self.overlay.get(path) {
            return Ok(text.clone());
        }
        match read_regular(&self.root.join(path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(source) => Err(ReadError { path: path.into(), source }),
        }
    }

    /// Whether a file on disk is in the root, with every symlink followed.
    pub fn is_inside(&self, path: &str) -> bool {
        match (self.root.join(path).canonicalize(), self.root.canonicalize()) {
            (Ok(file), Ok(root)) => file.starts_with(root),
            _ => true,
        }
    }

    pub fn has(&self, path: &str) -> bool {
        self.overlay.get(path).map_or_else(|| self.root.join(path).is_file(), Option::is_some)
    }

    pub fn has_folder(&self, path: &str) -> bool {
        let below = |file: &String| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.root.join(path).is_dir() || self.overlay.iter().any(|(file, text)| text.is_some() && below(file))
    }

    /// The files below a folder, at any depth, sorted; none where there is no such folder.
    pub fn files_below(&self, folder: &str) -> Vec<String> {
        let below =
            |path: &&String| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let mut paths: Vec<String> = WalkDir::new(self.root.join(folder))
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_type().is_dir())
            .filter_map(|entry| Some(entry.path().strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/")))
            .chain(self.overlay.keys().filter(below).cloned())
            .collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.overlay.get(path).is_none_or(Option::is_some));
        paths
    }

    /// The files of a project that people edit, sorted: all but those of version control, of builds, and of other tools' caches.
    pub fn own_files(&self) -> Vec<String> {
        self.own(|kind| kind.is_file())
    }

    /// Symbolic links among them, which are not followed.
    pub fn own_links(&self) -> Vec<String> {
        self.own(|kind| kind.is_symlink())
    }

    fn own(&self, is_wanted: impl Fn(FileType) -> bool) -> Vec<String> {
        let is_other = |entry: &DirEntry| match entry.file_name().to_str() {
            Some(".git" | "node_modules") => true,
            // Further down, a kind or a group may be called so.
            Some(".opctl" | "target") => entry.depth() == 1,
            _ => false,
        };
        let own = WalkDir::new(&self.root).into_iter().filter_entry(|entry| !is_other(entry));
        let wanted = own.filter_map(Result::ok).filter(|entry| is_wanted(entry.file_type()));
        let paths =
            wanted.filter_map(|entry| Some(entry.path().strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/")));
        let mut paths: Vec<String> = paths.collect();
        paths.sort();
        paths
    }

    /// Lays a text over the file on disk.
    pub fn lay_over(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.overlay.insert(path.into(), Some(text.into()));
    }

    /// Hides the file on disk, as if it was removed.
    pub fn hide(&mut self, path: impl Into<String>) {
        self.overlay.insert(path.into(), None);
    }
}

/// Files that are larger than this are no source, and would fill the memory.
const MAX_BYTES: u64 = 64 << 20;

/// A device or a pipe would never end, or would never begin.
fn read_regular(path: &Path) -> io::Result<String> {
    let metadata = path.metadata()?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    std::fs::read_to_string(path)
}

/// `a` + `b` → `a/b`; an empty part is no part.
pub fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.is_empty() { format!("{folder}{path}") } else { format!("{folder}/{path}") }
}
