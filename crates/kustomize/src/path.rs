//! Paths in kustomizations, which are relative to the folder of the file.

/// `true` if an entry refers to a repository or a URL.
pub fn is_remote(entry: &str) -> bool {
    let hosts =
        ["git@", "git::", "github.com/", "gitlab.com/", "bitbucket.org/", "gh:", "ssh:", "https:", "http:", "file:"];
    entry.contains("://")
        || entry.contains("?ref=")
        || entry.contains(".git/")
        || entry.ends_with(".git")
        || hosts.iter().any(|host| entry.starts_with(host))
}

/// Resolves an entry to a path from the root of the tree; `None` if it leads out of the tree.
pub fn normal(folder: &str, entry: &str) -> Option<String> {
    if entry.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(entry.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Like [`normal`], for a file that must be below the folder: kustomize reads no other files.
pub fn inside(folder: &str, entry: &str) -> Option<String> {
    let below = |path: &String| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    normal(folder, entry).filter(|path| folder.is_empty() || below(path))
}
