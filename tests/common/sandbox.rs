//! An empty folder with a shell in it that knows `opctl`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Sandbox {
    root: tempfile::TempDir,
    /// Where the shell is.
    pub folder: PathBuf,
    /// The folder of the `opctl` on its path.
    pub programs: PathBuf,
}

impl Sandbox {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().canonicalize().unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_opctl")).parent().unwrap().to_owned();
        Self { root, folder, programs }
    }

    /// The folder that it began with.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// A program in the shell's folder, without a terminal and with `opctl` on its path.
    pub fn command(&self, program: &str) -> Command {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([self.programs.clone()].into_iter().chain(std::env::split_paths(&inherited)));
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env("PATH", path.unwrap())
            // The folder of a program that stands in for kopium.
            .env("KOPIUM", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kopium"))
            .env("BUNDLE", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bundle/good"))
            .env("CHARTS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/charts"))
            .env("OPCTL_CACHE", self.root().join("cache"))
            .env_remove("KUBEBUILDER_ASSETS")
            .env_remove("GITHUB_WORKSPACE")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }
}
