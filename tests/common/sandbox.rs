//! An empty folder with a shell that has `opctl` on its PATH.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

pub struct Sandbox {
    root: TempDir,
    /// The working directory of the shell.
    pub folder: PathBuf,
    /// The folder of the `opctl` on its PATH.
    pub programs: PathBuf,
}

impl Sandbox {
    pub fn new() -> Self {
        let root = temporary();
        let folder = root.path().canonicalize().unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_opctl")).parent().unwrap().to_owned();
        Self { root, folder, programs }
    }

    /// The initial folder.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// A program in the shell's folder, without a terminal and with `opctl` on its PATH.
    pub fn command(&self, program: &str) -> Command {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([self.programs.clone()].into_iter().chain(env::split_paths(&inherited)));
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env("PATH", path.unwrap())
            // The folder of a program that replaces kopium.
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

/// Runs a shell command. Panics if it fails.
pub fn shell(sandbox: &Sandbox, line: &str) {
    let output = sandbox.command("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A folder in memory, unless `TMPDIR` is set or little memory is free: tests create many small files, and some disks
/// take a millisecond for each.
fn temporary() -> TempDir {
    const MEMORY: &str = "/dev/shm";
    const FREE_MIB: u64 = 1024;
    static IS_IN_MEMORY: OnceLock<bool> = OnceLock::new();
    let is_in_memory = || {
        let mut df = Command::new("df");
        let output = df.args(["--output=avail", "--block-size=1M", MEMORY]).stderr(Stdio::null()).output();
        let free =
            output.ok().and_then(|output| String::from_utf8(output.stdout).ok()?.lines().nth(1)?.trim().parse().ok());
        env::var_os("TMPDIR").is_none() && free.is_some_and(|free: u64| free >= FREE_MIB)
    };
    let folder = IS_IN_MEMORY.get_or_init(is_in_memory).then(|| tempfile::tempdir_in(MEMORY).ok()).flatten();
    folder.unwrap_or_else(|| tempfile::tempdir().unwrap())
}
