//! Why there is no test environment, and what to do.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum TestenvError {
    #[error("cannot {operation} `{}`: {error}", .path.display())]
    Io { operation: &'static str, path: PathBuf, error: io::Error },
    #[error("`{name}` is a test environment already")]
    Exists { name: String },
    #[error("no `{program}` in `{}`, so there can be no nodes ({nodes} asked for)", .folder.display())]
    Missing { program: &'static str, folder: PathBuf, nodes: u16 },
    #[error("cannot start `{}`: {error}", .program.display())]
    Start { program: PathBuf, error: io::Error },
    #[error("`{program}` ended by itself ({status}); its last words:\n{said}")]
    Ended { program: String, status: String, said: String },
    #[error("the API server is not ready after {seconds} s: {why}; its last words:\n{said}")]
    NotReady { seconds: u64, why: String, said: String },
    #[error("cannot make certificates: {0}")]
    Pki(#[from] rcgen::Error),
    #[error("`{}` is not YAML: {message}", .path.display())]
    Yaml { path: PathBuf, message: String },
    #[error("no CustomResourceDefinition in `{}`", .0.display())]
    NoCrds(PathBuf),
    #[error("`{}`: the API server does not take `{name}`: {message}", .path.display())]
    Crd { path: PathBuf, name: String, message: String },
    #[error("the API server refuses {what}: {message}")]
    Refused { what: String, message: String },
}

impl TestenvError {
    pub(super) fn io(operation: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io { operation, path: path.to_owned(), error }
    }

    /// The next step, where one is known.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                "the disk is full: free some space, or name another folder with OPCTL_CACHE"
            }
            Self::Exists { .. } => "`opctl testenv status` lists them; `opctl testenv down NAME` stops one",
            Self::Missing { .. } => "nodes without containers need kube-scheduler and kwok beside kube-apiserver",
            Self::Start { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                "make it executable: `chmod +x`"
            }
            Self::Start { .. } | Self::Ended { .. } => {
                "`opctl testenv setup` brings programs that fit this machine; see also KUBEBUILDER_ASSETS"
            }
            Self::NoCrds(_) => "name a folder or file that has some, e.g. `--crds config/crd/bases`",
            Self::NotReady { .. } => "is the machine very busy? try again",
            Self::Crd { .. } => "`opctl manifests` says where in the source it comes from",
            _ => return None,
        };
        Some(help.to_owned())
    }
}
