//! Which resource the objects of a type are.

use super::types::Type;
use super::world::{DeclKind, World};
use crate::source::kinds::Resource;
use crate::source::resolve::Target;

impl World<'_> {
    /// `None`: the type is no kind, or one that is not known.
    pub fn resource(&self, ty: &Type) -> Option<Resource> {
        let mut deriver = self.deriver.borrow_mut();
        match ty {
            Type::Kind(group, kind) => Some(deriver.resource_named(group, "", kind)),
            Type::Named(decl, types) => {
                let declaration = self.declaration(*decl);
                match (&declaration.what, declaration.module) {
                    (DeclKind::Data(input), _)
                        if input.attrs.iter().any(|attribute| attribute.path().is_ident("same_kind")) =>
                    {
                        drop(deriver);
                        self.resource(types.first()?)
                    }
                    (DeclKind::Data(_), Some(module)) => {
                        deriver.resource_of(&Target::Item(module, declaration.path.last()?.clone()))
                    }
                    (DeclKind::Elsewhere, _) => deriver.resource_of(&Target::Foreign(declaration.foreign.clone()?)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
