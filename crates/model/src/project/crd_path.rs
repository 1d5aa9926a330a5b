//! The paths of `manifests.crds`: the files and folders in which `opctl manifests` keeps CRDs up to date.

use std::fmt;
use std::path::Path;

/// A file with CRDs, or a folder with files of them, from the folder of the project. It may begin with `..`, in a repository that has
/// more than the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrdPath(String);

impl CrdPath {
    /// The folder of CRDs that opctl generates as a whole.
    pub const BASES: &str = "config/crd/bases";

    /// The setting of a project that does not set it.
    pub fn default_list() -> Vec<Self> {
        vec![Self(Self::BASES.into())]
    }

    /// # Errors
    ///
    /// The rule that the path breaks.
    pub fn parse(text: &str) -> Result<Self, String> {
        if Path::new(text).is_absolute() || text.contains('\\') {
            return Err(format!(
                "`{text}` is not a path from the folder of the project, such as `charts/operator/crds`"
            ));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/').filter(|part| !["", "."].contains(part)) {
            match (part, parts.last()) {
                ("..", Some(last)) if *last != ".." => _ = parts.pop(),
                _ => parts.push(part),
            }
        }
        match parts.last() {
            None | Some(&"..") => {
                Err(format!("`{text}` is the project itself or a folder around it; give the folder of the CRDs"))
            }
            Some(_) => Ok(Self(parts.join("/"))),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for [`BASES`](Self::BASES).
    pub fn is_bases(&self) -> bool {
        self.0 == Self::BASES
    }

    /// A file with one or several CRDs; anything else is a folder.
    pub fn is_file(&self) -> bool {
        [".yaml", ".yml", ".json"].iter().any(|ending| self.0.ends_with(ending))
    }

    /// The number of folders above the project in which the path begins.
    pub fn levels_up(&self) -> usize {
        self.0.split('/').take_while(|part| *part == "..").count()
    }
}

impl fmt::Display for CrdPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        for (text, path, is_file, up) in [
            ("./charts//x/crds/", "charts/x/crds", false, 0),
            ("deploy/../crd.yaml", "crd.yaml", true, 0),
            ("../../charts/x/../y/crd.yml", "../../charts/y/crd.yml", true, 2),
            ("config/crd/bases/", CrdPath::BASES, false, 0),
        ] {
            let read = CrdPath::parse(text).unwrap();
            assert_eq!((read.as_str(), read.is_file(), read.levels_up()), (path, is_file, up));
            assert_eq!(read.is_bases(), path == CrdPath::BASES);
        }
        for wrong in ["", ".", "..", "a/..", "../..", "/etc/crds", "C:\\crds"] {
            assert!(CrdPath::parse(wrong).is_err(), "{wrong}");
        }
    }
}
