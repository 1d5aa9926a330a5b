//! Instantiates a function with types for its generic parameters, and collects the API requests that its body makes:
//! [`Analysis`].

use std::collections::HashMap;
use std::rc::Rc;

use quote::ToTokens;
use syn::{Expr, FnArg, ReturnType, Type as Syntax};

use super::body::Body;
use super::lower::Bounds;
use super::table::Asks;
use super::types::{PHANTOM, Type, Vars};
use super::world::{Elided, Env, FnId, Function, Owner, World, inferred};
use crate::resolve::modules::{ModuleId, mentions};
use opctl_model::diagnostic::Span;

/// The API requests and the calls in a function body.
#[derive(Default)]
pub struct Analysis {
    pub facts: Vec<Fact>,
    pub calls: Vec<Call>,
    pub unseen: Vec<Unseen>,
    /// The type of the body's value.
    pub result: Option<Type>,
}

/// A call of a function in the table that makes requests.
#[derive(Clone)]
pub struct Fact {
    pub asks: Rc<Asks>,
    pub kind: Type,
    pub reach: Type,
    /// The type that decides if the request is made; `None` if it always is.
    pub when: Option<Type>,
    /// `Some(None)` is a subresource that is known only at run time.
    pub subresource: Option<Option<Rc<str>>>,
    pub by: String,
    pub span: Span,
}

/// A place that may make requests that opctl cannot determine.
#[derive(Clone)]
pub struct Unseen {
    pub span: Span,
    pub why: Why,
}

#[derive(Clone)]
pub enum Why {
    /// Method that is called on a value of unknown type.
    Receiver(String),
    /// Unknown function or method that gets a client.
    Function(String),
    /// A request whose path is known only at run time.
    Path(String),
    /// Macro that is not understood.
    Macro(String),
    /// The crate with this index uses kube.
    Crate(usize),
    /// Syntax that opctl does not know.
    Syntax,
}

/// A call of a generic function.
#[derive(Clone)]
pub struct Call {
    pub id: FnId,
    pub types: Vec<Type>,
    pub span: Span,
}

/// The types that replace the generic parameters of a function.
#[derive(Clone, Copy)]
pub enum TypeArguments<'g> {
    /// The generic parameters remain parameters.
    Themselves,
    Types(&'g [Type]),
    /// Inferred, except for those that are written.
    Fresh(&'g [Type]),
}

pub struct Opening {
    pub id: FnId,
    pub function: Rc<Function>,
    pub env: Env,
    /// Types of its generic parameters; implicit ones (`impl Trait`, phantoms) are last.
    pub types: Vec<Type>,
    pub bounds: Bounds,
}

impl TypeArguments<'_> {
    fn of(self, vars: &mut Vars, index: usize, name: &str, outer: usize) -> Type {
        match self {
            Self::Themselves => Type::Param(name.into()),
            Self::Types(types) => types.get(index).map_or(Type::Unknown, |ty| ty.with(vars, &|_| None)),
            Self::Fresh(written) => {
                let written = index.checked_sub(outer).and_then(|index| written.get(index));
                written.cloned().unwrap_or_else(|| vars.fresh())
            }
        }
    }
}

impl Opening {
    pub fn new(world: &World, vars: &mut Vars, id: FnId, give: TypeArguments) -> Self {
        let function = world.function_of(id);
        let parameters = function.parameters();
        let own = function.signature().generics.type_params().count();
        let outer = parameters.len() - own;
        let mut types = Vec::new();
        let mut names = HashMap::new();
        for (index, name) in parameters.into_iter().enumerate() {
            let ty = give.of(vars, index, &name, outer);
            types.push(ty.clone());
            names.insert(name, ty);
        }
        let env = Env { module: function.module, names, itself: None, depth: 0 };
        let mut opening = Self { id, function: function.clone(), env, types, bounds: Bounds::new() };
        match function.owner {
            Owner::Impl(index) => {
                let itself = opening.lower(world, vars, &world.impl_of(index).item.self_ty, give);
                opening.env.itself = Some(itself);
            }
            Owner::Trait(decl) => {
                opening.env.itself = opening.env.names.get("Self").cloned();
                opening.bounds.insert("Self".into(), vec![decl]);
            }
            Owner::None => {}
        }
        // A bound may use a parameter that a later bound determines.
        for _ in 0..2 {
            for (name, bound) in function.bounds() {
                if let Some(ty) = world.structural(vars, &opening.env, bound, &mut inferred) {
                    match give {
                        TypeArguments::Themselves => drop(opening.env.names.insert(name, ty)),
                        TypeArguments::Types(_) | TypeArguments::Fresh(_) => {
                            // `Self` of an impl is not a parameter.
                            if let Some(parameter) = opening.env.names.get(&name) {
                                vars.unify(parameter, &ty);
                            }
                        }
                    }
                } else if let Some(of) = world.trait_of(&opening.env, bound) {
                    opening.bounds.entry(name).or_default().push(of);
                }
            }
        }
        opening
    }

    /// The return type of a method on a type, with all arguments inferred.
    pub fn called_on(world: &World, vars: &mut Vars, id: FnId, of: &Type) -> Type {
        let mut opening = Self::new(world, vars, id, TypeArguments::Fresh(&[]));
        if let Some(itself) = &opening.env.itself {
            vars.unify(itself, of);
        }
        opening.arguments(world, vars, TypeArguments::Fresh(&[]));
        opening.result(world, vars)
    }

    /// Lowers a type of the signature; each elided part becomes a parameter.
    fn lower(&mut self, world: &World, vars: &mut Vars, ty: &Syntax, give: TypeArguments) -> Type {
        let Self { env, types, bounds, .. } = self;
        world.lower(vars, env, ty, &mut |vars, elided| {
            if let Elided::Argument = elided {
                return vars.fresh();
            }
            let prefix = if let Elided::Phantom = elided { PHANTOM } else { "~" };
            let name = format!("{prefix}{}", types.len());
            let ty = give.of(vars, types.len(), &name, usize::MAX);
            if let Elided::ImplTrait(written) = elided {
                bounds.insert(name, world.traits(env, written));
            }
            types.push(ty.clone());
            ty
        })
    }

    /// The types of the arguments, without the receiver.
    pub fn arguments(&mut self, world: &World, vars: &mut Vars, give: TypeArguments) -> Vec<Type> {
        let function = self.function.clone();
        let typed = function.signature().inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        });
        typed
            .map(|ty| match function.names_kinds && is_text(ty) {
                // Its value is an implicit parameter.
                true => {
                    let name = format!("{PHANTOM}{}", self.types.len());
                    let ty = give.of(vars, self.types.len(), &name, usize::MAX);
                    self.types.push(ty.clone());
                    ty
                }
                false => self.lower(world, vars, ty, give),
            })
            .collect()
    }

    /// The return type of a call. Elided parts of the signature are inferred from the body.
    pub fn result(&self, world: &World, vars: &mut Vars) -> Type {
        let function = &self.function;
        let signature = function.signature();
        let mut is_whole = true;
        let mut elide = |vars: &mut Vars, elided: Elided<'_>| {
            is_whole &= matches!(elided, Elided::Argument);
            vars.fresh()
        };
        let mut env = self.env.clone();
        if let (Owner::Impl(index), false) = (function.owner, function.is_table) {
            env.itself = Some(world.lower(vars, &env, &world.impl_of(index).item.self_ty, &mut elide));
        }
        let mut result = match &signature.output {
            ReturnType::Default => Type::unit(),
            ReturnType::Type(_, ty) => world.lower(vars, &env, ty, &mut elide),
        };
        if !is_whole
            && !function.is_table
            && let Some(told) = world.returned(self.id)
        {
            let names = self.function.parameters();
            let told = told.with(vars, &|name| {
                let index = match name.strip_prefix('~') {
                    Some(index) => index.trim_start_matches('_').parse().ok()?,
                    None => names.iter().position(|known| known == name)?,
                };
                self.types.get(index).cloned()
            });
            if vars.is_free(&result) { result = told } else { vars.unify(&result, &told) }
        }
        if signature.asyncness.is_some() { world.future_of(result) } else { result }
    }
}

/// `true` for `&str`, `String`, `impl Into<String>`.
fn is_text(ty: &Syntax) -> bool {
    match ty {
        Syntax::Reference(ty) => is_text(&ty.elem),
        Syntax::Path(ty) => ty.path.segments.last().is_some_and(|last| last.ident == "str" || last.ident == "String"),
        Syntax::ImplTrait(ty) => {
            let tokens = ty.bounds.to_token_stream();
            mentions(tokens.clone(), "String") || mentions(tokens, "str")
        }
        _ => false,
    }
}

impl World<'_> {
    /// The generic analysis of a function; `None` while it is being computed, as the function is recursive.
    pub fn analysis(&self, id: FnId) -> Option<Rc<Analysis>> {
        if let Some(known) = self.analyses.borrow().get(&id) {
            return known.clone();
        }
        self.analyses.borrow_mut().insert(id, None);
        let analysis = Rc::new(self.analyse(id, TypeArguments::Themselves));
        self.analyses.borrow_mut().insert(id, Some(analysis.clone()));
        Some(analysis)
    }

    /// The analysis of a function with `types` as its parameters.
    pub fn instance(&self, id: FnId, types: &[Type]) -> Rc<Analysis> {
        let key = (id, types.to_vec());
        if let Some(known) = self.instances.borrow().get(&key) {
            return known.clone();
        }
        let analysis = Rc::new(self.analyse(id, TypeArguments::Types(types)));
        self.instances.borrow_mut().insert(key, analysis.clone());
        analysis
    }

    fn returned(&self, id: FnId) -> Option<Type> {
        self.analysis(id)?.result.clone()
    }

    fn analyse(&self, id: FnId, give: TypeArguments) -> Analysis {
        let mut vars = Vars::default();
        let mut opening = Opening::new(self, &mut vars, id, give);
        let arguments = opening.arguments(self, &mut vars, give);
        let function = opening.function.clone();
        let Some(block) = function.body() else { return Analysis::default() };
        // The result is lowered before the body, because it determines types in there.
        let mut env = opening.env.clone();
        if let Owner::Impl(index) = function.owner {
            env.itself = Some(self.lower(&mut vars, &env, &self.impl_of(index).item.self_ty, &mut inferred));
        }
        let result = self.lower_output(&mut vars, &env, &function.signature().output, &mut inferred);
        let mut body = Body::new(self, vars, opening.env, opening.bounds);
        body.receive(function.signature(), &arguments);
        body.run(block, &result)
    }

    /// The type of a constant, inferred from its value.
    pub fn value_type(&self, module: ModuleId, name: &str) -> Type {
        let key = (module, name.to_owned());
        if let Some(known) = self.value_types.borrow().get(&key) {
            return known.clone();
        }
        self.value_types.borrow_mut().insert(key.clone(), Type::Unknown);
        let item = self.modules.module(module).consts.get(name).cloned();
        let analysis = item.map(|item| self.constant(module, &item.ty, &item.expr));
        let found = analysis.and_then(|analysis| analysis.result).unwrap_or(Type::Unknown);
        self.value_types.borrow_mut().insert(key, found.clone());
        found
    }

    /// The analysis of a constant's initializer.
    pub fn constant(&self, module: ModuleId, ty: &Syntax, value: &Expr) -> Analysis {
        let mut vars = Vars::default();
        let env = Env { module, names: HashMap::new(), itself: None, depth: 0 };
        let ty = self.lower(&mut vars, &env, ty, &mut inferred);
        Body::new(self, vars, env, Bounds::new()).evaluate(value, &ty)
    }
}
