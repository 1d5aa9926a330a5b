//! Which resource a type is, as the API server names it.

use syn::DeriveInput;

use super::types::{Decl, Type};
use super::world::{What, World};
use crate::names::default_plural;
use crate::project::builtin;
use crate::source::custom_resource;
use crate::source::modules::TypeDecl;
use crate::source::resolve::{Foreign, Namespace, Target, follow};

/// A resource of the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `""` is the core group.
    pub group: String,
    pub plural: String,
    pub is_namespaced: bool,
}

impl World<'_> {
    /// The resource that the objects of a type are; `None`: it is none, or one that is not known.
    pub fn resource(&self, ty: &Type) -> Option<Resource> {
        match ty {
            Type::Kind(group, kind) => Some(self.resource_named(group, kind)),
            Type::Named(decl, types) => self.resource_of(*decl, types),
            _ => None,
        }
    }

    fn resource_of(&self, decl: Decl, types: &[Type]) -> Option<Resource> {
        let declaration = self.declaration(decl);
        match &declaration.what {
            What::Data(input) if input.attrs.iter().any(|attribute| attribute.path().is_ident("same_kind")) => {
                self.resource(types.first()?)
            }
            What::Data(input) => of_root(input),
            What::Elsewhere => self.resource_elsewhere(declaration.foreign.as_ref()?),
            What::Trait(_) => None,
        }
    }

    fn resource_elsewhere(&self, foreign: &Foreign) -> Option<Resource> {
        let (kind, path) = foreign.path.split_last()?;
        let path = path.join("::");
        let mut all = builtin::groups().flat_map(builtin::in_group);
        if let Some(builtin) = all.find(|builtin| builtin.kind == kind && builtin.path == path) {
            return Some(Resource {
                group: builtin.api_group.into(),
                plural: builtin.plural.into(),
                is_namespaced: builtin.namespaced,
            });
        }
        let Ok(Some(Target::Item(module, name))) = follow(self.modules, foreign, Namespace::Type) else { return None };
        match self.modules.module(module).types.get(&name)? {
            TypeDecl::Data(input) => of_root(input),
            TypeDecl::Alias(_) => None,
        }
    }

    /// A kind that only texts name. How it is spelt in the plural is then kube's guess, too.
    fn resource_named(&self, group: &str, kind: &str) -> Resource {
        let mut all = builtin::groups().flat_map(builtin::in_group);
        let known = all.find(|builtin| builtin.kind == kind && builtin.api_group == group);
        Resource {
            group: group.into(),
            plural: known.map_or_else(|| default_plural(&kind.to_lowercase()), |known| known.plural.into()),
            is_namespaced: known.is_none_or(|known| known.namespaced),
        }
    }
}

/// What `#[kube(…)]` says.
fn of_root(input: &DeriveInput) -> Option<Resource> {
    let (group, plural, is_namespaced) = custom_resource::resource(&input.attrs)?;
    Some(Resource { group, plural, is_namespaced })
}
