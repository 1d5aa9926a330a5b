//! Where the programs of a control plane are.

use std::path::{Path, PathBuf};

/// A folder with `etcd` and `kube-apiserver`, as `KUBEBUILDER_ASSETS` names one, and maybe more of a control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    folder: PathBuf, // Invariant: it has all of NEEDED.
}

/// Without these nothing starts.
const NEEDED: [&str; 2] = ["etcd", "kube-apiserver"];

impl Assets {
    /// `None` where one of the two programs is not there.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Option<Self> {
        let folder = folder.into();
        NEEDED.iter().all(|name| folder.join(name).is_file()).then_some(Self { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// One that need not be there, e.g. `kube-controller-manager`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|path| path.is_file())
    }
}
