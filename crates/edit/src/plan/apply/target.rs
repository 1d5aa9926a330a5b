//! Resolves the path of each step on disk, and checks that it may be written. Changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ApplyError, Operation};
use crate::plan::{Content, Step, Verdict};

/// The root and the files, with all symbolic links resolved.
pub struct Targets {
    /// Canonical, but its last folders may not exist yet.
    pub root: PathBuf,
    /// In the order of the steps.
    pub files: Vec<Target>,
}

/// The real file: a symbolic link within the project is written through, so that the link is kept.
#[derive(Clone)]
pub struct Target {
    pub real: PathBuf,
}

pub fn locate(root: &Path, steps: &[&Step]) -> Result<Targets, ApplyError> {
    let root = real_root(root).map_err(|source| io_error(Operation::Read, &root.display().to_string(), source))?;
    let mut taken: BTreeMap<PathBuf, &str> = BTreeMap::new();
    let (mut files, mut folders) = (Vec::new(), BTreeMap::new());
    for step in steps {
        let target = locate_file(&root, step, &mut folders)?;
        if let Some(other) = taken.insert(target.real.clone(), &step.path) {
            return Err(refused(step, format!("it is the same file as `{other}`, by a symlink; remove the link")));
        }
        files.push(target);
    }
    Ok(Targets { root, files })
}

/// Guards against lost updates: the file must still have the text from which the step was made.
pub fn check_unchanged(step: &Step, target: &Target) -> Result<(), ApplyError> {
    let now = match fs::read(&target.real) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(io_error(Operation::Read, &step.path, source)),
    };
    if now.as_deref() == step.before.as_ref().map(Content::as_bytes) {
        return Ok(());
    }
    Err(ApplyError::LostUpdate { path: step.path.clone() })
}

fn real_root(root: &Path) -> io::Result<PathBuf> {
    let root = std::path::absolute(root)?;
    let mut missing = Vec::new();
    let mut path = root.as_path();
    loop {
        match (path.canonicalize(), path.parent(), path.file_name()) {
            (Ok(mut real), ..) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(name);
                path = parent;
            }
            (Err(error), ..) => return Err(error),
        }
    }
}

/// A folder below the root, with all symbolic links resolved.
fn locate_folder(root: &Path, folder: &str, step: &Step) -> Result<PathBuf, ApplyError> {
    let mut real = root.to_owned();
    for folder in folder.split('/').filter(|name| !name.is_empty()) {
        real.push(folder);
        match real.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(io_error(Operation::Read, &step.path, source)),
            Ok(metadata) if metadata.is_symlink() => {
                real = real.canonicalize().map_err(|source| io_error(Operation::Read, &step.path, source))?;
                if !real.starts_with(root) {
                    return Err(refused(
                        step,
                        format!(
                            "the folder `{folder}` is a symlink that leads out of the project; replace it by a folder"
                        ),
                    ));
                }
            }
            Ok(_) => {}
        }
        if !real.is_dir() {
            return Err(refused(step, format!("`{folder}` is a file, and a folder is needed; move it away")));
        }
    }
    Ok(real)
}

/// `folders` caches resolved folders, since many files share a few.
fn locate_file<'a>(
    root: &Path,
    step: &'a Step,
    folders: &mut BTreeMap<&'a str, PathBuf>,
) -> Result<Target, ApplyError> {
    let is_plain = |name: &str| {
        !name.contains(['\\', '\0']) && Path::new(name).components().eq([std::path::Component::Normal(name.as_ref())])
    };
    if !step.path.split('/').all(is_plain) {
        return Err(refused(step, "the path does not stay in the project's folder"));
    }
    let (folder, name) = step.path.rsplit_once('/').unwrap_or(("", &step.path));
    let real = match folders.get(folder) {
        Some(real) => real,
        None => folders.entry(folder).or_insert(locate_folder(root, folder, step)?),
    };
    let link = real.join(name);
    match link.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Target { real: link }),
        Err(source) => Err(io_error(Operation::Read, &step.path, source)),
        Ok(metadata) if metadata.is_symlink() => {
            let real = link.canonicalize().map_err(|_| refused(step, "it is a dangling symlink; remove it"))?;
            if !real.starts_with(root) {
                return Err(refused(step, "it is a symlink that leads out of the project; replace it by a file"));
            }
            check_file(step, &real.metadata().map_err(|source| io_error(Operation::Read, &step.path, source))?)?;
            // For a removed link, the link itself is removed; its target may be the user's.
            let real = if step.verdict == Verdict::Remove { link } else { real };
            Ok(Target { real })
        }
        Ok(metadata) => {
            check_file(step, &metadata)?;
            Ok(Target { real: link })
        }
    }
}

fn check_file(step: &Step, metadata: &fs::Metadata) -> Result<(), ApplyError> {
    if metadata.is_dir() {
        return Err(refused(step, "it is a folder; move it away"));
    }
    if !metadata.is_file() {
        return Err(refused(step, "it is not a regular file; move it away"));
    }
    // A rename would replace it anyway, but someone had a reason to protect it.
    if metadata.permissions().readonly() {
        return Err(refused(step, "it is read-only; allow writing to it"));
    }
    Ok(())
}

pub fn io_error(operation: Operation, path: &str, source: io::Error) -> ApplyError {
    ApplyError::Io { operation, path: path.into(), source }
}

fn refused(step: &Step, reason: impl Into<String>) -> ApplyError {
    ApplyError::Refused { path: step.path.clone(), reason: reason.into() }
}
