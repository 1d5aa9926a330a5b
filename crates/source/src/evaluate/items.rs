//! Constants and functions in the source by their paths, and constants in attributes.

use std::rc::Rc;

use quote::ToTokens;
use serde_json::Value as Json;
use syn::{
    AngleBracketedGenericArguments, DeriveInput, Expr, ExprPath, FnArg, GenericArgument, GenericParam, ImplItem,
    ItemFn, ItemImpl, Path, PathArguments, Type, TypePath,
};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope, Typed, holds_for_all, impl_scope};
use super::values::{Hint, Local, Value};
use crate::resolve::modules::{ModuleId, TypeDecl, UsePath, name};
use crate::resolve::names::{Namespace, Target, resolve};

/// `impl`s with their modules.
type Impls = Vec<(ModuleId, Rc<ItemImpl>)>;

/// A function in the source, and the scope of its names.
#[derive(Clone, Debug)]
pub struct Function {
    pub scope: Scope,
    pub item: Rc<ItemFn>,
}

impl Function {
    /// A function of an `impl` for a type whose parameters are bound in `scope`.
    pub fn in_impl(item: &ItemImpl, function: &str, at: ModuleId, input: &DeriveInput, scope: &Scope) -> Option<Self> {
        let mut scope = impl_scope(item, at, input, scope);
        scope.leave_open(&item.generics);
        Some(Self::new(scope, function_of(item, function)?))
    }

    pub fn new(mut scope: Scope, item: Rc<ItemFn>) -> Self {
        scope.leave_open(&item.sig.generics);
        // `impl Trait` is a type parameter without a name.
        if crate::resolve::modules::mentions(item.sig.inputs.to_token_stream(), "impl") {
            let open = (syn::parse_quote!(_), scope.clone());
            Rc::make_mut(&mut scope.generics).insert("impl".into(), open);
        }
        Self { scope, item }
    }

    /// The type of a parameter, unless it follows from the argument.
    pub fn parameter_type(&self, input: &FnArg) -> Option<Typed> {
        let FnArg::Typed(typed) = input else { return None };
        let is_given = |parameter: String| !matches!(self.scope.generics.get(&parameter), Some((Type::Infer(_), _)));
        let is_open = matches!(*typed.ty, Type::ImplTrait(_)) || !self.generic(&typed.ty).is_none_or(is_given);
        (!is_open).then(|| ((*typed.ty).clone(), self.scope.clone()))
    }

    /// Binds the parameters of the function to its turbofish arguments.
    fn give(&mut self, list: &AngleBracketedGenericArguments, at: &Scope) {
        let scope = self.scope.clone();
        let given = list.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
        let parameters = &self.item.sig.generics.params;
        let parameters = parameters.iter().filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)));
        for (parameter, given) in parameters.zip(given) {
            match (parameter, given) {
                (GenericParam::Type(parameter), GenericArgument::Type(ty)) => {
                    let typed = (ty.clone(), at.clone());
                    Rc::make_mut(&mut self.scope.generics).insert(name(&parameter.ident), typed);
                }
                // `NAME` parses as a type.
                (GenericParam::Const(parameter), given) => {
                    if let Ok(value) = syn::parse2(given.to_token_stream()) {
                        let ty = Box::new((parameter.ty.clone(), scope.clone()));
                        self.scope.bind(&parameter.ident, Local::Constant(Box::new(value), at.clone(), ty));
                    }
                }
                _ => {}
            }
        }
    }

    /// The type parameter of the function that a type refers to, without `&`.
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

/// The path before its last segment.
pub struct Owner {
    pub ty: Typed,
    pub last: String,
}

impl Evaluator<'_, '_> {
    /// A string that is known at compile time.
    pub fn text(&mut self, expr: &Expr, scope: &Scope) -> Derived<String> {
        match self.evaluate(expr, scope, &Hint::Text)? {
            Value::Text(text) => Ok(text),
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// An integer of this type, unless it has a suffix.
    pub fn integer(&mut self, expr: &Expr, scope: &Scope, ty: &'static str) -> Derived<i128> {
        match self.evaluate(expr, scope, &Hint::Number(ty))? {
            Value::Integer(number, _) => Ok(number),
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// A number as JSON in a schema.
    pub fn number(&mut self, expr: &Expr, scope: &Scope) -> Derived<Json> {
        match self.evaluate(expr, scope, &Hint::Free)? {
            number @ (Value::Integer(..) | Value::Single(_) | Value::Double(_)) => self.serialized(number, expr, scope),
            _ => self.cx.not_evident(expr, scope),
        }
    }
}

impl Context<'_> {
    /// A constant in the source, free or associated: its scope, its type and its value.
    pub fn const_item(&mut self, path: &ExprPath, scope: &Scope) -> Option<(Scope, (Type, Expr))> {
        if let Some((module, name)) = self.free(path, scope) {
            let item = self.modules.module(module).consts.get(&name)?.clone();
            return Some((Scope::of(module), ((*item.ty).clone(), (*item.expr).clone())));
        }
        let owner = self.owner(path, scope)?;
        let (impls, input, scope, last) = self.inherent(owner, None)?;
        let constants = impls.into_iter().filter_map(|(at, item)| {
            item.items.iter().find_map(|found| match found {
                ImplItem::Const(found) if name(&found.ident) == last && holds_for_all(&item) => {
                    let mut scope = impl_scope(&item, at, &input, &scope);
                    scope.leave_open(&item.generics);
                    Some((scope, (found.ty.clone(), found.expr.clone())))
                }
                _ => None,
            })
        });
        only(constants)
    }

    /// A function in the source, free or associated; `expected` is the type that the call must return.
    pub fn function(&mut self, path: &ExprPath, scope: &Scope, expected: Option<&Typed>) -> Option<Function> {
        let mut function = match self.free(path, scope) {
            Some((module, name)) => {
                let item = self.modules.module(module).functions.get(&name)?.clone();
                Function::new(Scope::of(module), item)
            }
            None => {
                let owner = self.owner(path, scope)?;
                let (impls, input, inner, last) = self.inherent(owner, expected)?;
                let impls = impls.into_iter().filter(|(_, item)| holds_for_all(item));
                only(impls.filter_map(|(at, item)| Function::in_impl(&item, &last, at, &input, &inner)))?
            }
        };
        if let Some(PathArguments::AngleBracketed(list)) = path.path.segments.last().map(|last| &last.arguments) {
            function.give(list, scope);
        }
        Some(function)
    }

    /// The `impl`s that may have an associated constant or function, with the type, its scope and the item's name.
    fn inherent(&mut self, owner: Owner, expected: Option<&Typed>) -> Option<(Impls, Rc<DeriveInput>, Scope, String)> {
        let Owner { ty, last } = owner;
        if is_type_parameter(&ty) {
            return None;
        }
        let ty = self.or_expected(ty, expected).ok()?;
        let Ok(Resolved::Data { module, input, scope, .. }) = self.resolved(&ty.0, &ty.1) else { return None };
        // A variant takes precedence.
        let is_variant = match &input.data {
            syn::Data::Enum(data) => data.variants.iter().any(|variant| name(&variant.ident) == last),
            _ => false,
        };
        (!is_variant).then(|| (self.impls.implementations("", module, &name(&input.ident)), input, scope, last))
    }

    /// A method of the type of a value.
    pub fn method(&mut self, data: &super::values::Data, method: &str) -> Option<Function> {
        let impls = self.impls.implementations("", data.module, &name(&data.input.ident)).into_iter();
        let impls = impls.filter(|(_, item)| holds_for_all(item));
        only(impls.filter_map(|(at, item)| Function::in_impl(&item, method, at, &data.input, &data.scope)))
    }

    /// The module and name of a free constant or function.
    fn free(&self, path: &ExprPath, scope: &Scope) -> Option<(ModuleId, String)> {
        if path.qself.is_some() {
            return None;
        }
        match resolve(self.modules, scope.module, &use_path(&path.path), Namespace::Value)? {
            Target::Item(module, name) => Some((module, name)),
            _ => None,
        }
    }

    /// The canonical path of an item of another crate.
    pub fn foreign(&self, path: &ExprPath, scope: &Scope) -> Vec<String> {
        match resolve(self.modules, scope.module, &use_path(&path.path), Namespace::Value) {
            Some(Target::Foreign(foreign)) if path.qself.is_none() => foreign.path,
            _ => Vec::new(),
        }
    }

    /// `true` if a path in a pattern names a constant, a static or a variant.
    pub fn is_item(&mut self, path: &ExprPath, scope: &Scope) -> bool {
        self.importing(path, scope).is_some()
            || self.owner_of_all(path, scope).is_some()
            || resolve(self.modules, scope.module, &use_path(&path.path), Namespace::Value).is_some()
    }

    pub fn is_constant_item(&mut self, path: &ExprPath, scope: &Scope) -> bool {
        self.const_item(path, scope).is_some()
    }

    /// `true` if the module declares a type or trait of this name, so that it is not std's.
    pub fn is_item_of_type(&self, name: &str, scope: &Scope) -> bool {
        let path = UsePath { global: false, segments: vec![name.into()] };
        match resolve(self.modules, scope.module, &path, Namespace::Type) {
            None => false,
            Some(Target::Foreign(foreign)) => foreign.path[0] != "std",
            Some(_) => true,
        }
    }

    /// The type at the start of a path to one of its items: `Type::item`, `Self::item`, `<Type>::item`.
    pub fn owner(&mut self, path: &ExprPath, scope: &Scope) -> Option<Owner> {
        let mut owner = path.path.clone();
        let last = owner.segments.pop()?;
        owner.segments.pop_punct();
        let last = name(&last.ident);
        if let Some(itself) = &path.qself {
            // An item of a trait, `<Type as Trait>::item`, is not an inherent one.
            let ty = ((*itself.ty).clone(), scope.clone());
            if let [.., of, _] = &path.path.segments.iter().collect::<Vec<_>>()[..]
                && matches!(
                    (of.ident.to_string().as_str(), last.as_str()),
                    ("Default", "default") | ("JsonSchema", "json_schema")
                )
                && !self.shadows.is_own_trait(&of.ident.to_string(), scope.module)
            {
                return Some(Owner { ty, last });
            }
            return (itself.position == 0 && !self.is_of_own_trait(&ty, &last)).then_some(Owner { ty, last });
        }
        let ty = self.named_type(owner, scope)?;
        (!self.is_of_own_trait(&ty, &last)).then_some(Owner { ty, last })
    }

    /// `true` if this may be an item of a trait of the crate: all items of a type parameter come from traits, and of
    /// other crates' traits only these items are known.
    fn is_of_own_trait(&mut self, ty: &Typed, item: &str) -> bool {
        let is_known = matches!(item, "default" | "json_schema");
        is_type_parameter(ty) && (!is_known || self.shadows.may_be_of_own_trait(item, ty.1.module))
    }

    /// The enum of an imported variant: `use Enum::Variant;`, `use Enum::*;`.
    pub fn importing(&self, path: &ExprPath, scope: &Scope) -> Option<Owner> {
        let ident = name(path.path.get_ident()?);
        let module = self.modules.module(scope.module);
        let named = module.uses.get(&ident).into_iter().flatten().filter_map(|used| {
            let (last, owner) = used.path.segments.split_last()?;
            Some((UsePath { global: used.path.global, segments: owner.to_vec() }, last.clone()))
        });
        let owners = named.chain(
            // A macro's item takes precedence over one from a glob.
            module
                .globs
                .iter()
                .filter(|_| self.modules.maker(scope.module, &ident).is_none())
                .map(|glob| (glob.path.clone(), ident.clone())),
        );
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

    /// The type that the whole path names.
    pub fn owner_of_all(&mut self, path: &ExprPath, scope: &Scope) -> Option<Typed> {
        match path.qself {
            None => self.named_type(path.path.clone(), scope),
            Some(_) => None,
        }
    }

    fn named_type(&mut self, mut path: Path, scope: &Scope) -> Option<Typed> {
        let last = path.segments.last_mut()?;
        // `Vec::<u8>` in an expression is the type `Vec<u8>`.
        if let PathArguments::AngleBracketed(list) = &mut last.arguments {
            list.colon2_token = None;
        }
        let is_bound = path.get_ident().is_some_and(|ident| scope.generics.contains_key(&name(ident)));
        let is_type = is_bound
            || match resolve(self.modules, scope.module, &use_path(&path), Namespace::Type) {
                Some(Target::Item(..)) => true,
                Some(Target::Foreign(foreign)) => crate::known::is_known(&foreign.path),
                Some(Target::Module(_) | Target::Hidden(_)) => false,
                None => match path.segments.iter().collect::<Vec<_>>()[..] {
                    [only] => crate::known::prelude(&name(&only.ident)).is_some(),
                    _ => false,
                },
            };
        is_type.then(|| (syn::parse_quote!(#path), scope.clone()))
    }

    /// The content of a file, by its path relative to the file of `scope`.
    pub fn included(&self, path: &str, scope: &Scope) -> Option<String> {
        let file = self.modules.module(scope.module).file.clone();
        self.modules.included(&file, path)
    }
}

/// `true` if a type is a type parameter other than `Self`.
fn is_type_parameter((ty, scope): &Typed) -> bool {
    match ty {
        Type::Path(TypePath { qself: None, path, .. }) => {
            path.get_ident().is_some_and(|ident| ident != "Self" && scope.generics.contains_key(&name(ident)))
        }
        _ => false,
    }
}

/// The only element: `impl`s for different arguments of a type may have items of the same name.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// A function of an `impl`, as a free one.
pub fn function_of(item: &ItemImpl, function: &str) -> Option<Rc<ItemFn>> {
    item.items.iter().find_map(|found| match found {
        ImplItem::Fn(found) if name(&found.sig.ident) == function => Some(Rc::new(ItemFn {
            attrs: found.attrs.clone(),
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
