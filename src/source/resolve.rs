//! Names → what they mean, as rustc resolves them: items, `use`, renames, globs, re-exports, `self`/`super`/`crate`,
//! other crates of the workspace, and the paths of foreign crates.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// Structs, enums, aliases, modules.
    Type,
    /// Constants and functions.
    Value,
}

/// `use` may go in circles; no sane chain is longer than this.
const DEPTH: usize = 64;

/// Resolves a path that stands in module `from`. `None`: nothing of this name is declared, or a macro makes it.
pub fn resolve(modules: &Modules, from: ModuleId, path: &UsePath, namespace: Namespace) -> Option<Target> {
    resolve_within(modules, from, path, namespace, DEPTH)
}

fn resolve_within(
    modules: &Modules,
    from: ModuleId,
    path: &UsePath,
    namespace: Namespace,
    depth: usize,
) -> Option<Target> {
    let depth = depth.checked_sub(1)?;
    let (first, rest) = path.segments.split_first()?;
    let is_last = rest.is_empty();
    let own = if is_last { namespace } else { Namespace::Type };
    let mut target = match first.as_str() {
        "crate" => Target::Module(modules.root(from)),
        "self" => Target::Module(from),
        "super" => Target::Module(modules.module(from).parent?),
        name if path.global => external(modules, from, name)?,
        name => lookup(modules, from, name, own, depth).or_else(|| external(modules, from, name))?,
    };
    for (index, segment) in rest.iter().enumerate() {
        let own = if index + 1 == rest.len() { namespace } else { Namespace::Type };
        target = match target {
            Target::Module(module) if segment == "super" => Target::Module(modules.module(module).parent?),
            Target::Module(module) => lookup(modules, module, segment, own, depth)?,
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

fn external(modules: &Modules, from: ModuleId, name: &str) -> Option<Target> {
    match modules.external(from, name)? {
        Ok(root) => Some(Target::Module(root)),
        Err(krate) => Some(Target::Foreign(known::canonical(vec![krate]))),
    }
}

/// A name in a module: its own items, then its imports, then its globs.
fn lookup(modules: &Modules, id: ModuleId, name: &str, namespace: Namespace, depth: usize) -> Option<Target> {
    let module = modules.module(id);
    let item = || Some(Target::Item(id, name.to_string()));
    match namespace {
        Namespace::Type if module.types.contains_key(name) => return item(),
        Namespace::Type if module.modules.contains_key(name) => return Some(Target::Module(module.modules[name])),
        Namespace::Value if module.consts.contains_key(name) || module.functions.contains_key(name) => return item(),
        _ => {}
    }
    if let Some(path) = module.uses.get(name)
        // `use x::x;` in module x would otherwise look at itself for the first segment.
        && !(path.segments.len() == 1 && path.segments[0] == name && !path.global && modules.external(id, name).is_none())
    {
        let found = if path.segments.len() == 1 && path.segments[0] == name {
            external(modules, id, name)
        } else {
            resolve_import(modules, id, name, path, namespace, depth)
        };
        if found.is_some() {
            return found;
        }
    }
    module.globs.iter().find_map(|glob| match resolve_within(modules, id, glob, Namespace::Type, depth)? {
        Target::Module(module) if module != id => lookup(modules, module, name, namespace, depth.checked_sub(1)?),
        Target::Foreign(mut path) => {
            path.push(name.into());
            let path = known::canonical(path);
            known::is_known(&path).then_some(Target::Foreign(path))
        }
        _ => None,
    })
}

/// The target of `use path`, whose first segment must not be found through this same import.
fn resolve_import(
    modules: &Modules,
    id: ModuleId,
    bound: &str,
    path: &UsePath,
    namespace: Namespace,
    depth: usize,
) -> Option<Target> {
    if path.segments[0] == bound && !path.global {
        // `use serde::serde as …` and the like: the first segment is the crate.
        let global = UsePath { global: true, segments: path.segments.clone() };
        return resolve_within(modules, id, &global, namespace, depth);
    }
    resolve_within(modules, id, path, namespace, depth)
}
