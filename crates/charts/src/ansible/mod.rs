//! Derives the schema of a kind's spec, and the permissions of its tasks, from an Ansible role or playbook. Nothing is
//! executed.
//!
//! [`Content`] has the files, [`spec()`] returns their parameters, and [`permissions()`] the permissions of their
//! tasks. Each problem is a [`Diagnostic`] with a location.

pub mod diagnostics;
mod expressions;
mod modules;
mod parameters;
mod permissions;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ansible::diagnostics::{OP486, OP491};
use crate::spec::Words;
use opctl_kustomize::yaml::{self, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile};

pub use parameters::{as_variables, spec};
pub use permissions::{Permissions, Rules, permissions};
pub use tasks::missing_roles;

/// The words for roles in comments and messages.
pub const WORDS: Words = Words { source: "role", values: "parameters", status: "AnsibleStatus" };

/// The content that runs for each object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A role by name: a folder in `roles`, or `namespace.collection.role`.
    Role(String),
    /// A playbook by its path from the project's folder.
    Playbook(String),
}

impl Source {
    pub fn is_in_collection(&self) -> bool {
        matches!(self, Self::Role(name) if is_in_collection(name))
    }

    pub fn path(&self) -> String {
        match self {
            Self::Role(name) => role_path(name),
            Self::Playbook(path) => path.clone(),
        }
    }
}

/// The folder of a role.
pub fn role_path(name: &str) -> String {
    format!("roles/{name}")
}

/// `true` if a role is part of a collection, which `requirements.yml` installs.
pub fn is_in_collection(role: &str) -> bool {
    role.contains('.')
}

/// A role or playbook, with the files of all roles and playbooks of the project.
pub struct Content {
    /// The first source runs for an object, others for its finalizer.
    sources: Vec<Source>,
    files: BTreeMap<String, Arc<SourceFile>>,
}

impl Content {
    /// `files` are texts by their paths from the project's folder.
    pub fn new(sources: Vec<Source>, files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.clone(), SourceFile::new(path, text)));
        Self { sources, files: files.collect() }
    }

    fn file(&self, path: &str) -> Option<&Arc<SourceFile>> {
        self.files.get(path)
    }

    /// `true` if the role, or one in the playbook, declares its parameters in `meta/argument_specs.yml`.
    pub fn has_argument_specs(&self) -> bool {
        self.roles(&mut Vec::new()).iter().any(|role| {
            let specs = format!("{}/meta/argument_specs.", role_path(role));
            ["yml", "yaml"].iter().any(|ending| self.files.contains_key(&format!("{specs}{ending}")))
        })
    }

    /// The file `defaults/main` (or another folder) of a role, with either extension, or the files in a folder of that
    /// name.
    fn main_files(&self, role: &str, folder: &str) -> Vec<&Arc<SourceFile>> {
        let base = format!("{}/{folder}/main", role_path(role));
        let alone = [format!("{base}.yml"), format!("{base}.yaml")];
        match alone.iter().find_map(|path| self.file(path)) {
            Some(file) => vec![file],
            None => self.yaml_below(&format!("{base}/")),
        }
    }

    /// The YAML files below a folder, at any depth.
    fn yaml_below(&self, folder: &str) -> Vec<&Arc<SourceFile>> {
        let below = self.files.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder));
        below.filter(|(path, _)| path.ends_with(".yml") || path.ends_with(".yaml")).map(|(_, file)| file).collect()
    }

    fn has_role(&self, name: &str) -> bool {
        let folder = format!("{}/", role_path(name));
        self.files.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }

    /// The roles of the project that have tasks.
    fn role_names(&self) -> BTreeSet<&str> {
        let folders = self.files.keys().filter_map(|path| path.strip_prefix("roles/")?.split_once("/tasks/"));
        folders.map(|(name, _)| name).collect()
    }

    /// Roles and playbooks that neither exist in the project nor belong to a collection.
    pub fn missing(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| match source {
            Source::Role(name) => !is_in_collection(name) && !self.has_role(name),
            Source::Playbook(path) => !self.files.contains_key(path),
        })
    }

    /// The documents of a file. Problems are added to `found`.
    fn read(&self, file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) -> Vec<Node> {
        let mut repeated = Vec::new();
        match yaml::documents_of_ansible(file, &mut repeated) {
            Ok(documents) => {
                for (key, at) in repeated {
                    let message = format!("the key `{key}` is in this mapping again, and Ansible uses the last one");
                    let warning = OP491.warning(message).at(at, "").help("remove this one");
                    if !found.contains(&warning) {
                        found.push(warning);
                    }
                }
                documents
            }
            Err(error) => {
                let Diagnostic { message, span, .. } = *error;
                let error = OP486.error(message).help("correct it");
                found.push(Diagnostic { span, ..error });
                Vec::new()
            }
        }
    }

    /// The roles of the project that run, without duplicates, in order.
    fn roles(&self, found: &mut Vec<Diagnostic>) -> Vec<String> {
        let mut roles = Vec::new();
        let mut open = Vec::new();
        for source in &self.sources {
            match source {
                Source::Role(name) => open.push(name.clone()),
                Source::Playbook(path) => open.extend(tasks::roles_of_playbook(self, path, found)),
            }
        }
        let mut known: BTreeSet<String> = open.iter().cloned().collect();
        while !open.is_empty() {
            let role = open.remove(0);
            if self.has_role(&role) {
                let more = tasks::roles_of_role(self, &role, found);
                open.extend(more.into_iter().filter(|role| known.insert(role.clone())));
            }
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        roles
    }
}
