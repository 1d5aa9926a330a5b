//! The error type of test environments, with help for each error.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a test environment did not start, or an operation on it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestenvError {
    /// A file or folder could not be used.
    #[error("cannot {operation} `{}`: {error}", .path.display())]
    Io {
        /// The failed operation, e.g. `read`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        error: io::Error,
    },
    /// An environment of this name is running.
    #[error("test environment `{name}` already exists")]
    Exists {
        /// The name.
        name: String,
    },
    /// Nodes were requested, but a program that they need is missing.
    #[error("fake nodes require `{program}`, which is not in `{}`", .folder.display())]
    Missing {
        /// The missing program.
        program: &'static str,
        /// The folder of the programs.
        folder: PathBuf,
    },
    /// The operating system could not start a program.
    #[error("cannot start `{}`: {error}", .program.display())]
    Start {
        /// The path of the program.
        program: PathBuf,
        /// The operating system's error.
        error: io::Error,
    },
    /// A program exited unexpectedly.
    #[error("`{program}` exited ({status}); the end of its log:\n{log}")]
    Exited {
        /// The name of the program.
        program: String,
        /// Its exit status.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// The API server runs, but did not become ready.
    #[error("the API server is not ready after {seconds} s: {reason}; the end of its log:\n{log}")]
    NotReady {
        /// The timeout in seconds.
        seconds: u64,
        /// The response to the last request.
        reason: String,
        /// The last lines of its log.
        log: String,
    },
    /// Creating the certificates failed.
    #[error("cannot create certificates: {0}")]
    Certificates(String),
    /// A file with CRDs does not parse.
    #[error("`{}` is not valid YAML: {message}", .path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        message: String,
    },
    /// A file or folder contains no CRD.
    #[error("no CustomResourceDefinition in `{}`", .0.display())]
    NoCrds(PathBuf),
    /// The API server rejected a CRD, or does not serve it.
    #[error("`{}`: the API server rejects `{name}`: {message}", .path.display())]
    Crd {
        /// The file with the CRD.
        path: PathBuf,
        /// The name of the CRD.
        name: String,
        /// The API server's reason.
        message: String,
    },
    /// The API server rejected a request of the test environment.
    #[error("the API server rejects {what}: {message}")]
    Refused {
        /// The request.
        what: String,
        /// The API server's reason.
        message: String,
    },
}

impl TestenvError {
    pub(crate) fn io(operation: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io { operation, path: path.to_owned(), error }
    }

    /// The next step, if one is known. The commands are those of the `opctl` CLI.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                "the disk is full: free some space, or set OPCTL_CACHE to another folder"
            }
            Self::Exists { .. } => "`opctl testenv status` lists them; `opctl testenv down NAME` stops one",
            Self::Missing { .. } => "install kube-scheduler and kwok next to kube-apiserver",
            Self::Start { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                "make it executable: `chmod +x`"
            }
            Self::Start { .. } | Self::Exited { .. } => {
                "`opctl testenv setup` downloads programs for this machine; see also KUBEBUILDER_ASSETS"
            }
            Self::NoCrds(_) => "specify a folder or file with CRDs, e.g. `--crds config/crd/bases`",
            Self::NotReady { .. } => "is the machine very busy? try again",
            Self::Crd { .. } => "`opctl manifests` reports where in the source it comes from",
            _ => return None,
        };
        Some(help.to_owned())
    }
}
