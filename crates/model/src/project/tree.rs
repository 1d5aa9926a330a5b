//! The file tree of a project as a command sees it: the files on disk, overlaid with those that the command is about to
//! write.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::intake::{LIMITS, outside, read_regular};
use super::unreadable::{ReadError, decode};

/// A folder on disk with an overlay of texts that are not written yet, so that manifests can be generated from planned
/// source. Paths are relative to the root, with `/`.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: PathBuf,
    /// The policy of [`Intake`](super::Intake) applies to the files on disk.
    is_foreign: bool,
    /// `None` hides the file.
    overlay: BTreeMap<String, Option<String>>,
    cargo_home: Option<PathBuf>,
    runtime: Option<fn() -> Carried>,
    features: Features,
    is_code: Option<fn(&str) -> bool>,
}

/// The enabled features, as selected by cargo's options of the same names.
#[derive(Clone, Debug, Default)]
pub struct Features {
    pub features: Vec<String>,
    pub all_features: bool,
    pub no_default_features: bool,
}

/// A package that is embedded in opctl.
#[derive(Debug)]
pub struct Carried {
    pub version: String,
    /// Its files; the package is in the root.
    pub tree: Tree,
}

impl Tree {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..Self::default() }
    }

    /// An untrusted folder: nothing outside of it is read, and no more than [`LIMITS`] allow.
    pub fn of_others(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), is_foreign: true, ..Self::default() }
    }

    /// A tree with an overlay only, without a folder on disk.
    pub fn empty() -> Self {
        // A device has no entries.
        Self::at("/dev/null")
    }

    /// Cargo's home (`CARGO_HOME`), which contains the sources of other packages. Default: none.
    #[must_use]
    pub fn with_cargo_home(mut self, cargo_home: Option<PathBuf>) -> Self {
        self.cargo_home = cargo_home;
        self
    }

    pub fn cargo_home(&self) -> Option<&Path> {
        self.cargo_home.as_deref()
    }

    /// The `opctl-runtime` embedded in opctl, for a project that does not have it on disk yet.
    #[must_use]
    pub fn with_runtime(mut self, runtime: fn() -> Carried) -> Self {
        self.runtime = Some(runtime);
        self
    }

    pub fn runtime(&self) -> Option<Carried> {
        self.runtime.map(|runtime| runtime())
    }

    /// The features of the packages in the root. Default: cargo's default features.
    #[must_use]
    pub fn with_features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The predicate for existing codes of diagnostics, which markers can allow. Default: all codes exist.
    #[must_use]
    pub fn with_codes(mut self, is_code: fn(&str) -> bool) -> Self {
        self.is_code = Some(is_code);
        self
    }

    /// `true` if `name` is the code of a diagnostic.
    pub fn is_code(&self, name: &str) -> bool {
        self.is_code.is_none_or(|is_code| is_code(name))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The overlay of a file, if any: a text, or `None` if the file is hidden.
    pub fn laid_over(&self, path: &str) -> Option<&Option<String>> {
        self.overlay.get(path)
    }

    /// The text of a file; `None` if the path does not exist.
    ///
    /// # Errors
    ///
    /// If the path exists and is not a readable UTF-8 file: a folder, a device, a dangling link.
    pub fn read(&self, path: &str) -> Result<Option<String>, ReadError> {
        if let Some(text) = self.overlay.get(path) {
            return Ok(text.clone());
        }
        let failed = |source| ReadError { path: path.into(), source };
        if self.is_foreign && !self.is_inside(path) {
            return Err(failed(outside(&self.root)));
        }
        match read_regular(&self.root.join(path)) {
            Ok(bytes) => decode(path, bytes, || self.is_inside(path)).map(Some).map_err(failed),
            Err(error) => self.absent(path, error).map_err(failed),
        }
    }

    /// Returns the content of a file on disk, which need not be text; `None` if the path does not exist.
    ///
    /// # Errors
    ///
    /// If the path exists and is not a readable file.
    pub fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let failed = |source| ReadError { path: path.into(), source };
        if self.is_foreign && !self.is_inside(path) {
            return Err(failed(outside(&self.root)));
        }
        match read_regular(&self.root.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => self.absent(path, error).map_err(failed),
        }
    }

    /// Returns `None` if the error means that the path does not exist.
    fn absent<T>(&self, path: &str, error: io::Error) -> io::Result<Option<T>> {
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            return Err(error);
        }
        let path = self.root.join(path);
        let existing = path.ancestors().find_map(|path| Some((path, path.symlink_metadata().ok()?)));
        match existing {
            Some((link, metadata)) if metadata.is_symlink() && !link.exists() => {
                let target = link.read_link()?;
                Err(io::Error::new(
                    ErrorKind::NotFound,
                    format!("the symbolic link leads to `{}`, which does not exist", target.display()),
                ))
            }
            _ => Ok(None),
        }
    }

    /// `true` if a file on disk is in the root after all symbolic links are resolved.
    pub fn is_inside(&self, path: &str) -> bool {
        match (self.root.join(path).canonicalize(), self.root.canonicalize()) {
            (Ok(file), Ok(root)) => file.starts_with(root),
            _ => true,
        }
    }

    /// The path on disk with all symbolic links resolved; `None` if it does not exist.
    pub fn real_path(&self, path: &str) -> Option<PathBuf> {
        self.root.join(path).canonicalize().ok()
    }

    /// `true` if the path exists, even if [`read`](Self::read) would fail.
    pub fn has(&self, path: &str) -> bool {
        let on_disk = || match self.root.join(path).metadata() {
            Ok(_) => true,
            Err(error) => !matches!(self.absent::<()>(path, error), Ok(None)),
        };
        self.overlay.get(path).map_or_else(on_disk, Option::is_some)
    }

    /// `true` if the path exists and is not a folder.
    pub fn has_file(&self, path: &str) -> bool {
        self.has(path) && !self.root.join(path).is_dir()
    }

    pub fn has_folder(&self, path: &str) -> bool {
        let below = |file: &String| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.root.join(path).is_dir() || self.overlay.iter().any(|(file, text)| text.is_some() && below(file))
    }

    /// The names in a folder, and whether each is a folder. Symbolic links are followed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be listed.
    pub fn children(&self, folder: &str) -> Result<BTreeMap<String, bool>, ReadError> {
        let failed = |source| ReadError { path: folder.into(), source };
        let listed = match std::fs::read_dir(self.root.join(folder)) {
            Ok(entries) => Some(entries),
            Err(error) => self.absent(folder, error).map_err(failed)?,
        };
        let mut children = BTreeMap::new();
        for entry in listed.into_iter().flatten() {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().into_string().ok().filter(|name| !is_of_a_run(name.as_ref()));
            children.extend(name.map(|name| (name, entry.path().is_dir())));
        }
        self.check_limits(folder, children.keys().map(|name| join(folder, name)))?;
        for (path, text) in &self.overlay {
            let below = if folder.is_empty() {
                Some(&**path)
            } else {
                path.strip_prefix(folder).and_then(|it| it.strip_prefix('/'))
            };
            match (below.map(|below| below.split_once('/').unwrap_or((below, ""))), text) {
                (Some((name, rest)), Some(_)) => _ = children.insert(name.into(), !rest.is_empty()),
                (Some((name, "")), None) => _ = children.remove(name),
                _ => {}
            }
        }
        Ok(children)
    }

    /// The files below a folder, at any depth, sorted; empty if the folder does not exist. A folder with the name of a
    /// manifest is listed, too, so that reading it is an error.
    ///
    /// # Errors
    ///
    /// If one of the folders cannot be listed.
    pub fn files_below(&self, folder: &str) -> Result<Vec<String>, ReadError> {
        let below =
            |path: &&String| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let mut paths = self.walk(folder, |_| true, |entry| !entry.file_type().is_dir() || is_manifest(entry))?;
        self.check_limits(folder, paths.iter())?;
        paths.extend(self.overlay.keys().filter(below).cloned());
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.overlay.get(path).is_none_or(Option::is_some));
        Ok(paths)
    }

    /// The files of a project that people edit, sorted: all except those of version control, builds, and caches of
    /// other tools.
    ///
    /// # Errors
    ///
    /// If one of the folders cannot be listed.
    pub fn own_files(&self) -> Result<Vec<String>, ReadError> {
        self.walk("", is_own, |entry| entry.file_type().is_file())
    }

    /// The symbolic links among these files. They are not followed.
    ///
    /// # Errors
    ///
    /// If one of the folders cannot be listed.
    pub fn own_links(&self) -> Result<Vec<String>, ReadError> {
        self.walk("", is_own, DirEntry::path_is_symlink)
    }

    /// Checks the limits for all files of an untrusted folder.
    fn check_limits(&self, folder: &str, paths: impl ExactSizeIterator<Item: AsRef<Path>>) -> Result<(), ReadError> {
        if !self.is_foreign {
            return Ok(());
        }
        let count = paths.len();
        let sizes = paths.map(|path| self.root.join(path).metadata().map_or(0, |metadata| metadata.len()));
        LIMITS.check(count, sizes.sum()).map_err(|source| ReadError { path: self.shown(folder), source })
    }

    /// The folder for messages: the path of the root instead of an empty path.
    fn shown(&self, folder: &str) -> String {
        if folder.is_empty() { self.root.display().to_string() } else { folder.to_owned() }
    }

    /// The matching entries on disk, sorted; empty if the folder does not exist.
    fn walk(
        &self,
        folder: &str,
        enters: impl Fn(&DirEntry) -> bool,
        is_wanted: impl Fn(&DirEntry) -> bool,
    ) -> Result<Vec<String>, ReadError> {
        let from_root = |path: &Path| Some(path.strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/"));
        let mut paths = Vec::new();
        let walk = WalkDir::new(self.root.join(folder)).into_iter().filter_entry(|entry| enters(entry));
        for (count, entry) in walk.enumerate() {
            if self.is_foreign {
                LIMITS.check(count, 0).map_err(|source| ReadError { path: self.shown(folder), source })?;
            }
            match entry {
                Ok(entry) if !is_wanted(&entry) || is_lock_of_editor(&entry) || is_of_a_run(entry.file_name()) => {}
                Ok(entry) => paths.extend(from_root(entry.path())),
                Err(error) => {
                    let path = error.path().and_then(from_root).unwrap_or_else(|| folder.to_owned());
                    let failed = |source| ReadError { path: path.clone(), source };
                    self.absent::<()>(&path, error.into_io_error().unwrap_or_else(|| ErrorKind::Other.into()))
                        .map_err(failed)?;
                }
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Overlays a text on the file on disk.
    pub fn lay_over(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.overlay.insert(path.into(), Some(text.into()));
    }

    /// Hides the file on disk, as if it were removed.
    pub fn hide(&mut self, path: impl Into<String>) {
        self.overlay.insert(path.into(), None);
    }
}

fn is_own(entry: &DirEntry) -> bool {
    match entry.file_name().to_str() {
        Some(".git" | "node_modules") => false,
        // Further down, a kind or group may have this name.
        Some(".opctl" | "target") => entry.depth() != 1,
        // A new folder, until it is renamed.
        Some(_) if entry.depth() > 0 && entry.file_type().is_dir() => !is_of_a_run(entry.file_name()),
        _ => true,
    }
}

fn is_manifest(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.path().extension().is_some_and(|it| it == "yaml" || it == "yml")
}

/// Emacs marks a file that is being edited with a dangling link next to it: `.#lib.rs`.
fn is_lock_of_editor(entry: &DirEntry) -> bool {
    entry.path_is_symlink() && entry.file_name().to_str().is_some_and(|name| name.starts_with(".#"))
}

/// `true` for temporary files and folders of opctl, which exist only while it writes or if it was killed: the journal,
/// texts next to the files that they replace, and new folders.
pub fn is_of_a_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == ".opctl-journal" || name.starts_with('.') && (name.ends_with(".opctl-new") || name.ends_with(".opctl-old"))
}

/// Joins `a` and `b` to `a/b`; ignores empty parts.
pub fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.is_empty() { format!("{folder}{path}") } else { format!("{folder}/{path}") }
}
