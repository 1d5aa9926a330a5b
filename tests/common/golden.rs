//! The golden projects. Each file of `tests/golden` has the commands that create a project, and the list of its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::helm::has_helm;
use crate::sandbox::{Sandbox, shell};

pub struct Golden {
    pub name: String,
    /// Shell commands: `opctl`, and actions of a user.
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

    /// Runs the commands in a new folder, and calls `after_each` after each. The sandbox is left in the project.
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

/// The commands in the head of a recipe.
pub fn commands(head: &str) -> Vec<String> {
    head.lines().filter_map(|line| line.strip_prefix("$ ")).map(String::from).collect()
}

/// The recipe: a description, the commands, and after an empty line the files. Except for `minimal`, the list only has
/// the files that `minimal` lacks, and with a dash those that only `minimal` has.
pub fn path(name: &str) -> PathBuf {
    folder().join(format!("{name}.txt"))
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// `true` if all required programs are installed; otherwise reports the skipped project.
pub fn can_be_made(name: &str) -> bool {
    has_what_it_needs(&format!("the golden project `{name}`"), &fs::read_to_string(path(name)).unwrap())
}

/// `true` if all programs that a recipe requires are installed; otherwise reports that `tested` is skipped.
pub fn has_what_it_needs(tested: &str, recipe: &str) -> bool {
    !recipe.contains("It needs helm 4.") || has_helm(tested)
}

/// Sorted names of the golden projects.
pub fn names() -> Vec<String> {
    names_in(&folder())
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| name.strip_suffix(".txt").map(String::from)).collect();
    names.sort();
    names
}
