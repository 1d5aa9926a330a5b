//! Operators in folders whose paths never change, so that cargo reuses previous builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::tree::tree;

/// Only one cargo runs at a time: all projects share a target folder, and all managers have the same name there.
pub fn lock_cargo() -> MutexGuard<'static, ()> {
    static CARGO: Mutex<()> = Mutex::new(());
    CARGO.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a folder contain exactly these files. Unchanged files are not written.
pub fn sync(folder: &Path, files: &BTreeMap<String, Vec<u8>>) {
    fs::create_dir_all(folder).unwrap();
    let before = tree(folder);
    for path in before.keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(folder.join(path)).unwrap();
    }
    for (path, text) in files.iter().filter(|(path, text)| before.get(*path) != Some(text)) {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), text).unwrap();
        if path.contains("runtime/") {
            is_as_old_as_opctl(&folder.join(path));
        }
    }
}

/// The vendored runtime is the same in all projects, and cargo identifies it by its path in the project. A build for
/// one project is reused for the others unless a file is newer.
fn is_as_old_as_opctl(file: &Path) {
    let opctl = fs::metadata(env!("CARGO_BIN_EXE_opctl")).unwrap();
    fs::File::options().append(true).open(file).unwrap().set_modified(opctl.modified().unwrap()).unwrap();
}

/// The committed Cargo.lock of a project, with its package renamed to `name`; `in_workspace` adds the second member.
pub fn cargo_lock(name: &str, in_workspace: bool) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/Cargo.lock");
    let text = fs::read_to_string(file).unwrap();
    let (head, packages) = text.split_once("[[package]]\n").unwrap();
    let mut packages: Vec<String> = packages.split("[[package]]\n").map(|each| each.trim_end().to_owned()).collect();
    let is_own =
        |package: &&mut String| !package.contains("\nsource = ") && !package.contains("\"opctl-runtime\"\nversion");
    let own = packages.iter_mut().find(is_own).unwrap();
    *own = format!("name = \"{name}\"\n{}", own.split_once('\n').unwrap().1);
    if in_workspace {
        packages.push("name = \"tools\"\nversion = \"0.1.0\"".into());
    }
    packages.sort_by(|a, b| a.lines().next().cmp(&b.lines().next()));
    let packages: Vec<String> = packages.iter().map(|package| format!("[[package]]\n{package}\n")).collect();
    format!("{head}{}", packages.join("\n"))
}

/// The `kubectl` in KUBEBUILDER_ASSETS, or else on the PATH.
pub fn kubectl() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    assets
        .into_iter()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("kubectl"))
        .find(|file| file.is_file())
}
