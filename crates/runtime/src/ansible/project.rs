//! The project folder with roles and playbooks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde_json::{Value, json};

use super::controller::Play;
use crate::digest::{digest, files};

/// Files and folders of a project that affect a run. Others are ignored, such as `target`.
const PARTS: [&str; 19] = [
    "ansible.cfg",
    "files",
    "filter_plugins",
    "group_vars",
    "handlers",
    "host_vars",
    "inventory",
    "library",
    "lookup_plugins",
    "module_utils",
    "playbooks",
    "requirements.txt",
    "requirements.yml",
    "roles",
    "tasks",
    "templates",
    "test_plugins",
    "vars",
    "collections/requirements.yml",
];

/// The files of a project, as read when the operator started.
#[derive(Debug)]
pub(super) struct Project {
    pub folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Project {
    pub fn read(folder: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        let mut all = BTreeMap::new();
        for part in PARTS {
            let path = folder.join(part);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {
                    all.extend(files(&path)?.into_iter().map(|(path, text)| (format!("{part}/{path}"), text)));
                }
                Ok(_) => drop(all.insert(part.to_owned(), fs::read(&path)?)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { folder, files: all })
    }

    /// The path of a playbook or role; `None` for a role of a collection, which Ansible finds itself.
    pub fn find(&self, play: &Play) -> Result<Option<PathBuf>, String> {
        match play {
            Play::Playbook(path) => {
                let path = self.folder.join(path);
                match path.is_file() {
                    true => Ok(Some(path)),
                    false => Err(format!("there is no playbook `{}`", path.display())),
                }
            }
            Play::Role(name) if name.split('.').count() == 3 && !name.contains('/') => Ok(None),
            Play::Role(name) => {
                let named = env::var_os("ANSIBLE_ROLES_PATH").unwrap_or_default();
                let named = env::split_paths(&named).flat_map(|path| [path.clone(), path.join("roles")]);
                let folders: Vec<_> = [self.folder.join("roles")].into_iter().chain(named).collect();
                let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_dir());
                found.map(Some).ok_or_else(|| {
                    let shown = folders.iter().map(|folder| format!("`{}`", folder.display()));
                    format!("there is no role `{name}` in {}", Vec::from_iter(shown).join(", "))
                })
            }
        }
    }

    /// A playbook that runs a role, by path if it was found, so that Ansible does not search elsewhere.
    pub fn playbook_for(&self, name: &str, found: Option<&Path>) -> Value {
        let role = found.map_or_else(|| name.to_owned(), |path| path.display().to_string());
        let mut play = json!({ "name": name, "hosts": "localhost", "roles": [role] });
        if env::var("ANSIBLE_GATHERING").is_ok_and(|gathering| gathering != "explicit") {
            return json!([play]);
        }
        play["gather_facts"] = false.into();
        json!([play])
    }

    /// A digest of everything that affects a run with these variables: the files of the project, a role or playbook
    /// outside of it, and the environment variables that `vars` refers to.
    pub fn digest(&self, found: Option<&Path>, vars: &str) -> io::Result<String> {
        let elsewhere = match found {
            Some(path) if path.is_dir() && !path.starts_with(&self.folder) => files(path)?,
            Some(path) if path.is_file() => vec![(path.display().to_string(), fs::read(path)?)],
            _ => Vec::new(),
        };
        let all = || self.files.iter().chain(elsewhere.iter().map(|(path, text)| (path, text)));
        let names = |name: &str| {
            let has = |text: &[u8]| text.windows(name.len()).any(|part| part == name.as_bytes());
            has(vars.as_bytes()) || all().any(|(_, text)| has(text))
        };
        let mut environment: Vec<(String, String)> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .filter(|(name, _)| name.starts_with("ANSIBLE_") || names(name))
            .collect();
        environment.sort();
        let environment = environment.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        Ok(digest(all().flat_map(|(path, text)| [path.as_bytes(), text]).chain(environment)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_playbooks_are_found_and_every_file_of_theirs_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("roles/web/tasks/main.yml", "- debug:");
        write("playbooks/web.yml", "- hosts: localhost");
        write("target/big", "");
        let read = || Project::read(folder.path()).unwrap();
        let project = read();
        assert_eq!(Vec::from_iter(project.files.keys()), ["playbooks/web.yml", "roles/web/tasks/main.yml"]);
        let role = project.find(&Play::Role("web".into())).unwrap().unwrap();
        assert!(role.ends_with("roles/web"));
        assert!(project.find(&Play::Playbook("playbooks/web.yml".into())).unwrap().is_some());
        assert_eq!(project.find(&Play::Role("community.general.web".into())), Ok(None));
        let missing = project.find(&Play::Role("other".into())).unwrap_err();
        assert!(missing.contains("no role `other`") && missing.contains("roles"), "{missing}");
        assert!(project.find(&Play::Playbook("web.yml".into())).unwrap_err().contains("no playbook"));

        let before = project.digest(Some(&role), "").unwrap();
        assert_eq!(read().digest(Some(&role), "").unwrap(), before);
        assert_ne!(read().digest(Some(&role), "{{ lookup('env', 'PATH') }}").unwrap(), before);
        write("roles/common/defaults/main.yml", "a: 1");
        assert_ne!(read().digest(Some(&role), "").unwrap(), before);
    }
}
