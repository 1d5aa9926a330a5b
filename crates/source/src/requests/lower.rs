//! Syntax of types → [`Type`], and everything that follows from a type alone: its fields, its methods, its associated
//! types.

use std::collections::HashMap;
use std::rc::Rc;

use syn::punctuated::Punctuated;
use syn::{
    Fields, GenericArgument, ImplItem, Path, PathArguments, PathSegment, QSelf, ReturnType, Token, Type as Syntax,
    TypeParamBound,
};

use super::function::Opening;
use super::table::when;
use super::types::{Atom, Decl, KindNames, Type, Vars};
use super::world::type_parameters;
use super::world::{DeclKind, Declaration, Elide, Elided, Env, FnId, Impl, Named, Owner, Shape, World, inferred};
use crate::resolve::modules::name;

/// Traits in the bounds of a function's parameters.
pub type Bounds = HashMap<String, Vec<Decl>>;

/// Maximum depth of associated types that depend on each other.
const NESTED: usize = 8;

impl World<'_> {
    pub fn lower(&self, vars: &mut Vars, env: &Env, ty: &Syntax, elide: &mut Elide) -> Type {
        match ty {
            Syntax::Reference(ty) => self.lower(vars, env, &ty.elem, elide),
            Syntax::Paren(ty) => self.lower(vars, env, &ty.elem, elide),
            Syntax::Group(ty) => self.lower(vars, env, &ty.elem, elide),
            Syntax::Ptr(ty) => self.lower(vars, env, &ty.elem, elide),
            Syntax::Slice(ty) => self.list_of(self.lower(vars, env, &ty.elem, elide)),
            Syntax::Array(ty) => self.list_of(self.lower(vars, env, &ty.elem, elide)),
            Syntax::Tuple(ty) => Type::Tuple(ty.elems.iter().map(|ty| self.lower(vars, env, ty, elide)).collect()),
            Syntax::FnPtr(ty) => {
                let inputs = ty.inputs.iter().map(|input| self.lower(vars, env, &input.ty, elide)).collect();
                Type::Fn(inputs, Rc::new(self.lower_output(vars, env, &ty.output, elide)))
            }
            Syntax::ImplTrait(ty) => {
                let structural = ty.bounds.iter().find_map(|bound| self.structural(vars, env, bound, elide));
                structural.unwrap_or_else(|| elide(vars, Elided::ImplTrait(&ty.bounds)))
            }
            Syntax::TraitObject(ty) => {
                let structural = ty.bounds.iter().find_map(|bound| self.structural(vars, env, bound, elide));
                structural.unwrap_or_else(|| {
                    let traits = self.traits(env, &ty.bounds);
                    traits.first().map_or(Type::Unknown, |decl| Type::Named(*decl, Rc::from([])))
                })
            }
            Syntax::Infer(_) => elide(vars, Elided::Argument),
            Syntax::Never(_) => vars.fresh(),
            Syntax::Path(ty) => self.lower_path(vars, env, ty.qself.as_ref(), &ty.path, elide),
            _ => Type::Unknown,
        }
    }

    pub fn lower_output(&self, vars: &mut Vars, env: &Env, output: &ReturnType, elide: &mut Elide) -> Type {
        match output {
            ReturnType::Default => Type::unit(),
            ReturnType::Type(_, ty) => self.lower(vars, env, ty, elide),
        }
    }

    /// The traits of the project or the table among bounds.
    pub fn traits(&self, env: &Env, bounds: &Punctuated<TypeParamBound, Token![+]>) -> Vec<Decl> {
        bounds.iter().filter_map(|bound| self.trait_of(env, bound)).collect()
    }

    pub fn trait_of(&self, env: &Env, bound: &TypeParamBound) -> Option<Decl> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        match self.find(env.module, &bound.path)? {
            Named::Decl(decl) => matches!(self.declaration(decl).what, DeclKind::Trait(_)).then_some(decl),
            Named::Alias(..) => None,
        }
    }

    /// The type that a bound determines completely: a function, a future, a stream.
    pub fn structural(&self, vars: &mut Vars, env: &Env, bound: &TypeParamBound, elide: &mut Elide) -> Option<Type> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        if let PathArguments::Parenthesized(arguments) = &last.arguments {
            let inputs = arguments.inputs.iter().map(|input| self.lower(vars, env, &input.ty, elide)).collect();
            let output = self.lower_output(vars, env, &arguments.output, elide);
            let is_async = last.ident.to_string().starts_with("Async");
            let output = if is_async { self.future_of(output) } else { output };
            return Some(Type::Fn(inputs, Rc::new(output)));
        }
        match self.find(env.module, &bound.path)? {
            Named::Decl(decl) => matches!(self.declaration(decl).what, DeclKind::Data(_))
                .then(|| self.lower_declared(vars, env, decl, last, elide)),
            Named::Alias(..) => Some(self.lower_path(vars, env, None, &bound.path, elide)),
        }
    }

    pub fn lower_path(
        &self,
        vars: &mut Vars,
        env: &Env,
        qself: Option<&QSelf>,
        path: &Path,
        elide: &mut Elide,
    ) -> Type {
        let Some(last) = path.segments.last() else { return Type::Unknown };
        if let Some(qself) = qself {
            let base = self.lower(vars, env, &qself.ty, elide);
            return self.project(vars, &base, &name(&last.ident));
        }
        let first = name(&path.segments[0].ident);
        let itself = env.itself.as_ref().filter(|_| first == "Self");
        match (itself.or_else(|| env.names.get(&first)), path.segments.len()) {
            (Some(ty), 1) => return ty.clone(),
            (Some(ty), 2) => return self.project(vars, &ty.clone(), &name(&last.ident)),
            (Some(_), _) => return Type::Unknown,
            (None, _) => {}
        }
        match self.find(env.module, path) {
            Some(Named::Decl(decl)) => self.lower_declared(vars, env, decl, last, elide),
            Some(Named::Alias(module, alias)) => {
                let mut written = self.arguments(vars, env, last, elide).0.into_iter();
                let mut names = HashMap::new();
                for name in type_parameters(&alias.generics) {
                    let ty = written.next().or_else(|| self.binding(vars, env, last, &name, elide));
                    names.insert(name, ty.unwrap_or_else(|| elide(vars, Elided::Argument)));
                }
                // An alias of itself does not compile.
                if env.depth > 64 {
                    return Type::Unknown;
                }
                let env = Env { module, names, itself: None, depth: env.depth + 1 };
                self.lower(vars, &env, &alias.ty, elide)
            }
            None => self.made_by_macro(&name(&last.ident)),
        }
    }

    /// The kinds with this name whose types macros make: opctl cannot resolve the path of such a type.
    fn made_by_macro(&self, name: &str) -> Type {
        let kinds = self.of_macros.iter().filter(|it| it.kind == name).map(|it| {
            let [group, kind, plural] = [&it.group, &it.kind, &it.plural].map(|part| Rc::from(part.as_str()));
            Atom::Kind(KindNames { group, kind, plural: Some(plural) })
        });
        let mut kinds = kinds.peekable();
        if kinds.peek().is_some() { Type::set(kinds) } else { Type::Unknown }
    }

    /// The type arguments of a segment, and `true` if it has an argument list.
    fn arguments(&self, vars: &mut Vars, env: &Env, segment: &PathSegment, elide: &mut Elide) -> (Vec<Type>, bool) {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return (Vec::new(), false) };
        let types = arguments.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(self.lower(vars, env, ty, elide)),
            _ => None,
        });
        (types.collect(), true)
    }

    /// `Name = Type` among the arguments of a segment.
    fn binding(
        &self,
        vars: &mut Vars,
        env: &Env,
        segment: &PathSegment,
        wanted: &str,
        elide: &mut Elide,
    ) -> Option<Type> {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(found) if found.ident == wanted => Some(self.lower(vars, env, &found.ty, elide)),
            _ => None,
        })
    }

    fn lower_declared(&self, vars: &mut Vars, env: &Env, decl: Decl, segment: &PathSegment, elide: &mut Elide) -> Type {
        let declaration = self.declaration(decl);
        let (written, _) = self.arguments(vars, env, segment, elide);
        if let DeclKind::Elsewhere = declaration.what {
            return Type::Named(decl, written.into());
        }
        let mut types: Vec<Type> = Vec::new();
        let mut written = written.into_iter();
        for (index, name) in declaration.generics.iter().enumerate() {
            let ty = written.next().or_else(|| self.binding(vars, env, segment, name, elide));
            let ty = ty.unwrap_or_else(|| match default_of(&declaration, index) {
                Some(Syntax::Infer(_)) => elide(vars, Elided::Phantom),
                Some(default) => {
                    let names = declaration.generics.iter().cloned().zip(types.iter().cloned()).collect();
                    let module = declaration.module.unwrap_or(env.module);
                    let env = Env { module, names, itself: None, depth: env.depth + 1 };
                    if env.depth > 64 { Type::Unknown } else { self.lower(vars, &env, default, elide) }
                }
                None => elide(vars, Elided::Argument),
            });
            types.push(ty);
        }
        if declaration.is_transparent {
            return types.into_iter().next().unwrap_or(Type::Unknown);
        }
        for _ in 0..self.phantoms(decl) {
            types.push(elide(vars, Elided::Phantom));
        }
        Type::Named(decl, types.into())
    }

    /// A type of a declaration with unknown arguments.
    pub fn any_of(&self, vars: &mut Vars, decl: Decl) -> Type {
        let count = self.declaration(decl).generics.len() + self.phantoms(decl);
        Type::Named(decl, (0..count).map(|_| vars.fresh()).collect())
    }

    pub fn list_of(&self, element: Type) -> Type {
        Type::Named(self.known.list, Rc::from([element]))
    }

    pub fn future_of(&self, output: Type) -> Type {
        Type::Named(self.known.future, Rc::from([output]))
    }

    /// Number of implicit parameters of a type, which follow from the types of its fields.
    fn phantoms(&self, decl: Decl) -> usize {
        self.shapes(decl).iter().flat_map(|shape| &shape.fields).map(|field| field.phantoms.len()).sum()
    }

    /// The shape of a struct, or those of the variants of an enum.
    pub fn shapes(&self, decl: Decl) -> Rc<Vec<Shape>> {
        let declaration = self.declaration(decl);
        let DeclKind::Data(input) = &declaration.what else { return Rc::default() };
        if let Some(shapes) = &*declaration.shapes.borrow() {
            return shapes.clone();
        }
        // A recursive type has no phantoms in its recursive fields.
        *declaration.shapes.borrow_mut() = Some(Rc::default());
        let variants: Vec<(Option<String>, &Fields, _)> = match &input.data {
            syn::Data::Struct(data) => vec![(None, &data.fields, None)],
            syn::Data::Enum(data) => {
                data.variants.iter().map(|it| (Some(name(&it.ident)), &it.fields, when(&it.attrs))).collect()
            }
            syn::Data::Union(_) => Vec::new(),
        };
        let mut count = 0;
        let mut vars = Vars::default();
        let names = declaration.generics.iter().map(|name| (name.clone(), Type::Unknown)).collect();
        let module = declaration.module.expect("its text was read");
        let env = Env { module, names, itself: Some(Type::Unknown), depth: 0 };
        let shapes = variants.into_iter().map(|(variant, fields, when)| {
            let fields = fields.iter().enumerate().map(|(index, field)| {
                let first = count;
                self.lower(&mut vars, &env, &field.ty, &mut |_, elided| {
                    count += usize::from(matches!(elided, Elided::Phantom));
                    Type::Unknown
                });
                let name = field.ident.as_ref().map_or_else(|| index.to_string(), name);
                super::world::Field { name, ty: field.ty.clone(), phantoms: first..count }
            });
            Shape { variant, fields: fields.collect(), when }
        });
        let shapes: Rc<Vec<Shape>> = Rc::new(shapes.collect());
        *declaration.shapes.borrow_mut() = Some(shapes.clone());
        shapes
    }

    /// The types of the fields of a struct or variant, by name.
    pub fn fields(&self, vars: &mut Vars, decl: Decl, types: &[Type], shape: &Shape) -> Vec<(String, Type)> {
        let declaration = self.declaration(decl);
        let (written, phantoms) = types.split_at(declaration.generics.len().min(types.len()));
        let names = declaration.generics.iter().cloned().zip(written.iter().cloned()).collect();
        let Some(module) = declaration.module else { return Vec::new() };
        let env = Env { module, names, itself: Some(Type::Named(decl, types.into())), depth: 0 };
        let fields = shape.fields.iter().map(|field| {
            let mut own = phantoms.get(field.phantoms.clone()).unwrap_or_default().iter();
            let ty = self.lower(vars, &env, &field.ty, &mut |vars, elided| match elided {
                Elided::Phantom => own.next().cloned().unwrap_or_else(|| vars.fresh()),
                Elided::Argument | Elided::ImplTrait(_) => vars.fresh(),
            });
            (field.name.clone(), ty)
        });
        fields.collect()
    }

    pub fn field(&self, vars: &mut Vars, ty: &Type, wanted: &str) -> Option<Type> {
        let mut ty = vars.known(ty);
        for _ in 0..8 {
            match &ty {
                Type::Tuple(types) => return types.get(wanted.parse::<usize>().ok()?).cloned(),
                Type::Named(decl, types) => {
                    let shapes = self.shapes(*decl);
                    if let [shape] = &shapes[..]
                        && shape.variant.is_none()
                        && let Some(at) = shape.fields.iter().position(|field| field.name == wanted)
                    {
                        return Some(self.fields(vars, *decl, types, shape).swap_remove(at).1);
                    }
                }
                _ => return None,
            }
            ty = self.pointee(vars, &ty)?;
        }
        None
    }

    /// The target of `Deref`.
    fn pointee(&self, vars: &mut Vars, ty: &Type) -> Option<Type> {
        let Type::Named(decl, _) = ty else { return None };
        let is_deref = |found: &&Impl| {
            let of = found.item.trait_.as_ref();
            of.and_then(|(of, _)| of.segments.last()).is_some_and(|last| last.ident == "Deref")
        };
        let found = self.impls_for(*decl).find(is_deref)?;
        let target = self.belonging(vars, found, ty, "Target")?;
        if let Some(id) = found.functions.get("deref") {
            // The body of `deref` is more precise than the type's name.
            let told = Opening::called_on(self, vars, *id, ty);
            vars.unify(&target, &told);
        }
        Some(vars.known(&target))
    }

    /// An associated type, as in `T::Item`; if the base type is not known yet, it is resolved later.
    pub fn project(&self, vars: &mut Vars, base: &Type, wanted: &str) -> Type {
        match vars.known(base) {
            base @ Type::Var(_) => {
                let ty = vars.fresh();
                vars.pending.push((base, wanted.into(), ty.clone()));
                ty
            }
            Type::Named(decl, types) => {
                if let Some(index) = self.declaration(decl).generics.iter().position(|name| name == wanted) {
                    return types.get(index).cloned().unwrap_or(Type::Unknown);
                }
                let base = Type::Named(decl, types);
                let found = self.impls_for(decl).find_map(|found| self.belonging(vars, found, &base, wanted));
                found.unwrap_or(Type::Unknown)
            }
            Type::Fn(_, result) if wanted == "Output" => (*result).clone(),
            Type::Param(name) => Type::Param(format!("{name}::{wanted}").into()),
            base @ Type::Tuple(_) => {
                let mut tuples = self.impls.iter().filter(|found| matches!(found.pattern, Type::Tuple(_)));
                tuples.find_map(|found| self.belonging(vars, found, &base, wanted)).unwrap_or(Type::Unknown)
            }
            _ => Type::Unknown,
        }
    }

    /// Resolves pending associated types.
    pub fn settle(&self, vars: &mut Vars) {
        for (base, wanted, ty) in std::mem::take(&mut vars.pending) {
            let found = self.project(vars, &base, &wanted);
            vars.unify(&ty, &found);
        }
    }

    /// An associated type of an impl, for a type that it matches.
    fn belonging(&self, vars: &mut Vars, found: &Impl, ty: &Type, wanted: &str) -> Option<Type> {
        let belonging = found.item.items.iter().find_map(|item| match item {
            ImplItem::Type(item) if item.ident == wanted => Some(&item.ty),
            _ => None,
        })?;
        if !self.fits(vars, &found.pattern, ty) {
            return None;
        }
        // Trait bounds are not considered, so `type Item = <Self as Other>::Item` may seem to refer to itself.
        if vars.nested == NESTED {
            return Some(Type::Unknown);
        }
        vars.nested += 1;
        let names = type_parameters(&found.item.generics).map(|name| (name, vars.fresh())).collect();
        let mut env = Env { module: found.module, names, itself: None, depth: 0 };
        let itself = self.lower(vars, &env, &found.item.self_ty, &mut inferred);
        vars.unify(&itself, ty);
        env.itself = Some(itself);
        let lowered = self.lower(vars, &env, belonging, &mut inferred);
        vars.nested -= 1;
        Some(lowered)
    }

    fn impls_for(&self, decl: Decl) -> impl Iterator<Item = &Impl> {
        self.by_head.get(&decl).into_iter().flatten().map(|index| &self.impls[*index])
    }

    /// `true` if an impl may apply to a type.
    fn fits(&self, vars: &Vars, pattern: &Type, ty: &Type) -> bool {
        let all = |these: &[Type], those: &[Type]| these.iter().zip(those).all(|(it, ty)| self.fits(vars, it, ty));
        match (pattern, &vars.known(ty)) {
            (Type::Named(left, these), Type::Named(right, those)) => left == right && all(these, those),
            (Type::Tuple(these), Type::Tuple(those)) => these.len() == those.len() && all(these, those),
            (Type::Named(..) | Type::Tuple(_), Type::Fn(..) | Type::Tuple(_) | Type::Named(..)) => false,
            _ => true,
        }
    }

    /// An associated function of a type, and its `Self` type.
    pub fn method(&self, vars: &mut Vars, ty: &Type, wanted: &str, bounds: &Bounds) -> Option<(FnId, Type)> {
        let mut ty = vars.known(ty);
        for _ in 0..8 {
            let own = match &ty {
                Type::Named(decl, _) => self.method_of(vars, *decl, Some(&ty), wanted),
                Type::Param(name) => self.required(bounds.get(&**name)?, wanted),
                _ => None,
            };
            let is_known = !matches!(ty, Type::Unknown) && !vars.is_free(&ty);
            if let Some(id) = own.or_else(|| is_known.then(|| self.blanket_method(wanted)).flatten()) {
                return Some((id, ty));
            }
            ty = self.pointee(vars, &ty)?;
        }
        None
    }

    /// A function of a declaration: its own, of one of its traits, or of the trait that it is itself.
    pub fn method_of(&self, vars: &Vars, decl: Decl, ty: Option<&Type>, wanted: &str) -> Option<FnId> {
        let fitting = || self.impls_for(decl).filter(|found| ty.is_none_or(|ty| self.fits(vars, &found.pattern, ty)));
        let in_impl = |inherent: bool| {
            let impls = fitting().filter(move |found| found.item.trait_.is_none() == inherent);
            impls.filter_map(|found| found.functions.get(wanted)).next().copied()
        };
        let provided = || fitting().find_map(|found| self.required(&[found.of?], wanted));
        in_impl(true).or_else(|| in_impl(false)).or_else(provided).or_else(|| self.required(&[decl], wanted))
    }

    /// A function of these traits or of their supertraits.
    fn required(&self, traits: &[Decl], wanted: &str) -> Option<FnId> {
        self.with_supertraits(traits).into_iter().find_map(|decl| {
            let mut functions = self.of_traits.get(&decl).into_iter().flatten();
            functions.find(|(name, _)| name == wanted).map(|(_, id)| *id)
        })
    }

    fn with_supertraits(&self, traits: &[Decl]) -> Vec<Decl> {
        let mut open = traits.to_vec();
        let mut index = 0;
        while let Some(decl) = open.get(index).copied() {
            let declaration = self.declaration(decl);
            if let (DeclKind::Trait(item), Some(module)) = (&declaration.what, declaration.module) {
                let env = Env { module, names: HashMap::new(), itself: None, depth: 0 };
                let supers = self.traits(&env, &item.supertraits);
                let new: Vec<Decl> = supers.into_iter().filter(|decl| !open.contains(decl)).collect();
                open.extend(new);
            }
            index += 1;
        }
        open
    }

    /// The functions of a trait and of its supertraits.
    pub fn functions_of_trait(&self, decl: Decl) -> Vec<FnId> {
        self.with_supertraits(&[decl])
            .into_iter()
            .flat_map(|decl| self.of_traits.get(&decl).into_iter().flatten().map(|(_, id)| *id))
            .collect()
    }

    fn blanket_method(&self, wanted: &str) -> Option<FnId> {
        let blanket = self.blanket.iter().map(|index| &self.impls[*index]);
        // The project's impls are last, and take precedence over the table's.
        blanket.rev().find_map(|found| {
            let own = found.functions.get(wanted).copied();
            own.or_else(|| self.required(&[found.of?], wanted))
        })
    }

    /// The function that a call of a trait's function dispatches to if the type is known, with the types of its
    /// parameters.
    pub fn dispatched(&self, id: FnId, types: &[Type]) -> Option<(FnId, Vec<Type>)> {
        let function = self.function_of(id);
        let Owner::Trait(of) = function.owner else { return None };
        let itself = types.first()?;
        let mut vars = Vars::default();
        let wanted = function.name();
        let found = match itself {
            Type::Named(decl, _) => {
                self.impls_for(*decl).find(|found| found.of == Some(of) && self.fits(&vars, &found.pattern, itself))
            }
            _ => None,
        };
        let blanket = || self.blanket.iter().map(|index| &self.impls[*index]).find(|found| found.of == Some(of));
        let found = found.or_else(blanket)?;
        let id = *found.functions.get(&wanted)?;
        let outer: Vec<String> = type_parameters(&found.item.generics).collect();
        let names: HashMap<String, Type> = outer.iter().map(|name| (name.clone(), vars.fresh())).collect();
        let env = Env { module: found.module, names: names.clone(), itself: None, depth: 0 };
        let pattern = self.lower(&mut vars, &env, &found.item.self_ty, &mut inferred);
        vars.unify(&pattern, itself);
        let of_trait = function.generics()[0].map_or(0, |generics| type_parameters(generics).count());
        let own = types.iter().skip(1 + of_trait).cloned();
        Some((id, outer.iter().map(|name| vars.export(&names[name])).chain(own).collect()))
    }

    /// `true` if a declaration is a trait.
    pub fn is_trait(&self, decl: Decl) -> bool {
        matches!(self.declaration(decl).what, DeclKind::Trait(_))
    }
}

fn default_of(declaration: &Declaration, index: usize) -> Option<&Syntax> {
    match &declaration.what {
        DeclKind::Data(input) => input.generics.type_params().nth(index)?.default.as_ref().map(|(_, ty)| ty),
        DeclKind::Trait(item) => item.generics.type_params().nth(index)?.default.as_ref().map(|(_, ty)| ty),
        DeclKind::Elsewhere => None,
    }
}
