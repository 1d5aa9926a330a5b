//! Constants and functions of the source by their paths, and the constants that stand in attributes.

use std::rc::Rc;

use serde_json::{Value as Json, json};
use syn::{DeriveInput, Expr, ExprPath, FnArg, ImplItem, ItemFn, ItemImpl, Path, PathArguments, Type, TypePath};

use super::modules::{ModuleId, TypeDecl, UsePath, name};
use super::resolve::{Namespace, Target, resolve};
use super::types::{Derived, Deriver, Resolved, Scope, Typed, impl_scope};
use super::values::Value;

/// A function of the source, and what the names in it mean.
pub struct Function {
    pub scope: Scope,
    pub item: Rc<ItemFn>,
}

impl Function {
    /// The function of this name in an `impl` for a type whose parameters mean what they mean in `scope`.
    pub fn in_impl(item: &ItemImpl, function: &str, at: ModuleId, input: &DeriveInput, scope: &Scope) -> Option<Self> {
        Some(Self { scope: impl_scope(item, at, input, scope), item: function_of(item, function)? })
    }

    /// The type of a parameter, where it is one of the function's own types.
    pub fn parameter_type(&self, input: &FnArg) -> Option<Typed> {
        match input {
            FnArg::Typed(typed) if !matches!(*typed.ty, Type::ImplTrait(_)) && self.generic(&typed.ty).is_none() => {
                Some(((*typed.ty).clone(), self.scope.clone()))
            }
            _ => None,
        }
    }

    /// The type parameter of the function that a type is, seen through `&`.
    pub fn generic(&self, ty: &Type) -> Option<String> {
        match ty {
            Type::Reference(inner) => self.generic(&inner.elem),
            Type::Path(TypePath { qself: None, path, .. }) => {
                let ident = path.get_ident()?;
                self.item.sig.generics.type_params().any(|parameter| parameter.ident == *ident).then(|| name(ident))
            }
            _ => None,
        }
    }
}

/// What stands before the last segment of a path.
pub struct Owner {
    pub ty: Typed,
    pub last: String,
}

impl Deriver<'_> {
    /// A string known at compile time.
    pub fn text(&mut self, expr: &Expr, scope: &Scope) -> Derived<String> {
        match self.evaluate(expr, scope, None)? {
            Value::Text(text) => Ok(text),
            Value::Char(letter) => Ok(letter.to_string()),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Bool(value) => Ok(value.to_string()),
            _ => self.not_evident(expr, scope),
        }
    }

    pub fn integer(&mut self, expr: &Expr, scope: &Scope) -> Derived<i128> {
        match self.evaluate(expr, scope, None)? {
            Value::Integer(number) => Ok(number),
            _ => self.not_evident(expr, scope),
        }
    }

    /// A number as it stands in a schema.
    pub fn number(&mut self, expr: &Expr, scope: &Scope) -> Derived<Json> {
        match self.evaluate(expr, scope, None)? {
            Value::Integer(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Ok(number.into()),
                (_, Ok(number)) => Ok(number.into()),
                _ => self.not_evident(expr, scope),
            },
            Value::Float(number) => Ok(json!(number)),
            _ => self.not_evident(expr, scope),
        }
    }

    /// A constant of the source, free or associated: where it stands, its type and its value.
    pub fn const_item(&mut self, path: &ExprPath, scope: &Scope) -> Option<(Scope, (Type, Expr))> {
        if let Some((module, name)) = self.free(path, scope) {
            let item = self.modules.module(module).consts.get(&name)?.clone();
            return Some((Scope::of(module), ((*item.ty).clone(), (*item.expr).clone())));
        }
        let Owner { ty, last } = self.owner(path, scope)?;
        let Ok(Resolved::Data { module, input, scope, .. }) = self.resolved(&ty.0, &ty.1) else { return None };
        let constants = self.implementations("", module, &name(&input.ident)).into_iter().filter_map(|(at, item)| {
            item.items.iter().find_map(|found| match found {
                ImplItem::Const(found) if name(&found.ident) == last => {
                    Some((impl_scope(&item, at, &input, &scope), (found.ty.clone(), found.expr.clone())))
                }
                _ => None,
            })
        });
        only(constants)
    }

    /// A function of the source, free or associated; `expected` is what it is called for.
    pub fn function(&mut self, path: &ExprPath, scope: &Scope, expected: Option<&Typed>) -> Option<Function> {
        if let Some((module, name)) = self.free(path, scope) {
            let item = self.modules.module(module).functions.get(&name)?.clone();
            return Some(Function { scope: Scope::of(module), item });
        }
        let Owner { ty, last } = self.owner(path, scope)?;
        let ty = self.or_expected(ty, expected).ok()?;
        let Ok(Resolved::Data { module, input, scope, .. }) = self.resolved(&ty.0, &ty.1) else { return None };
        let functions = self.implementations("", module, &name(&input.ident)).into_iter();
        only(functions.filter_map(|(at, item)| Function::in_impl(&item, &last, at, &input, &scope)))
    }

    /// A method of the type of a value.
    pub fn method(&mut self, data: &super::values::Data, method: &str) -> Option<Function> {
        let functions = self.implementations("", data.module, &name(&data.input.ident)).into_iter();
        only(functions.filter_map(|(at, item)| Function::in_impl(&item, method, at, &data.input, &data.scope)))
    }

    /// The module and name of a constant or function that is no type's.
    fn free(&self, path: &ExprPath, scope: &Scope) -> Option<(ModuleId, String)> {
        if path.qself.is_some() {
            return None;
        }
        match resolve(self.modules, scope.module, &use_path(&path.path), Namespace::Value)? {
            Target::Item(module, name) => Some((module, name)),
            _ => None,
        }
    }

    /// The type that a path starts with, where one item of it follows: `Type::item`, `Self::item`, `<Type>::item`.
    pub fn owner(&mut self, path: &ExprPath, scope: &Scope) -> Option<Owner> {
        let mut owner = path.path.clone();
        let last = owner.segments.pop()?;
        owner.segments.pop_punct();
        let last = name(&last.ident);
        if let Some(itself) = &path.qself {
            return Some(Owner { ty: ((*itself.ty).clone(), scope.clone()), last });
        }
        Some(Owner { ty: self.named_type(owner, scope)?, last })
    }

    /// The enum of a variant that stands alone: `use Enum::Variant;`, `use Enum::*;`.
    pub fn importing(&self, path: &ExprPath, scope: &Scope) -> Option<Owner> {
        let ident = name(path.path.get_ident()?);
        let module = self.modules.module(scope.module);
        let named = module.uses.get(&ident).into_iter().flatten().filter_map(|used| {
            let (last, owner) = used.path.segments.split_last()?;
            Some((UsePath { global: used.path.global, segments: owner.to_vec() }, last.clone()))
        });
        let owners = named.chain(module.globs.iter().map(|glob| (glob.path.clone(), ident.clone())));
        let mut enums = owners.filter(|(owner, variant)| {
            let Some(Target::Item(at, declared)) = resolve(self.modules, scope.module, owner, Namespace::Type) else {
                return false;
            };
            match self.modules.module(at).types.get(&declared) {
                Some(TypeDecl::Data(input)) => match &input.data {
                    syn::Data::Enum(data) => data.variants.iter().any(|found| name(&found.ident) == *variant),
                    _ => false,
                },
                _ => false,
            }
        });
        let (owner, last) = enums.next()?;
        let global = if owner.global { "::" } else { "" };
        let ty = syn::parse_str(&format!("{global}{}", owner.segments.join("::"))).ok()?;
        Some(Owner { ty: (ty, scope.clone()), last })
    }

    /// The type that a path names as a whole.
    pub fn owner_of_all(&mut self, path: &ExprPath, scope: &Scope) -> Option<Typed> {
        match path.qself {
            None => self.named_type(path.path.clone(), scope),
            Some(_) => None,
        }
    }

    fn named_type(&mut self, mut path: Path, scope: &Scope) -> Option<Typed> {
        let last = path.segments.last_mut()?;
        // `Vec::<u8>` in an expression is `Vec<u8>`.
        if let PathArguments::AngleBracketed(list) = &mut last.arguments {
            list.colon2_token = None;
        }
        let is_bound = path.get_ident().is_some_and(|ident| scope.generics.contains_key(&name(ident)));
        let is_type = is_bound
            || match resolve(self.modules, scope.module, &use_path(&path), Namespace::Type) {
                Some(Target::Item(..)) => true,
                Some(Target::Foreign(foreign)) => super::known::is_known(&foreign.path),
                Some(Target::Module(_) | Target::Hidden(_)) => false,
                None => path.get_ident().is_some_and(|ident| super::known::prelude(&name(ident)).is_some()),
            };
        is_type.then(|| (syn::parse_quote!(#path), scope.clone()))
    }

    /// The text of a file beside the one that `scope` is in.
    pub fn included(&self, path: &str, scope: &Scope) -> Option<String> {
        let file = self.modules.module(scope.module).file.clone();
        self.modules.included(&file, path)
    }
}

/// The only one: `impl`s for different arguments of a type may have items of the same name.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// A function of an `impl`, as a free one.
pub fn function_of(item: &ItemImpl, function: &str) -> Option<Rc<ItemFn>> {
    item.items.iter().find_map(|found| match found {
        ImplItem::Fn(found) if name(&found.sig.ident) == function => Some(Rc::new(ItemFn {
            attrs: Vec::new(),
            vis: syn::Visibility::Inherited,
            modifiers: found.modifiers.clone(),
            sig: found.sig.clone(),
            block: Box::new(found.block.clone()),
        })),
        _ => None,
    })
}

fn use_path(path: &Path) -> UsePath {
    UsePath {
        global: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|segment| name(&segment.ident)).collect(),
    }
}
