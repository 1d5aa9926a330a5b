//! The `impl`s in the source, by trait and type.

use std::collections::BTreeSet;
use std::rc::Rc;

use syn::{ImplItem, ItemImpl, Type, TypePath};

use super::modules::{ModuleId, Modules, TypeDecl, UsePath, name};
use super::names::{Namespace, Target, resolve};

/// An `impl Trait for Type` in the source.
struct Implementation {
    trait_name: String,
    module: ModuleId,
    target: (ModuleId, String),
    item: Rc<ItemImpl>,
}

/// The `impl`s of the project, and those of other crates that were read.
pub struct Impls<'a> {
    modules: &'a Modules,
    all: Vec<Implementation>,
    /// Modules whose impls are in the list.
    listed: BTreeSet<ModuleId>,
}

impl<'a> Impls<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        let mut impls = Self { modules, all: Vec::new(), listed: BTreeSet::new() };
        impls.list_impls(&modules.local());
        impls
    }

    fn list_impls(&mut self, modules: &[ModuleId]) {
        for id in modules {
            if self.listed.insert(*id) {
                self.all.extend(implementations(self.modules, *id));
            }
        }
    }

    /// The `impl` of a trait for a type in the source, and its module. `None` also if there are several, for
    /// different arguments.
    pub fn implementation(
        &mut self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Option<(ModuleId, Rc<ItemImpl>)> {
        let mut found = self.implementations(trait_name, module, type_name);
        (found.len() == 1).then(|| found.remove(0))
    }

    pub fn implementations(
        &mut self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Vec<(ModuleId, Rc<ItemImpl>)> {
        if self.modules.is_foreign(module) {
            // It is nearly always next to the type; only otherwise the whole crate is read.
            self.list_impls(&[module]);
            if trait_name.is_empty() || self.listed(trait_name, module, type_name).is_empty() {
                self.list_impls(&self.modules.whole_crate(module));
            }
        }
        // Also the modules that were read later: those on paths, and those that may have such an `impl`.
        self.modules.names_of(type_name);
        self.list_impls(&self.modules.local());
        self.listed(trait_name, module, type_name)
    }

    /// The `impl`s of traits that give a type in the source an associated type of this name; `of` restricts the
    /// trait.
    pub fn with_associated_type(
        &mut self,
        item: &str,
        module: ModuleId,
        type_name: &str,
        of: Option<(ModuleId, &syn::Path)>,
    ) -> Vec<(ModuleId, Rc<ItemImpl>)> {
        self.implementations("", module, type_name);
        let of = of.map(|(id, path)| trait_name(self.modules, id, path).unwrap_or_default());
        let has_item = |found: &&Implementation| {
            let is_it = |found: &ImplItem| matches!(found, ImplItem::Type(found) if name(&found.ident) == item);
            let is_for = found.target.0 == module && found.target.1 == type_name;
            let is_of = !found.trait_name.is_empty() && of.as_ref().is_none_or(|of| found.trait_name == *of);
            is_for && is_of && found.item.items.iter().any(is_it)
        };
        self.all.iter().filter(has_item).map(|found| (found.module, found.item.clone())).collect()
    }

    fn listed(&self, trait_name: &str, module: ModuleId, type_name: &str) -> Vec<(ModuleId, Rc<ItemImpl>)> {
        let of_type = |found: &&Implementation| {
            found.trait_name == trait_name && found.target.0 == module && found.target.1 == type_name
        };
        self.all.iter().filter(of_type).map(|found| (found.module, found.item.clone())).collect()
    }
}

/// The original name of a trait; for one in the source, with its module.
fn trait_name(modules: &Modules, id: ModuleId, path: &syn::Path) -> Option<String> {
    match resolve(modules, id, &UsePath::of(path), Namespace::Type) {
        Some(Target::Foreign(foreign)) => foreign.path.last().cloned(),
        Some(Target::Item(module, name)) if !modules.is_foreign(module) => Some(format!("{module:?} {name}")),
        _ => Some(name(&path.segments.last()?.ident)),
    }
}

/// The impls of a module, by trait (`""`: inherent) and type in the source.
fn implementations(modules: &Modules, id: ModuleId) -> Vec<Implementation> {
    let of_item = |item: &Rc<ItemImpl>| {
        let Type::Path(TypePath { qself: None, path, .. }) = &*item.self_ty else { return None };
        let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let path = UsePath { global: path.leading_colon.is_some(), segments };
        let (module, type_name) = match (resolve(modules, id, &path, Namespace::Type), path.segments.as_slice()) {
            (Some(Target::Item(module, type_name)), _) => aliased(modules, module, type_name),
            // A type that kube's derive generates next to the spec is not in the source.
            (None, [generated]) => (id, generated.clone()),
            _ => return None,
        };
        let trait_name = item.trait_.as_ref().and_then(|(path, _)| trait_name(modules, id, path));
        Some(Implementation {
            trait_name: trait_name.unwrap_or_default(),
            module: id,
            target: (module, type_name),
            item: item.clone(),
        })
    };
    modules.module(id).impls.iter().filter_map(of_item).collect()
}

/// The type in the source that an alias refers to.
fn aliased(modules: &Modules, mut module: ModuleId, mut type_name: String) -> (ModuleId, String) {
    // Limits cycles: chains of aliases are short.
    for _ in 0..8 {
        let Some(TypeDecl::Alias(alias)) = modules.module(module).types.get(&type_name).cloned() else { break };
        let Type::Path(TypePath { qself: None, path, .. }) = &*alias.ty else { break };
        let Some(Target::Item(next, name)) = resolve(modules, module, &UsePath::of(path), Namespace::Type) else {
            break;
        };
        (module, type_name) = (next, name);
    }
    (module, type_name)
}
