//! Which resource a type is, as the API server names it.

use super::types::{Decl, Type};
use super::world::{What, World};
use crate::source::kinds::Resource;
use crate::source::resolve::Target;

impl World<'_> {
    /// The resource that the objects of a type are; `None`: it is none, or one that is not known.
    pub fn resource(&self, ty: &Type) -> Option<Resource> {
        match ty {
            // Only texts name it, and then kube guesses how it is spelt in the plural.
            Type::Kind(group, kind) => Some(self.kinds.borrow_mut().resource_from_gvk(group, "", kind)),
            Type::Named(decl, types) => self.resource_of(*decl, types),
            _ => None,
        }
    }

    fn resource_of(&self, decl: Decl, types: &[Type]) -> Option<Resource> {
        let declaration = self.declaration(decl);
        let target = match &declaration.what {
            What::Data(input) if input.attrs.iter().any(|attribute| attribute.path().is_ident("same_kind")) => {
                return self.resource(types.first()?);
            }
            What::Data(_) => Target::Item(declaration.module?, declaration.path.last()?.clone()),
            What::Elsewhere => Target::Foreign(declaration.foreign.clone()?),
            What::Trait(_) => return None,
        };
        self.kinds.borrow_mut().resource_of(&target)
    }
}
