//! A folder with the operator's tree in which some files have other contents. All other files are links.
//!
//! Cargo finds the same in it as in the tree: the workspace, its lock file, patches and profiles, path dependencies,
//! included files. Through the links, it notices each change of the operator's files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Updates `view` to the tree at `root`. `contents` are texts by paths below `root`. The folder `target` is omitted.
pub fn update(root: &Path, view: &Path, contents: &BTreeMap<PathBuf, String>, target: &Path) -> io::Result<()> {
    let below = |path: &PathBuf| path.strip_prefix(root).ok().map(Path::to_owned);
    let contents: BTreeMap<PathBuf, &str> =
        contents.iter().filter_map(|(path, text)| Some((below(path)?, text.as_str()))).collect();
    Update { root, view, contents, target }.folder(Path::new(""))
}

struct Update<'a> {
    root: &'a Path,
    view: &'a Path,
    contents: BTreeMap<PathBuf, &'a str>,
    target: &'a Path,
}

impl Update<'_> {
    fn folder(&self, folder: &Path) -> io::Result<()> {
        let at = self.view.join(folder);
        if at.is_symlink() || at.is_file() {
            fs::remove_file(&at)?;
        }
        fs::create_dir_all(&at)?;
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.root.join(folder))? {
            names.insert(PathBuf::from(entry?.file_name()));
        }
        let own =
            self.contents.keys().filter_map(|path| path.strip_prefix(folder).ok()?.iter().next().map(PathBuf::from));
        names.extend(own);
        // With `.git`, the view would be a repository, and cargo would ask git for the files of packages.
        names.retain(|name| {
            let path = self.root.join(folder).join(name);
            name != Path::new(".git") && path != self.target
        });
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            if !names.contains(Path::new(&entry.file_name())) {
                remove(&entry.path())?;
            }
        }
        for name in names {
            let path = folder.join(name);
            match self.contents.get(&path) {
                Some(text) => write(&self.view.join(&path), text)?,
                None if self.is_changed_below(&path) => self.folder(&path)?,
                None => link(&self.root.join(&path), &self.view.join(&path))?,
            }
        }
        Ok(())
    }
}

impl Update<'_> {
    /// `true` if the folder cannot be a link: it contains changed files or the target folder.
    fn is_changed_below(&self, folder: &Path) -> bool {
        self.contents.keys().any(|path| path.starts_with(folder)) || self.target.starts_with(self.root.join(folder))
    }
}

/// Writes a file unless it has this text, so that its time does not change and cargo does not compile it again.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if !path.is_symlink() && fs::read(path).is_ok_and(|before| before == text.as_bytes()) {
        return Ok(());
    }
    remove(path)?;
    fs::write(path, text)
}

fn link(to: &Path, at: &Path) -> io::Result<()> {
    if fs::read_link(at).is_ok_and(|before| before == to) {
        return Ok(());
    }
    remove(at)?;
    symlink(to, at)
}

fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
