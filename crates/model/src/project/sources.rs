//! Locates the sources of other packages on disk: cargo's registry, git checkouts, vendored folders.
//!
//! Nothing is downloaded. Only the `[source]` replacements of cargo's configuration are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, TableLike};
use walkdir::WalkDir;

use super::Tree;

/// The sources that are visible to a project.
#[derive(Debug, Default)]
pub struct Sources {
    cargo_home: Option<PathBuf>,
    /// `[source.NAME]` tables. Those in the nearest folder win.
    replacements: BTreeMap<String, Source>,
}

/// A package on disk.
#[derive(Debug)]
pub struct Located {
    /// The package, or the git checkout that contains it.
    pub tree: Tree,
    /// The folder of the package's Cargo.toml in the tree.
    pub folder: String,
}

/// One `[source.NAME]` of cargo's configuration.
#[derive(Debug, Default)]
struct Source {
    replace_with: Option<String>,
    registry: Option<String>,
    git: Option<String>,
    directory: Option<PathBuf>,
}

/// The URL of crates.io in Cargo.lock. A mirror has another URL.
const CRATES_IO: &str = "https://github.com/rust-lang/crates.io-index";

impl Sources {
    /// Reads cargo's configuration in the root of the tree, in the folders above, and in cargo's home.
    pub fn of(tree: &Tree) -> Self {
        let mut sources = Self { cargo_home: tree.cargo_home().map(Path::to_owned), ..Self::default() };
        let root = std::path::absolute(tree.root()).unwrap_or_else(|_| tree.root().to_owned());
        let folders = root.ancestors().map(|folder| (folder.to_owned(), folder.join(".cargo")));
        let home = tree.cargo_home().map(|home| (home.parent().unwrap_or(home).to_owned(), home.to_owned()));
        for (base, folder) in folders.chain(home) {
            let text =
                ["config.toml", "config"].iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok());
            // Cargo reports an invalid configuration itself.
            let Some(config) = text.and_then(|text| text.parse::<DocumentMut>().ok()) else { continue };
            for (name, item) in config.get("source").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter)
            {
                let text = |key: &str| item.get(key).and_then(Item::as_str).map(String::from);
                let source = Source {
                    replace_with: text("replace-with"),
                    registry: text("registry"),
                    git: text("git"),
                    directory: text("directory").map(|directory| base.join(directory)),
                };
                sources.replacements.entry(name.into()).or_insert(source);
            }
        }
        sources
    }

    /// The package that Cargo.lock pins by `source`, e.g. `registry+https://…` or `git+https://…#commit`.
    pub fn find(&self, name: &str, version: &str, source: &str) -> Option<Located> {
        let Located { tree, folder } = self.locate(name, version, source)?;
        Some(Located { tree: tree.with_cargo_home(self.cargo_home.clone()), folder })
    }

    fn locate(&self, name: &str, version: &str, source: &str) -> Option<Located> {
        let (kind, url) = source.split_once('+')?;
        let (url, commit) = url.split_once('#').unwrap_or((url, ""));
        let address = url.split('?').next().unwrap_or(url);
        let replaced = self.replacements.iter().find(|(key, source)| match kind {
            "git" => source.git.as_deref() == Some(address),
            _ if address == CRATES_IO => *key == "crates-io",
            _ => source.registry.as_deref().is_some_and(|registry| registry.trim_start_matches("sparse+") == address),
        });
        let mut source = replaced.map(|(_, source)| source);
        // A replacement may itself be replaced. Cargo reports cycles.
        for _ in 0..8 {
            let Some(next) = source.and_then(|source| source.replace_with.as_ref()) else { break };
            source = self.replacements.get(next);
        }
        if let Some(directory) = source.and_then(|source| source.directory.as_ref()) {
            return vendored(directory, name, version);
        }
        let home = self.cargo_home.as_deref()?;
        if kind == "git" {
            return checked_out(&home.join("git/checkouts"), address, commit, name);
        }
        let address = source.and_then(|source| source.registry.as_deref()).unwrap_or(address);
        unpacked(&home.join("registry/src"), address, name, version)
    }
}

/// `<host>-<hash>/<name>-<version>`. The host of crates.io depends on the protocol.
fn unpacked(folder: &Path, address: &str, name: &str, version: &str) -> Option<Located> {
    let address = address.trim_start_matches("sparse+");
    let host = address.split_once("://").map_or(address, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let is_crates_io = address == CRATES_IO;
    folders(folder)
        .into_iter()
        .filter(|folder| {
            let stem = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
            stem.is_some_and(|(stem, _)| stem == host || is_crates_io && stem.contains("crates.io"))
        })
        .map(|folder| folder.join(format!("{name}-{version}")))
        .find(|folder| folder.join("Cargo.toml").is_file())
        .map(whole)
}

/// `vendor/<name>`, or `vendor/<name>-<version>` if several versions are vendored.
fn vendored(folder: &Path, name: &str, version: &str) -> Option<Located> {
    let candidates = [format!("{name}-{version}"), name.to_string()];
    let is_requested = |folder: &PathBuf| {
        identity(&folder.join("Cargo.toml")).is_some_and(|(found, its_version)| {
            found == name && its_version.is_none_or(|its_version| its_version == version)
        })
    };
    candidates.iter().map(|candidate| folder.join(candidate)).find(is_requested).map(whole)
}

/// `<repository>-<hash>/<start of the commit>`. The package may be in any folder of the checkout.
fn checked_out(folder: &Path, address: &str, commit: &str, name: &str) -> Option<Located> {
    let repository = address.trim_end_matches('/').rsplit('/').next()?.trim_end_matches(".git");
    let checkout = folders(folder)
        .into_iter()
        .filter(|folder| {
            let stem = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
            stem.is_some_and(|(stem, _)| stem.eq_ignore_ascii_case(repository))
        })
        .flat_map(|folder| folders(&folder))
        .find(|folder| {
            let short = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            short.len() >= 7 && commit.starts_with(short)
        })?;
    let mut manifests: Vec<PathBuf> = WalkDir::new(&checkout)
        .into_iter()
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "target")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == "Cargo.toml")
        .map(walkdir::DirEntry::into_path)
        .collect();
    // Copies within the tests of other packages are in deeper folders.
    manifests.sort_by_key(|path| (path.components().count(), path.clone()));
    let manifest = manifests.into_iter().find(|manifest| identity(manifest).is_some_and(|(found, _)| found == name))?;
    let folder = manifest.parent()?.strip_prefix(&checkout).ok()?.to_str()?.replace('\\', "/");
    Some(Located { tree: Tree::at(checkout), folder })
}

/// The name and, unless inherited, the version of a package.
fn identity(manifest: &Path) -> Option<(String, Option<String>)> {
    let document: DocumentMut = std::fs::read_to_string(manifest).ok()?.parse().ok()?;
    let package = document.get("package")?;
    let text = |key: &str| package.get(key).and_then(Item::as_str).map(String::from);
    Some((text("name")?, text("version")))
}

fn whole(folder: PathBuf) -> Located {
    Located { tree: Tree::at(folder), folder: String::new() }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
