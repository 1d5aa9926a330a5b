//! Paths and calls in bodies: resolves the function and its type arguments, and records its requests.

use std::rc::Rc;

use syn::{
    Expr, ExprCall, ExprLit, ExprMethodCall, ExprPath, FnArg, GenericArgument, ImplItem, Lit, Pat, Path, PathArguments,
    QSelf,
};

use super::body::Body;
use super::function::{Call, Fact, Opening, TypeArguments};
use super::table::{Reach, Subresource};
use super::types::{Atom, Decl, Origin, Type};
use super::world::{DeclKind, Env, FnId, Named, Owner, inferred, use_path};
use crate::resolve::modules::{ModuleId, name};
use opctl_model::diagnostic::Span;

/// Methods of `String` that modify it.
const CHANGES_TEXT: &[&str] = &[
    "clear",
    "drain",
    "extend",
    "insert",
    "insert_str",
    "pop",
    "push",
    "push_str",
    "remove",
    "replace_range",
    "retain",
    "truncate",
    "write_fmt",
    "write_str",
];

/// The meaning of a path in an expression.
pub enum Meaning {
    Value(Type),
    /// A function, its `Self` type, and the type arguments after its name.
    Function(FnId, Option<Type>, Vec<Type>),
}

/// A path without its last segment; `None` if nothing is left.
fn prefix(path: &Path) -> Option<Path> {
    let mut prefix = path.clone();
    prefix.segments.pop();
    prefix.segments.pop_punct();
    (!prefix.segments.is_empty()).then_some(prefix)
}

impl Body<'_, '_> {
    pub fn path(&mut self, path: &ExprPath) -> Type {
        match self.meaning(path.qself.as_ref(), &path.path) {
            Meaning::Value(ty) => ty,
            Meaning::Function(id, of, written) => {
                let span = self.span(path);
                let mut opening = self.open(id, of.as_ref(), &written);
                let receiver = opening.env.itself.clone().filter(|_| opening.function.has_receiver());
                let rest = opening.arguments(self.world, &mut self.vars, TypeArguments::Fresh(&written));
                let result = opening.result(self.world, &mut self.vars);
                self.called(&opening, &[], span);
                Type::Fn(receiver.into_iter().chain(rest).collect(), Rc::new(result))
            }
        }
    }

    fn open(&mut self, id: FnId, of: Option<&Type>, written: &[Type]) -> Opening {
        let opening = Opening::new(self.world, &mut self.vars, id, TypeArguments::Fresh(written));
        if let (Some(of), Some(itself)) = (of, &opening.env.itself) {
            self.vars.unify(itself, of);
        }
        opening
    }

    fn meaning(&mut self, qself: Option<&QSelf>, path: &Path) -> Meaning {
        let world = self.world;
        let Some(last) = path.segments.last() else { return Meaning::Value(Type::Unknown) };
        let wanted = name(&last.ident);
        if qself.is_none()
            && path.segments.len() == 1
            && let Some((_, ty)) = self.locals.iter().rev().find(|(name, _)| *name == wanted)
        {
            return Meaning::Value(ty.clone());
        }
        let written = self.written(&last.arguments);
        if let Some(qself) = qself {
            let base = self.lower(&qself.ty);
            return match world.method(&mut self.vars, &base, &wanted, &self.bounds) {
                Some((id, of)) => Meaning::Function(id, Some(of), written),
                None => Meaning::Value(self.vars.fresh()),
            };
        }
        // The name of a constant of `http::Method` equals the method.
        if let Some(constant) = path.segments.last().filter(|_| path.segments.len() > 1)
            && constant.ident.to_string().chars().all(|letter| letter.is_ascii_uppercase())
            && self.is_http_method(path)
        {
            return Meaning::Value(self.vars.set(Atom::Text(constant.ident.to_string().into())));
        }
        if let Some((id, module)) = world.value(self.env.module, path) {
            return match id {
                Ok(id) => Meaning::Function(id, None, written),
                Err(name) => Meaning::Value(self.const_type(module, &name, 0)),
            };
        }
        if let Some((ty, fields)) = self.constructed(None, path) {
            let is_tuple = fields.first().is_some_and(|(name, _)| name == "0");
            return Meaning::Value(match is_tuple {
                true => Type::Fn(fields.into_iter().map(|(_, ty)| ty).collect(), Rc::new(ty)),
                false => ty,
            });
        }
        match self.associated(path, &wanted) {
            Some((id, of)) => Meaning::Function(id, of, written),
            None => Meaning::Value(self.associated_const(path, &wanted).unwrap_or_else(|| self.vars.fresh())),
        }
    }

    fn is_http_method(&self, path: &Path) -> bool {
        let mut prefix = use_path(path);
        prefix.segments.pop();
        let named = self.world.find_segments(self.env.module, &prefix);
        matches!(named, Some(Named::Decl(decl)) if decl == self.world.known.method)
    }

    /// An associated constant by its path.
    fn associated_const(&mut self, path: &Path, wanted: &str) -> Option<Type> {
        let world = self.world;
        let prefix = prefix(path)?;
        let Type::Named(decl, _) = world.lower_path(&mut self.vars, &self.env, None, &prefix, &mut inferred) else {
            return None;
        };
        let impls = world.by_head.get(&decl).into_iter().flatten().map(|index| world.impl_of(*index));
        let (module, item) = impls.into_iter().find_map(|found| {
            let item = found.item.items.iter().find_map(|item| match item {
                ImplItem::Const(item) if item.ident == wanted => Some(item),
                _ => None,
            });
            Some((found.module, item?))
        })?;
        let value = world.constant(module, &item.ty, &item.expr).result?;
        Some(value.with(&mut self.vars, &|_| None))
    }

    /// An associated function by its path.
    fn associated(&mut self, path: &Path, wanted: &str) -> Option<(FnId, Option<Type>)> {
        let world = self.world;
        let prefix = prefix(path)?;
        if let Some(decl) = world.transparent(self.env.module, &prefix) {
            return Some((world.method_of(&self.vars, decl, None, wanted)?, None));
        }
        if let Some(Named::Decl(decl)) = world.find(self.env.module, &prefix)
            && world.is_trait(decl)
        {
            return Some((world.method_of(&self.vars, decl, None, wanted)?, None));
        }
        let base = world.lower_path(&mut self.vars, &self.env, None, &prefix, &mut inferred);
        let base = if prefix.is_ident("Self") { self.anew(&base) } else { base };
        let (id, of) = world.method(&mut self.vars, &base, wanted, &self.bounds)?;
        Some((id, Some(of)))
    }

    /// `Self` may be built with other phantoms than those of `self`.
    fn anew(&mut self, ty: &Type) -> Type {
        match self.vars.known(ty) {
            Type::Named(decl, types) => {
                let written = self.world.declaration(decl).generics.len();
                let types = types.iter().enumerate();
                Type::Named(
                    decl,
                    types.map(|(at, ty)| if at < written { ty.clone() } else { self.vars.fresh() }).collect(),
                )
            }
            ty => ty,
        }
    }

    /// The struct or variant that a path names, with its type.
    pub fn constructor(&mut self, qself: Option<&QSelf>, path: &Path) -> Option<(Decl, Type, Option<String>)> {
        if qself.is_some() {
            return None;
        }
        let world = self.world;
        let last = path.segments.last()?;
        let is_data = |decl: Decl| matches!(world.declaration(decl).what, DeclKind::Data(_));
        let itself = path.is_ident("Self");
        if itself || world.find(self.env.module, path).is_some() {
            let ty = world.lower_path(&mut self.vars, &self.env, None, path, &mut inferred);
            let ty = if itself { self.anew(&ty) } else { ty };
            match &ty {
                Type::Named(decl, _) if is_data(*decl) => return Some((*decl, ty, None)),
                // A path of a crate may be anything, such as a variant.
                Type::Named(..) if !itself => {}
                _ => return None,
            }
        }
        let wanted = name(&last.ident);
        let ty = if let Some(prefix) = prefix(path) {
            let base = world.lower_path(&mut self.vars, &self.env, None, &prefix, &mut inferred);
            if prefix.is_ident("Self") { self.anew(&base) } else { base }
        } else {
            let decl = match wanted.as_str() {
                "Some" | "None" => world.known.option,
                "Ok" | "Err" => world.known.result,
                _ => world.imported_variant(self.env.module, &wanted)?,
            };
            world.any_of(&mut self.vars, decl)
        };
        match &ty {
            Type::Named(decl, _) if self.has_variant(*decl, &wanted) => Some((*decl, ty, Some(wanted))),
            _ => None,
        }
    }

    fn written(&mut self, arguments: &PathArguments) -> Vec<Type> {
        let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
        self.written_in(arguments.args.iter())
    }

    fn written_in<'a>(&mut self, arguments: impl Iterator<Item = &'a GenericArgument>) -> Vec<Type> {
        let types = arguments.filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(self.lower(ty)),
            _ => None,
        });
        types.collect()
    }

    /// The type of a constant; for a string, its value.
    fn const_type(&mut self, module: ModuleId, name: &str, depth: usize) -> Type {
        let here = self.world.modules.module(module);
        let Some(item) = here.consts.get(name) else { return self.vars.fresh() };
        match &*item.expr {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => return self.vars.set(Atom::Text(text.value().into())),
            Expr::Path(path) if depth < 8 => {
                if let Some((Err(name), module)) = self.world.value(module, &path.path) {
                    return self.const_type(module, &name, depth + 1);
                }
            }
            _ => {}
        }
        // The value may determine more than the type, such as the kind of an `ApiResource`.
        let value = self.world.value_type(module, name).with(&mut self.vars, &|_| None);
        let env = Env { module, names: Default::default(), itself: None, depth: 0 };
        let written = self.world.lower(&mut self.vars, &env, &item.ty, &mut inferred);
        match &value {
            Type::Tuple(_) | Type::Set(_) | Type::Var(_) => value,
            _ => {
                self.vars.unify(&written, &value);
                written
            }
        }
    }

    pub fn call_expr(&mut self, call: &ExprCall, expected: Option<&Type>) -> Type {
        let is_awaited = self.is_awaited(expected);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let function = match &*call.func {
            Expr::Path(path) => match self.meaning(path.qself.as_ref(), &path.path) {
                Meaning::Function(id, of, written) => {
                    let span = self.span(path);
                    return self.call(id, of.as_ref(), &written, &arguments, false, expected, span);
                }
                Meaning::Value(ty) => ty,
            },
            function => self.expr(function, None),
        };
        match (self.vars.known(&function), &*call.func) {
            (Type::Fn(types, result), _) => {
                self.expect(&result, expected);
                self.arguments(&arguments, &types);
                (*result).clone()
            }
            (_, Expr::Path(path)) if !self.is_local(&path.path) => {
                let span = self.span(path);
                self.unknown_call(&path.path, &arguments, is_awaited, span)
            }
            (function, _) => {
                self.arguments(&arguments, &[]);
                self.part_of(&function)
            }
        }
    }

    /// `true` if the current call is awaited, or is passed on as a future.
    fn is_awaited(&mut self, expected: Option<&Type>) -> bool {
        let future = self.world.known.future;
        let is_future = |ty: &Type| matches!(self.vars.known(ty), Type::Named(decl, _) if decl == future);
        std::mem::take(&mut self.is_awaited) || expected.is_some_and(is_future)
    }

    fn is_local(&self, path: &Path) -> bool {
        path.get_ident().is_some_and(|ident| self.locals.iter().any(|(local, _)| *local == name(ident)))
    }

    pub fn method_call(&mut self, call: &ExprMethodCall, expected: Option<&Type>) -> Type {
        let is_awaited = self.is_awaited(expected);
        let receiver = self.expr(&call.receiver, None);
        if self.vars.is_free(&receiver) {
            self.world.settle(&mut self.vars);
        }
        let wanted = name(&call.method);
        if CHANGES_TEXT.contains(&wanted.as_str()) {
            self.vars.forget_text(&receiver);
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let written = call.turbofish.as_ref().map(|written| self.written_in(written.args.iter())).unwrap_or_default();
        match self.world.method(&mut self.vars, &receiver, &wanted, &self.bounds) {
            Some((id, of)) => {
                let span = self.span(&call.method);
                self.call(id, Some(&of), &written, &arguments, true, expected, span)
            }
            None => {
                // These methods return their receiver.
                match wanted.as_str() {
                    "clone" | "to_owned" | "as_ref" | "as_mut" | "borrow" | "by_ref" => return receiver,
                    "into" | "as_str" | "try_into" if !self.vars.atoms(&receiver).is_empty() => return receiver,
                    "then" | "then_some" if arguments.len() == 1 => {
                        let value = self.expr(arguments[0], None);
                        let value = match self.vars.known(&value) {
                            Type::Fn(_, result) if wanted == "then" => (*result).clone(),
                            value => value,
                        };
                        return Type::Named(self.world.known.option, Rc::from([value]));
                    }
                    "parse" if !self.vars.atoms(&receiver).is_empty() => {
                        return Type::Named(self.world.known.result, Rc::from([receiver, Type::Unknown]));
                    }
                    _ => {}
                }
                let span = self.span(&call.method);
                let found = self.unknown_method(&receiver, &wanted, &arguments, is_awaited, span);
                if written.iter().any(|ty| self.world.holds(&self.vars, ty)) {
                    self.vars.admit(&found, Origin::Client);
                }
                found
            }
        }
    }

    /// The type of a call of a method without arguments.
    pub fn result_of(&mut self, ty: &Type, wanted: &str) -> Type {
        match self.world.method(&mut self.vars, ty, wanted, &self.bounds) {
            Some((id, of)) => Opening::called_on(self.world, &mut self.vars, id, &of),
            None => self.part_of(ty),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn call(
        &mut self,
        id: FnId,
        of: Option<&Type>,
        written: &[Type],
        arguments: &[&Expr],
        is_method: bool,
        expected: Option<&Type>,
        span: Span,
    ) -> Type {
        let mut opening = self.open(id, of, written);
        let mut types = opening.arguments(self.world, &mut self.vars, TypeArguments::Fresh(written));
        let names_receiver = opening.function.has_receiver() && !is_method;
        if names_receiver {
            types.insert(0, opening.env.itself.clone().unwrap_or(Type::Unknown));
        }
        // Strings that determine the kind of the result must be known before it.
        let early = opening.function.names_kinds.then(|| self.arguments(arguments, &types));
        let result = opening.result(self.world, &mut self.vars);
        self.expect(&result, expected);
        self.world.settle(&mut self.vars);
        if let Some((into, item)) = &opening.function.rules.collects {
            self.collect(&opening.env.names[into].clone(), &opening.env.names[item].clone());
        }
        let mut found = early.unwrap_or_else(|| self.arguments(arguments, &types));
        if names_receiver && !found.is_empty() {
            found.remove(0);
        }
        self.called(&opening, &found, span);
        result
    }

    /// A list of items, or a `Result` of one if the items are results.
    fn collect(&mut self, into: &Type, item: &Type) {
        let known = self.world.known;
        match (self.vars.known(into), self.vars.known(item)) {
            (Type::Named(left, these), Type::Named(right, those))
                if left == right && [known.option, known.result].contains(&left) =>
            {
                self.collect(&these[0], &those[0]);
            }
            (into @ Type::Named(..), item) => {
                let items = self.items_of(&into);
                self.vars.unify(&items, &item);
            }
            _ => {}
        }
    }

    /// Checks arguments, closures last: the types of their parameters follow from the other arguments.
    pub fn arguments(&mut self, arguments: &[&Expr], types: &[Type]) -> Vec<Type> {
        let mut found = vec![Type::Unknown; arguments.len()];
        for closures in [false, true] {
            for (index, argument) in arguments.iter().enumerate() {
                if matches!(argument, Expr::Closure(_)) != closures {
                    continue;
                }
                found[index] = self.expr(argument, types.get(index));
                if let Some(ty) = types.get(index) {
                    self.coerce_at(*argument, &found[index].clone(), ty);
                }
            }
        }
        found
    }

    /// Records the requests of a call.
    fn called(&mut self, opening: &Opening, found: &[Type], span: Span) {
        let function = &opening.function;
        if !function.is_table {
            if !opening.types.is_empty() {
                self.calls.push(Call { id: opening.id, types: opening.types.clone(), span });
            }
            return;
        }
        let parameter = |name: &str| opening.env.names.get(name).cloned().unwrap_or(Type::Unknown);
        let argument = |wanted: &str| {
            let typed = function.signature().inputs.iter().filter_map(|input| match input {
                FnArg::Typed(typed) => Some(&*typed.pat),
                FnArg::Receiver(_) => None,
            });
            let index = typed.into_iter().position(|pattern| matches!(pattern, Pat::Ident(it) if it.ident == wanted));
            index.and_then(|index| found.get(index)).cloned().unwrap_or(Type::Unknown)
        };
        if let Some(reach) = &function.rules.reach {
            let atoms = match reach {
                Reach::Cluster => vec![Atom::Cluster],
                Reach::Some => vec![Atom::SomeNamespace],
                Reach::Any => vec![Atom::SomeNamespace, Atom::Cluster],
                Reach::Argument(name) => self.namespaces(&argument(name)),
            };
            self.vars.unify(&parameter("Reach"), &Type::set(atoms));
        }
        if let Some(names) = &function.rules.kind {
            let says =
                |name: &String| if opening.env.names.contains_key(name) { parameter(name) } else { argument(name) };
            let texts: Vec<Type> = names.iter().map(says).collect();
            let kinds = self.kinds(&texts);
            self.vars.unify(&parameter("Kind"), &kinds);
        }
        if let Some([named, plural]) = function.rules.plural.as_deref() {
            let kinds = self.with_plural(&parameter(named), &argument(plural));
            self.vars.unify(&parameter("Kind"), &kinds);
        }
        if let Some(of) = &function.rules.kind_of {
            let atom = of.as_ref().map_or(Atom::AnyKind, |of| Atom::Of(parameter(of)));
            self.vars.unify(&parameter("Kind"), &Type::set([atom]));
        }
        for (name, said) in &function.rules.says {
            let said = match said {
                Subresource::Named(text) => Type::set([Atom::Text(text.as_str().into())]),
                Subresource::Argument(name) => self.said(&argument(name)),
            };
            self.vars.unify(&parameter(name), &said);
        }
        if let Some(name) = &function.rules.path {
            self.follow_path(&argument(name), &parameter("K"), &parameter("Reach"));
        }
        if let Some(name) = &function.rules.sends {
            let by = self.title(opening);
            self.sent.push((span.clone(), by, argument(name)));
        }
        for asks in &function.rules.asks {
            let kind = parameter(asks.of.as_deref().unwrap_or("K"));
            let reach = match asks.reach.as_deref() {
                Some("some") => Type::set([Atom::SomeNamespace]),
                Some("cluster") => Type::set([Atom::Cluster]),
                name => parameter(name.unwrap_or("Reach")),
            };
            let when = asks.when.as_ref().map(|(name, belonging)| match belonging {
                Some(belonging) => self.world.project(&mut self.vars, &parameter(name), belonging),
                None => parameter(name),
            });
            let subresource = match &asks.subresource {
                Some(Subresource::Named(name)) => Some(Some(name.as_str().into())),
                Some(Subresource::Argument(name)) => Some(self.text(&argument(name))),
                None => None,
            };
            let by = self.title(opening);
            self.facts.push(Fact { asks: asks.clone(), kind, reach, when, subresource, by, span: span.clone() });
        }
        if function.body().is_some_and(|body| !body.stmts.is_empty()) {
            self.calls.push(Call { id: opening.id, types: opening.types.clone(), span });
        }
    }

    fn namespaces(&self, named: &Type) -> Vec<Atom> {
        let atoms = self.vars.atoms(named).into_iter().map(|atom| match atom {
            Atom::Text(text) => Atom::Namespace(text),
            _ => Atom::SomeNamespace,
        });
        let atoms: Vec<Atom> = atoms.collect();
        if atoms.is_empty() { vec![Atom::SomeNamespace] } else { atoms }
    }

    /// The only string that a value may be.
    pub fn text(&self, ty: &Type) -> Option<Rc<str>> {
        match &self.vars.atoms(ty).into_iter().collect::<Vec<_>>()[..] {
            [Atom::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// The name in messages: `Controller::owns`, `watcher`.
    fn title(&self, opening: &Opening) -> String {
        let function = opening.function.name();
        let of = match opening.function.owner {
            Owner::Impl(index) => match &*self.world.impl_of(index).item.self_ty {
                syn::Type::Path(path) => path.path.segments.last().map(|last| name(&last.ident)),
                _ => None,
            },
            Owner::Trait(decl) => self.world.declaration(decl).path.last().cloned(),
            Owner::None => None,
        };
        of.map_or_else(|| function.clone(), |of| format!("{of}::{function}"))
    }
}

impl super::world::World<'_> {
    /// The function or constant that a path names: the function, or the name of the constant, and its module.
    fn value(&self, from: ModuleId, path: &Path) -> Option<(Result<FnId, String>, ModuleId)> {
        let (module, name) = self.value_item(from, &use_path(path))?;
        Some(match self.free.get(&(module, name.clone())) {
            Some(id) => (Ok(*id), module),
            None => (Err(name), module),
        })
    }
}
