//! Resolves names as rustc does: items, `use`, renames, globs, re-exports, `self`/`super`/`crate`, other crates of
//! the workspace, and paths of foreign crates.

use std::collections::{BTreeSet, HashMap};

use syn::DeriveInput;

use super::derives;
use super::foreign::Missing;
use super::modules::{DependencyName, External, ModuleId, Modules, Reach, TypeDecl, UsePath, undecided};
use crate::diagnostics::{OP013, OP024};
use crate::known;
use opctl_model::diagnostic::Diagnostic;

/// The result of resolving a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Module(ModuleId),
    /// A type, constant or function: the module that declares it, and its name there.
    Item(ModuleId, String),
    Foreign(Foreign),
    /// An item that only exists after a build script or a macro has run.
    Hidden(Box<Diagnostic>),
}

/// A path into a foreign crate, by the crate's own name, e.g. `k8s_openapi::api::core::v1::PodSpec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub path: Vec<String>,
    /// The dependency that it starts at; `None` if the path is canonical, or std's.
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
    /// Derives and other macros.
    Macro,
}

/// Resolves a path in module `from`. `None` if no item of this name is declared, or a macro declares it.
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

/// Maximum depth of imports that lead to each other, limited by the size of a stack.
const MAX_DEPTH: usize = 128;

/// One search. Imports may be cyclic, and several globs may lead to one module: each name is looked up once per
/// module.
struct Search<'a> {
    modules: &'a Modules,
    seen: HashMap<(ModuleId, String, Namespace), Option<(Target, Reach)>>,
    /// Number of nested lookups.
    depth: usize,
    /// `true` if globs are followed into the sources of foreign crates.
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
            name if rest.is_empty() => {
                let near = self.lookup(from, name, own).or_else(|| self.in_macro_crates(from, name, own));
                near.or_else(|| self.external(from, name))?
            }
            name => {
                // The name of a crate refers to that crate, not to an item from a glob of yet another one.
                let external = self.external(from, name);
                let before = self.foreign_globs;
                self.foreign_globs &= external.is_none();
                let near = self.lookup(from, name, own);
                self.foreign_globs = before;
                match near {
                    Some(Target::Hidden(_)) if external.is_some() => external?,
                    near => near.or(external)?,
                }
            }
        };
        self.walk(target, rest, namespace)
    }

    /// Resolves the rest of a path from the target of its start.
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
                // The caller resolves a path through a type (an associated item or a variant).
                Target::Item(..) => return None,
                Target::Hidden(_) => return Some(target),
            };
        }
        Some(target)
    }

    fn external(&self, from: ModuleId, name: &str) -> Option<Target> {
        let external = self.modules.external(from, name).or_else(|| {
            // `extern crate … as name;` in the crate's root applies to all modules.
            let root = self.modules.root(from);
            let renamed = self.modules.module(root).uses.get(name)?.first()?.path.clone();
            match renamed.segments.as_slice() {
                [own] if own == "self" => Some(External::Read(root)),
                [krate] if renamed.global => self.modules.external(from, krate),
                _ => None,
            }
        });
        match external? {
            External::Read(root) => Some(Target::Module(root)),
            External::Foreign(krate, via) => Some(Target::Foreign(Foreign::canonical(vec![krate], via))),
        }
    }

    fn lookup(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        Some(self.found(id, name, namespace)?.0)
    }

    /// The target of a name in a module, and its visibility there.
    fn found(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<(Target, Reach)> {
        let key = (id, name.to_string(), namespace);
        if let Some(seen) = self.seen.get(&key) {
            return seen.clone();
        }
        if self.depth >= MAX_DEPTH {
            return None;
        }
        // Until it is found, a cycle back to this name finds nothing.
        self.seen.insert(key.clone(), None);
        self.depth += 1;
        let found = self.look_up(id, name, namespace);
        self.depth -= 1;
        self.seen.insert(key, found.clone());
        found
    }

    /// Looks up a name in a module: its own items, then its imports, then its globs.
    fn look_up(&mut self, id: ModuleId, name: &str, namespace: Namespace) -> Option<(Target, Reach)> {
        let module = self.modules.module(id);
        let hidden = |diagnostic: Diagnostic| Some((Target::Hidden(Box::new(diagnostic)), Reach::All));
        if let Some(span) = module.undecided.get(name) {
            return hidden(undecided(span.clone(), &format!("`{name}` depends on it")));
        }
        if let Some(span) = module.changed.get(name).filter(|_| namespace != Namespace::Macro) {
            return hidden(changed_by_macro(name).at(span.clone(), ""));
        }
        let declared = (namespace == Namespace::Value, name.to_owned());
        let reach = module.reaches.get(&declared).copied().unwrap_or(Reach::All);
        let item = || Some((Target::Item(id, name.to_string()), reach));
        match namespace {
            Namespace::Type
                if module.types.contains_key(name)
                    || module.traits.contains_key(name)
                    || module.trait_names.contains(name)
                    || module.roots.contains_key(name) =>
            {
                return item();
            }
            Namespace::Type if module.modules.contains_key(name) => {
                return Some((Target::Module(module.modules[name]), reach));
            }
            Namespace::Value if module.consts.contains_key(name) || module.functions.contains_key(name) => {
                return item();
            }
            _ => {}
        }
        // One name may be imported twice, as a type and as a value; the contents of foreign crates are not checked
        // here.
        let mut foreign = None;
        for used in module.uses.get(name).into_iter().flatten() {
            // In `use serde;` and `use serde::{self}`, the first segment is the name itself, so it refers to the
            // crate.
            let path = &used.path;
            let is_crate = path.segments[0] == name && !module.modules.contains_key(name);
            let path = UsePath { global: path.global || is_crate, segments: path.segments.clone() };
            match self.resolve(id, &path, namespace) {
                Some(found @ Target::Foreign(_)) => foreign = foreign.or(Some((found, used.reach))),
                Some(found) => return Some((found, used.reach)),
                None => {}
            }
        }
        if foreign.is_some() {
            return foreign;
        }
        // A macro's item takes precedence over globs and the prelude. (rustc refuses that for macros.)
        let is_requested = namespace != Namespace::Macro && !self.modules.is_whole();
        let made = is_requested.then(|| self.modules.maker(id, name)).flatten();
        if let Some((span, true)) = &made {
            return hidden(made_by_macro(name).at(span.clone(), "this macro makes it"));
        }
        let found = module.globs.iter().find_map(|glob| {
            let (found, reach) = match self.resolve(id, &glob.path, Namespace::Type)? {
                Target::Module(module) if module != id => self.found(module, name, namespace)?,
                Target::Foreign(foreign) => (self.in_foreign_glob(foreign, name, namespace)?, Reach::All),
                Target::Hidden(diagnostic) => (Target::Hidden(diagnostic), Reach::All),
                _ => return None,
            };
            self.modules.reaches(reach, id).then(|| (found, self.narrower(reach, glob.reach)))
        });
        let is_in_prelude = known::prelude(name).is_some() && !known::is_primitive(name);
        let exists = found.is_some() || namespace == Namespace::Type && is_in_prelude;
        if let Some((span, false)) = made.filter(|_| exists) {
            let message = format!("a macro may make another `{name}`, and opctl does not run macros");
            let help = format!("import `{name}` with a `use` of its own, or call the macro in another module");
            return hidden(OP024.error(message).at(span, "the names that it makes are not known").help(help));
        }
        found.or_else(|| {
            let span = module.undecided.get("*")?;
            hidden(undecided(span.clone(), &format!("`{name}` may come from here")))
        })
    }

    /// An import does not extend the visibility of its item.
    fn narrower(&self, item: Reach, import: Reach) -> Reach {
        match (item, import) {
            (Reach::Within(_), Reach::Within(module)) if self.modules.reaches(item, module) => import,
            (Reach::All, import) => import,
            (item, _) => item,
        }
    }

    /// A macro of a `#[macro_use] extern crate`, which takes precedence over those of std.
    fn in_macro_crates(&mut self, from: ModuleId, name: &str, namespace: Namespace) -> Option<Target> {
        let root = self.modules.module(self.modules.root(from));
        let mut crates = root.macro_crates.iter().filter(|_| namespace == Namespace::Macro);
        crates.find_map(|krate| match self.external(from, krate)? {
            Target::Foreign(foreign) => self.in_foreign_glob(foreign, name, namespace),
            found => self.walk(found, &[name.to_owned()], namespace),
        })
    }

    /// `true` if the table of signatures declares this path.
    fn is_in_table(&self, path: &[String], namespace: Namespace) -> bool {
        let path = UsePath { global: true, segments: path.to_vec() };
        let is_item = |table| matches!(resolve(self.modules, table, &path, namespace), Some(Target::Item(..)));
        self.modules.table().is_some_and(is_item)
    }

    fn in_foreign_glob(&mut self, Foreign { path, via }: Foreign, name: &str, namespace: Namespace) -> Option<Target> {
        let mut inner = path.clone();
        inner.push(name.into());
        let inner = Foreign::canonical(inner, via.clone());
        let is_known = match namespace {
            Namespace::Type => known::is_known(&inner.path) || self.is_in_table(&inner.path, namespace),
            Namespace::Value => self.is_in_table(&inner.path, namespace),
            Namespace::Macro => derives::known(&inner.path).is_some(),
        };
        if is_known {
            return Some(Target::Foreign(inner));
        }
        let via = via.filter(|via| self.foreign_globs && !self.modules.carries(&path[0], via))?;
        // If a crate is not on disk, it is skipped; a name that is found nowhere else is refused then. The names in a
        // crate of procedural macros are not known.
        let is_of_macros = self.modules.declared(&via).folder.is_some();
        let root = self.modules.enter(&via);
        if namespace == Namespace::Macro
            && (is_of_macros || matches!(root, Err(Missing::Library { .. })))
            && !derives::is_unrelated(&path[0])
        {
            return Some(Target::Hidden(Box::new(made_by_macro(name))));
        }
        let root = root.ok()?;
        let found = match self.walk(Target::Module(root), &path[1..], Namespace::Type)? {
            Target::Module(module) => match self.found(module, name, namespace)? {
                (found, Reach::All) => found,
                _ => return None,
            },
            found => self.walk(found, &[name.to_string()], namespace)?,
        };
        self.exists(&found, namespace).then_some(found)
    }

    /// `true` if a crate that another one re-exports has the item of the path: `walk` stops at the crate.
    fn exists(&mut self, target: &Target, namespace: Namespace) -> bool {
        let Target::Foreign(Foreign { path, via: Some(via) }) = target else { return true };
        if namespace == Namespace::Type && known::is_known(path) {
            return true;
        }
        let Ok(root) = self.modules.enter(via) else { return false };
        let found = self.walk(Target::Module(root), &path[1..], namespace);
        found.is_some_and(|found| self.exists(&found, namespace))
    }
}

/// The names of the types of a module, including imports. `None` if a macro, a derive or another crate may declare
/// the type `wanted`.
pub fn types_in(modules: &Modules, id: ModuleId, wanted: &str) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let (mut seen, mut left) = (BTreeSet::new(), vec![id]);
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let module = modules.module(id);
        let derives_it = |input: &DeriveInput| derives::may_make(modules, id, input, wanted);
        let is_made =
            module.types.values().any(|declared| matches!(declared, TypeDecl::Data(input) if derives_it(input)));
        if modules.is_foreign(id)
            || is_made
            || modules.maker(id, wanted).is_some()
            || module.undecided.contains_key("*")
        {
            return None;
        }
        names.extend(module.types.keys().chain(module.roots.keys()).chain(module.uses.keys()).cloned());
        for glob in &module.globs {
            match resolve(modules, id, &glob.path, Namespace::Type) {
                Some(Target::Module(inner)) => left.push(inner),
                // A glob of an enum imports its variants, which are not types.
                Some(Target::Item(..)) => {}
                _ => return None,
            }
        }
    }
    Some(names)
}

pub fn changed_by_macro(name: &str) -> Diagnostic {
    OP013
        .error(format!("an attribute macro may change `{name}`, and opctl does not run macros"))
        .help("write out what it expands to, or print the CRDs from the compiled types")
}

pub fn made_by_macro(name: &str) -> Diagnostic {
    OP024
        .error(format!("a macro makes the type `{name}`, and opctl does not run macros"))
        .help("write the type out, or specify its schema: `#[schemars(with = \"…\")]`")
}
