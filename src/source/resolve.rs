//! Names → what they mean, as rustc resolves them: items, `use`, renames, globs, re-exports, `self`/`super`/`crate`,
//! other crates of the workspace, and the paths of foreign crates.

use std::collections::HashMap;

use super::known;
use super::modules::{ModuleId, Modules, UsePath};

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Module(ModuleId),
    /// A type, constant or function: the module that declares it, and its name there.
    Item(ModuleId, String),
    /// A path into a foreign crate, by the crate's own name, e.g. `k8s_openapi::api::core::v1::PodSpec`.
    Foreign(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Namespace {
    /// Structs, enums, aliases, modules.
    Type,
    /// Constants and functions.
    Value,
}

/// Resolves a path that stands in module `from`. `None`: nothing of this name is declared, or a macro makes it.
pub fn resolve(modules: &Modules, from: ModuleId, path: &UsePath, namespace: Namespace) -> Option<Target> {
    Search { modules, seen: HashMap::new() }.resolve(from, path, namespace)
}

/// One search. Imports go in circles, and globs reach one module by many ways: each name is looked up once a module.
struct Search<'a> {
    modules: &'a Modules,
    seen: HashMap<(ModuleId, String, Namespace), Option<Target>>,
}

impl Search<'_> {
    fn resolve(&mut self, from: ModuleId, path: &UsePath, namespace: Namespace) -> Option<Target> {
        let (first, rest) = path.segments.split_first()?;
        let own = if rest.is_empty() { namespace } else { Namespace::Type };
        let mut target = match first.as_str() {
            "crate" => Target::Module(self.modules.root(from)),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules.module(from).parent?),
            name if path.global => self.external(from, name)?,
            name => self.lookup(from, name, own).or_else(|| self.external(from, name))?,
        };
        for (index, segment) in rest.iter().enumerate() {
            let own = if index + 1 == rest.len() { namespace } else { Namespace::Type };
            target = match target {
                Target::Module(module) if segment == "super" => Target::Module(self.modules.module(module).parent?),
                Target::Module(module) => self.lookup(module, segment, own)?,
                Target::Foreign(mut path) => {
                    path.push(segment.clone());
                    Target::Foreign(known::canonical(path))
                }
                // A path through a type (an associated item or a variant) is for the caller to take apart.
                Target::Item(..) => return None,
            };
        }
        Some(target)
    }

    fn external(&self, from: ModuleId, name: &str) -> Option<Target> {
        match self.modules.external(from, name)? {
            Ok(root) => Some(Target::Module(root)),
            Err(krate) => Some(Target::Foreign(known::canonical(vec![krate]))),
        }
    }

    fn lookup(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        let key = (id, name.to_string(), namespace);
        if let Some(seen) = self.seen.get(&key) {
            return seen.clone();
        }
        // Until it is found, a way that leads back here finds nothing.
        self.seen.insert(key.clone(), None);
        let found = self.look_up(id, name, namespace);
        self.seen.insert(key, found.clone());
        found
    }

    /// A name in a module: its own items, then its imports, then its globs.
    fn look_up(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        let module = self.modules.module(id);
        let item = || Some(Target::Item(id, name.to_string()));
        match namespace {
            Namespace::Type if module.types.contains_key(name) => return item(),
            Namespace::Type if module.modules.contains_key(name) => return Some(Target::Module(module.modules[name])),
            Namespace::Value if module.consts.contains_key(name) || module.functions.contains_key(name) => {
                return item();
            }
            _ => {}
        }
        if let Some(path) = module.uses.get(name) {
            // `use serde::serde as …` and the like: where the first segment is the name itself, it is the crate.
            let path = UsePath { global: path.global || path.segments[0] == name, segments: path.segments.clone() };
            if let Some(found) = self.resolve(id, &path, namespace) {
                return Some(found);
            }
        }
        module.globs.iter().find_map(|glob| match self.resolve(id, glob, Namespace::Type)? {
            Target::Module(module) if module != id => self.lookup(module, name, namespace),
            Target::Foreign(mut path) => {
                path.push(name.into());
                let path = known::canonical(path);
                known::is_known(&path).then_some(Target::Foreign(path))
            }
            _ => None,
        })
    }
}
