//! The golden projects. Each file of `tests/golden` says by which commands one is made, and which files it then has.

use std::fs;
use std::path::{Path, PathBuf};

use crate::helm::has_helm;
use crate::sandbox::{Sandbox, shell};

pub struct Golden {
    pub name: String,
    /// Lines for the shell: `opctl`, and what a user does beside it.
    pub commands: Vec<String>,
}

impl Golden {
    pub fn read(name: &str) -> Self {
        Self::parse(name, &fs::read_to_string(path(name)).unwrap())
    }

    pub fn parse(name: &str, recipe: &str) -> Self {
        let head = recipe.split("\n\n").next().unwrap();
        Self { name: name.into(), commands: commands(head) }
    }

    /// Plays its commands in a new folder, and tells of the tree after each; the sandbox is left in the project.
    pub fn make(&self, after_each: impl FnMut(&str, &Sandbox)) -> Sandbox {
        self.make_in(Sandbox::new(), after_each)
    }

    pub fn make_in(&self, mut sandbox: Sandbox, mut after_each: impl FnMut(&str, &Sandbox)) -> Sandbox {
        for command in &self.commands {
            match command.strip_prefix("cd ") {
                Some(folder) => sandbox.folder.push(folder),
                None => shell(&sandbox, command),
            }
            after_each(command, &sandbox);
        }
        sandbox
    }
}

/// Those of a recipe's head.
pub fn commands(head: &str) -> Vec<String> {
    head.lines().filter_map(|line| line.strip_prefix("$ ")).map(String::from).collect()
}

/// The file that says it all: what it is about, its commands, and after an empty line its files; where
/// it is not `minimal`, those that `minimal` has not, and with a dash those that only `minimal` has.
pub fn path(name: &str) -> PathBuf {
    folder().join(format!("{name}.txt"))
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Whether all of its programs are there; says so if not.
pub fn can_be_made(name: &str) -> bool {
    has_what_it_needs(&format!("the golden project `{name}`"), &fs::read_to_string(path(name)).unwrap())
}

/// Whether all programs are there that a recipe says it needs; says that something is not tested if not.
pub fn has_what_it_needs(tested: &str, recipe: &str) -> bool {
    !recipe.contains("It needs helm 4.") || has_helm(tested)
}

/// Their names, sorted.
pub fn names() -> Vec<String> {
    names_in(&folder())
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| name.strip_suffix(".txt").map(String::from)).collect();
    names.sort();
    names
}
