//! Names → what they mean, as rustc resolves them: items, `use`, renames, globs, re-exports, `self`/`super`/`crate`,
//! other crates of the workspace, and the paths of foreign crates.

use std::collections::HashMap;

use super::foreign::Missing;
use super::known;
use super::modules::{DependencyName, External, ModuleId, Modules, UsePath, undecided};
use crate::diagnostic::Diagnostic;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Module(ModuleId),
    /// A type, constant or function: the module that declares it, and its name there.
    Item(ModuleId, String),
    Foreign(Foreign),
    /// Something that is there only once a build script or a macro has run.
    Hidden(Box<Diagnostic>),
}

/// A path into a foreign crate, by the crate's own name, e.g. `k8s_openapi::api::core::v1::PodSpec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub path: Vec<String>,
    /// The dependency that it starts at; `None`: the path was put into its canonical form, or is std's.
    pub via: Option<DependencyName>,
}

impl Foreign {
    pub fn canonical(path: Vec<String>, via: Option<DependencyName>) -> Self {
        let krate = path[0].clone();
        let path = known::canonical(path);
        let via = via.filter(|_| path[0] == krate);
        Self { path, via }
    }
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
    Search { modules, seen: HashMap::new(), depth: 0, foreign_globs: true }.resolve(from, path, namespace)
}

/// Follows a path of a foreign crate into its source.
pub fn follow(modules: &Modules, foreign: &Foreign, namespace: Namespace) -> Result<Option<Target>, Missing> {
    let Some(via) = &foreign.via else { return Ok(None) };
    let root = modules.enter(via)?;
    let mut search = Search { modules, seen: HashMap::new(), depth: 0, foreign_globs: true };
    Ok(search.walk(Target::Module(root), &foreign.path[1..], namespace))
}

/// The most imports that lead to each other: more than anyone writes, and few enough for a stack.
const MAX_DEPTH: usize = 128;

/// One search. Imports go in circles, and globs reach one module by many ways: each name is looked up once a module.
struct Search<'a> {
    modules: &'a Modules,
    seen: HashMap<(ModuleId, String, Namespace), Option<Target>>,
    /// How many names are being looked up for each other.
    depth: usize,
    /// Whether globs are followed into the sources of foreign crates.
    foreign_globs: bool,
}

impl Search<'_> {
    fn resolve(&mut self, from: ModuleId, path: &UsePath, namespace: Namespace) -> Option<Target> {
        let (first, rest) = path.segments.split_first()?;
        let own = if rest.is_empty() { namespace } else { Namespace::Type };
        let target = match first.as_str() {
            "crate" => Target::Module(self.modules.root(from)),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules.module(from).parent?),
            name if path.global => self.external(from, name)?,
            name if rest.is_empty() => self.lookup(from, name, own).or_else(|| self.external(from, name))?,
            name => {
                // The name of a crate is that crate, not something that a glob from yet another one might bring.
                let external = self.external(from, name);
                let before = self.foreign_globs;
                self.foreign_globs &= external.is_none();
                let near = self.lookup(from, name, own);
                self.foreign_globs = before;
                near.or(external)?
            }
        };
        self.walk(target, rest, namespace)
    }

    /// What the rest of a path names, from what its start names.
    fn walk(&mut self, mut target: Target, rest: &[String], namespace: Namespace) -> Option<Target> {
        for (index, segment) in rest.iter().enumerate() {
            let own = if index + 1 == rest.len() { namespace } else { Namespace::Type };
            target = match target {
                Target::Module(module) if segment == "super" => Target::Module(self.modules.module(module).parent?),
                Target::Module(module) if segment == "self" => Target::Module(module),
                Target::Module(module) => self.lookup(module, segment, own)?,
                Target::Foreign(Foreign { mut path, via }) => {
                    path.push(segment.clone());
                    Target::Foreign(Foreign::canonical(path, via))
                }
                // A path through a type (an associated item or a variant) is for the caller to take apart.
                Target::Item(..) => return None,
                Target::Hidden(_) => return Some(target),
            };
        }
        Some(target)
    }

    fn external(&self, from: ModuleId, name: &str) -> Option<Target> {
        match self.modules.external(from, name)? {
            External::Read(root) => Some(Target::Module(root)),
            External::Foreign(krate, via) => Some(Target::Foreign(Foreign::canonical(vec![krate], via))),
        }
    }

    fn lookup(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        let key = (id, name.to_string(), namespace);
        if let Some(seen) = self.seen.get(&key) {
            return seen.clone();
        }
        if self.depth >= MAX_DEPTH {
            return None;
        }
        // Until it is found, a way that leads back here finds nothing.
        self.seen.insert(key.clone(), None);
        self.depth += 1;
        let found = self.look_up(id, name, namespace);
        self.depth -= 1;
        self.seen.insert(key, found.clone());
        found
    }

    /// A name in a module: its own items, then its imports, then its globs.
    fn look_up(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        let module = self.modules.module(id);
        let item = || Some(Target::Item(id, name.to_string()));
        if let Some(span) = module.undecided.get(name) {
            return Some(Target::Hidden(Box::new(undecided(span.clone(), &format!("`{name}` depends on it")))));
        }
        match namespace {
            Namespace::Type if module.types.contains_key(name) || module.traits.contains_key(name) => return item(),
            Namespace::Type if module.modules.contains_key(name) => return Some(Target::Module(module.modules[name])),
            Namespace::Value if module.consts.contains_key(name) || module.functions.contains_key(name) => {
                return item();
            }
            _ => {}
        }
        // One name may be imported twice, as a type and as a value; what is in a foreign crate is not looked at here.
        let mut foreign = None;
        for path in module.uses.get(name).into_iter().flatten() {
            // `use serde;` and `use serde::{self}`: where the first segment is the name itself, it is the crate.
            let is_crate = path.segments[0] == name && !module.modules.contains_key(name);
            let path = UsePath { global: path.global || is_crate, segments: path.segments.clone() };
            match self.resolve(id, &path, namespace) {
                Some(found @ Target::Foreign(_)) => foreign = foreign.or(Some(found)),
                Some(found) => return Some(found),
                None => {}
            }
        }
        if foreign.is_some() {
            return foreign;
        }
        if let Some(span) = module.made.get(name).filter(|_| namespace == Namespace::Type) {
            return Some(Target::Hidden(Box::new(made_by_macro(name).at(span.clone(), "this macro makes it"))));
        }
        let found = module.globs.iter().find_map(|glob| match self.resolve(id, glob, Namespace::Type)? {
            Target::Module(module) if module != id => self.lookup(module, name, namespace),
            Target::Foreign(foreign) => self.in_foreign_glob(foreign, name, namespace),
            Target::Hidden(diagnostic) => Some(Target::Hidden(diagnostic)),
            _ => None,
        });
        found.or_else(|| {
            let span = module.undecided.get("*")?;
            Some(Target::Hidden(Box::new(undecided(span.clone(), &format!("`{name}` may come from here")))))
        })
    }

    fn in_foreign_glob(&mut self, Foreign { path, via }: Foreign, name: &str, namespace: Namespace) -> Option<Target> {
        let mut inner = path.clone();
        inner.push(name.into());
        let inner = Foreign::canonical(inner, via.clone());
        if known::is_known(&inner.path) && namespace == Namespace::Type {
            return Some(Target::Foreign(inner));
        }
        let via = via.filter(|via| self.foreign_globs && !self.modules.carries(&path[0], via))?;
        // A crate that is not on disk cannot be asked; a name that is found nowhere else is refused then.
        let root = self.modules.enter(&via).ok()?;
        let segments: Vec<String> = path[1..].iter().cloned().chain([name.to_string()]).collect();
        let found = self.walk(Target::Module(root), &segments, namespace)?;
        self.is_there(&found, namespace).then_some(found)
    }

    /// Whether a crate that another one hands on has what the path says: `walk` stops at the door.
    fn is_there(&mut self, target: &Target, namespace: Namespace) -> bool {
        let Target::Foreign(Foreign { path, via: Some(via) }) = target else { return true };
        if namespace == Namespace::Type && known::is_known(path) {
            return true;
        }
        let Ok(root) = self.modules.enter(via) else { return false };
        let found = self.walk(Target::Module(root), &path[1..], namespace);
        found.is_some_and(|found| self.is_there(&found, namespace))
    }
}

pub fn made_by_macro(name: &str) -> Diagnostic {
    Diagnostic::error("OP024", format!("a macro makes the type `{name}`, and opctl does not run macros"))
        .help("write the type out, or specify its schema: `#[schemars(with = \"…\")]`")
}
