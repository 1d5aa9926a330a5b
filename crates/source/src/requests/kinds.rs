//! The resources of the objects of a type.

use super::types::{Atom, KindNames, Type};
use super::world::{DeclKind, World};
use crate::resolve::names::Target;
use crate::resolve::resources::Resource;

impl World<'_> {
    /// The resources that a type may represent. `None` among them is an unknown one, or a type that is not a kind.
    pub fn resources(&self, ty: &Type) -> Vec<Option<Resource>> {
        match ty {
            Type::Set(atoms) => atoms.iter().flat_map(|atom| self.resources_of(atom)).collect(),
            Type::Named(decl, types) => {
                let declaration = self.declaration(*decl);
                let mut resources = self.resources.borrow_mut();
                vec![match (&declaration.what, declaration.module) {
                    (DeclKind::Data(input), _)
                        if input.attrs.iter().any(|attribute| attribute.path().is_ident("same_kind")) =>
                    {
                        drop(resources);
                        return types.last().map(|kind| self.resources(kind)).unwrap_or_default();
                    }
                    (DeclKind::Data(_), Some(module)) => {
                        let name = declaration.path.last().cloned().unwrap_or_default();
                        resources.resource_of(&Target::Item(module, name))
                    }
                    (DeclKind::Elsewhere, _) => {
                        declaration.foreign.clone().and_then(|foreign| resources.resource_of(&Target::Foreign(foreign)))
                    }
                    _ => None,
                }]
            }
            _ => vec![None],
        }
    }

    fn resources_of(&self, atom: &Atom) -> Vec<Option<Resource>> {
        match atom {
            Atom::Kind(names) if !names.is_ground() => vec![None],
            Atom::Kind(KindNames { group, kind, plural }) => {
                let of_macro = self.of_macros.iter().find(|it| *it.group == **group && *it.kind == **kind);
                let named =
                    || of_macro.cloned().unwrap_or_else(|| self.resources.borrow_mut().resource_named(group, "", kind));
                vec![Some(match plural {
                    Some(plural) if kind.is_empty() => Resource::of_plural(group, plural),
                    Some(plural) => Resource { plural: plural.to_string(), ..named() },
                    None => named(),
                })]
            }
            Atom::Of(ty) => self.resources(ty),
            _ => vec![None],
        }
    }
}
