//! A project in a sandbox, created by shell commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::common;
use crate::sandbox::Sandbox;
use crate::tree::tree;
use crate::workdir::{self, cargo_lock, sync};

pub type Files = BTreeMap<String, Vec<u8>>;

pub struct Project {
    sandbox: Sandbox,
}

impl Project {
    pub fn new(lines: &[&str]) -> Self {
        Self::of(&Files::new(), lines)
    }

    /// Starts with the files of another project.
    pub fn of(files: &Files, lines: &[&str]) -> Self {
        let project = Self { sandbox: Sandbox::new() };
        sync(&project.folder(), files);
        for line in lines {
            project.shell(line);
        }
        project
    }

    pub fn folder(&self) -> PathBuf {
        self.sandbox.root()
    }

    pub fn files(&self) -> Files {
        tree(&self.folder())
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder().join(path)).unwrap()
    }

    /// Edits a file of the user.
    pub fn replace(&self, path: &str, old: &str, new: &str) {
        let text = self.read(path);
        assert!(text.contains(old), "{path}: no `{old}` in\n{text}");
        fs::write(self.folder().join(path), text.replace(old, new)).unwrap();
    }

    /// Runs a command that must succeed. Returns its output.
    pub fn shell(&self, line: &str) -> String {
        let output = self.try_shell(line);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        said
    }

    pub fn try_shell(&self, line: &str) -> Output {
        self.sandbox.command("sh").args(["-c", line]).output().unwrap()
    }

    /// Asserts that opctl reports nothing.
    pub fn is_sound(&self) {
        self.shell("opctl manifests --check");
        self.shell("opctl check --deny-warnings");
    }
}

/// A folder in which projects are compiled one after another, so that their dependencies are compiled once.
pub struct BuildFolder {
    folder: PathBuf,
    /// The folder of a workspace's member below it.
    member: &'static str,
}

impl BuildFolder {
    pub fn new(name: &str, member: &'static str) -> Self {
        Self { folder: common::operators_target().join("webhooks").join(name), member }
    }

    pub fn take(&self, files: &Files) {
        let mut files = files.clone();
        let path = format!("{}Cargo.toml", self.member);
        let manifest = String::from_utf8(files[&path].clone()).unwrap();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap();
        // cargo identifies packages below its target folder by name and version, not by path.
        let folder = self.folder.file_name().unwrap().display();
        let with_version = |text: &str| {
            let version = format!("name = \"{name}\"\nversion = \"0.1.0");
            assert!(text.contains(&version), "{text}");
            text.replacen(&version, &format!("{version}-{folder}"), 1).into_bytes()
        };
        files.insert("Cargo.lock".into(), with_version(&cargo_lock(name, !self.member.is_empty())));
        files.insert(path, with_version(&manifest));
        sync(&self.folder, &files);
        // Otherwise rustfmt would use the settings of a parent folder.
        fs::write(self.folder.with_file_name("rustfmt.toml"), "").unwrap();
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.join(self.member)
    }

    /// Compiles without warnings, and passes its tests. Returns their output.
    pub fn compiles(&self, files: &Files) -> String {
        self.lints(files);
        let _cargo = workdir::lock_cargo();
        self.cargo(&["test", "--locked"], &[])
    }

    /// Lints without warnings.
    pub fn lints(&self, files: &Files) {
        let _cargo = workdir::lock_cargo();
        self.take(files);
        self.cargo(&["fmt", "--check"], &[]);
        self.cargo(&["clippy", "--locked", "--all-targets", "--", "-D", "warnings"], &[]);
    }

    /// Runs cargo without warnings. Returns stdout.
    pub fn cargo(&self, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let mut command = common::cargo(&self.folder(), arguments);
        // Incremental, since most of two trees is equal.
        command.env("CARGO_INCREMENTAL", "1").envs(variables.iter().copied());
        succeeds(command)
    }
}

/// Runs a command that must succeed without warnings. Returns stdout.
fn succeeds(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (said, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{command:?}:\n{said}\n{error}");
    assert!(!error.contains("warning"), "{command:?}:\n{error}");
    said
}
