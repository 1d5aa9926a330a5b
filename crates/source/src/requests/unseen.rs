//! Reports calls of functions that neither the project nor the table of known signatures (`signatures.rs`) declares,
//! if they may make requests.
//!
//! Two conditions decide: the receiver or an argument can make requests, because it is or holds a client; and the
//! value of an unknown type comes from a client ([`Origin`]). Values that certainly do not come from a client are
//! ignored.

use syn::{Expr, Path};

use super::body::Body;
use super::expansions::Unclear;
use super::function::{Unseen, Why};
use super::types::{Decl, Origin, Type, Vars};
use super::world::{DeclKind, Env, Named, World, inferred, use_path};
use crate::known;
use crate::resolve::modules::{UsePath, name};
use crate::resolve::names::{Foreign, Namespace, Target, resolve};
use opctl_model::diagnostic::Span;

/// Methods of every value that make no requests.
const HARMLESS: &[&str] = &[
    "as_any",
    "as_deref",
    "as_mut",
    "as_ptr",
    "as_ref",
    "borrow",
    "borrow_mut",
    "boxed",
    "clone",
    "clone_from",
    "cmp",
    "deref",
    "deref_mut",
    "eq",
    "fmt",
    "hash",
    "into",
    "ne",
    "partial_cmp",
    "poll_ready",
    "to_owned",
    "try_into",
    "type_id",
];

/// Methods that maps and caches also have: on an unknown type they only count if they are awaited.
const OF_MAPS: &[&str] = &["entry", "get"];

/// Widely used crates that do not use kube's client. Without a lock file, there is no other evidence.
const WITHOUT_KUBE: &str = include_str!("without_kube.txt");

fn is_without_kube(krate: &str) -> bool {
    WITHOUT_KUBE.lines().any(|name| name == krate)
        || krate.starts_with("aws_sdk_")
        || krate.starts_with("opentelemetry_")
}

/// The origin of a function that neither the project nor the table declares.
#[derive(Clone, PartialEq)]
enum Source {
    /// kube itself.
    Kube,
    /// A crate that uses kube, by its index.
    User(usize),
    /// Another crate, the standard library or the language.
    Other,
    /// A type of the project, whose function comes from a macro or a trait of another crate.
    Own,
    Unknown,
}

/// A method that was called on a value of a type that is not known yet.
pub struct Suspect {
    span: Span,
    receiver: Type,
    method: String,
    is_awaited: bool,
}

impl World<'_> {
    /// `true` if a value of this type is a client, or a container of one that any code can take it out of.
    pub fn carries(&self, vars: &Vars, ty: &Type) -> bool {
        self.is_client_in(vars, ty, false, 0)
    }

    /// `true` if a value of this type contains a client, at any depth.
    pub fn holds(&self, vars: &Vars, ty: &Type) -> bool {
        self.is_client_in(vars, ty, true, 0)
    }

    fn is_client_in(&self, vars: &Vars, ty: &Type, deep: bool, depth: usize) -> bool {
        let any = |types: &[Type]| types.iter().any(|ty| self.is_client_in(vars, ty, deep, depth + 1));
        match vars.known(ty) {
            _ if depth > 8 => false,
            Type::Named(decl, types) if self.is_table(decl) || self.declaration(decl).module.is_none() => {
                self.is_client(decl) || any(&types)
            }
            Type::Named(decl, types) => deep && (self.declared_with_client(decl) || any(&types)),
            Type::Tuple(types) => any(&types),
            Type::Fn(_, result) => any(&[(*result).clone()]),
            _ => false,
        }
    }

    fn is_table(&self, decl: Decl) -> bool {
        let module = self.declaration(decl).module;
        module.is_some_and(|module| self.modules.root(module) == self.table)
    }

    pub fn is_client(&self, decl: Decl) -> bool {
        match &self.declaration(decl).what {
            DeclKind::Data(input) => input.attrs.iter().any(|attribute| attribute.path().is_ident("client")),
            DeclKind::Trait(_) | DeclKind::Elsewhere => false,
        }
    }

    /// `true` if a struct or an enum of the project has a field that contains a client.
    fn declared_with_client(&self, decl: Decl) -> bool {
        if let Some(known) = self.holding.borrow().get(&decl) {
            return *known;
        }
        self.holding.borrow_mut().insert(decl, false);
        let mut vars = Vars::default();
        let Type::Named(_, types) = self.any_of(&mut vars, decl) else { return false };
        let shapes = self.shapes(decl);
        let holds = shapes.iter().any(|shape| {
            let fields = self.fields(&mut vars, decl, &types, shape);
            fields.iter().any(|(_, ty)| self.holds(&vars, ty))
        });
        self.holding.borrow_mut().insert(decl, holds);
        holds
    }

    fn source_of(&self, foreign: &Foreign) -> Source {
        let krate = &foreign.path[0];
        let is_kubes = matches!(krate.as_str(), "kube" | "kube_client" | "kube_core" | "kube_runtime" | "kube_derive");
        if is_kubes {
            return Source::Kube;
        }
        let table = self.modules.module(self.table);
        if table.modules.contains_key(krate) || matches!(krate.as_str(), "core" | "alloc") {
            return Source::Other;
        }
        if let Some(number) = self.users.borrow().iter().position(|user| user == krate) {
            return Source::User(number);
        }
        if self.strangers.borrow().contains(krate) {
            return Source::Other;
        }
        let locked = foreign.via.as_ref().and_then(|via| self.modules.uses(via, "kube-client"));
        if locked.unwrap_or_else(|| !is_without_kube(krate)) {
            let mut users = self.users.borrow_mut();
            users.push(krate.clone());
            return Source::User(users.len() - 1);
        }
        self.strangers.borrow_mut().insert(krate.clone());
        Source::Other
    }

    /// `true` if the macros of a crate make no requests.
    pub fn is_well_known(&self, krate: &str) -> bool {
        let table = self.modules.module(self.table);
        table.modules.contains_key(krate) || is_without_kube(krate) || matches!(krate, "core" | "alloc")
    }

    /// `true` if a macro may generate methods for a type that contains a client, as `delegate!` does.
    pub fn may_delegate(&self, call: &Unclear) -> bool {
        let Some(itself) = &call.itself else { return false };
        let mut vars = Vars::default();
        let env = Env { module: call.module, names: Default::default(), itself: None, depth: 0 };
        let itself = self.lower(&mut vars, &env, itself, &mut inferred);
        self.holds(&vars, &itself)
    }

    /// The crate of a type of which only the name is known.
    fn source_of_type(&self, decl: Decl) -> Source {
        let declaration = self.declaration(decl);
        match (&declaration.foreign, declaration.module) {
            (Some(foreign), _) => self.source_of(foreign),
            (None, Some(_)) if self.is_table(decl) => Source::Other,
            (None, _) => Source::Own,
        }
    }
}

impl Body<'_, '_> {
    /// A part of a value of unknown type.
    pub fn part_of(&mut self, ty: &Type) -> Type {
        let origin = self.origin_of(ty);
        self.vars.fresh_from(origin)
    }

    fn origin_of(&self, ty: &Type) -> Origin {
        match self.vars.known(ty) {
            Type::Unknown => Origin::Unknown,
            ty @ Type::Var(_) => self.vars.origin(&ty),
            ty if self.world.holds(&self.vars, &ty) => Origin::Client,
            Type::Named(decl, _) => match self.world.source_of_type(decl) {
                Source::User(number) => Origin::Crate(number),
                Source::Kube | Source::Other | Source::Own | Source::Unknown => Origin::Other,
            },
            _ => Origin::Other,
        }
    }

    fn report(&mut self, span: Span, why: Why) {
        self.unseen.push(Unseen { span, why });
    }

    /// Evaluates the arguments of an unknown call; closures may get a part of `of`. Returns `true` if one is a
    /// client, `true` if one is an HTTP request, and their strongest origin.
    fn unknown_arguments(&mut self, arguments: &[&Expr], of: Option<&Type>) -> (bool, bool, Origin) {
        let take = of.map(|of| self.origin_of(of));
        let before = std::mem::replace(&mut self.closures_take, take);
        let found = self.arguments(arguments, &[]);
        self.closures_take = before;
        let carries = found.iter().any(|ty| self.world.carries(&self.vars, ty));
        let is_request =
            |ty: &Type| matches!(self.vars.known(ty), Type::Named(decl, _) if decl == self.world.known.request);
        let sends = found.iter().any(is_request);
        let origins = found.iter().map(|ty| self.origin_of(ty)).filter(|origin| *origin >= Origin::Client);
        let origin = origins.max().unwrap_or(Origin::Unknown);
        for into in found.iter().chain(of).filter(|_| origin >= Origin::Client) {
            self.vars.admit(into, Origin::Client);
        }
        (carries, sends, origin)
    }

    /// Analyses a call of a function that neither the project nor the table declares.
    pub fn unknown_call(&mut self, path: &Path, arguments: &[&Expr], is_awaited: bool, span: Span) -> Type {
        let source = self.source_of_function(path);
        let (carries, sends, origin) = self.unknown_arguments(arguments, None);
        let called = path.segments.iter().map(|segment| name(&segment.ident)).collect::<Vec<_>>().join("::");
        let is_function = called.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_lowercase));
        let holds = origin >= Origin::Client;
        match &source {
            _ if sends && holds => self.report(span, Why::Path(called)),
            Source::Kube if carries && is_function => self.report(span, Why::Function(called)),
            Source::User(number) if carries || is_awaited && is_function => self.report(span, Why::Crate(*number)),
            Source::Unknown if carries && is_function => self.report(span, Why::Function(called)),
            _ => {}
        }
        let origin = match source {
            Source::User(number) => Origin::Crate(number),
            _ if holds => Origin::Client,
            Source::Kube | Source::Other => Origin::Other,
            Source::Own | Source::Unknown => Origin::Unknown,
        };
        self.vars.fresh_from(origin)
    }

    /// The crate of a function.
    fn source_of_function(&mut self, path: &Path) -> Source {
        let world = self.world;
        if let Some(Target::Foreign(foreign)) =
            resolve(world.modules, self.env.module, &use_path(path), Namespace::Value)
        {
            return world.source_of(&foreign);
        }
        let mut prefix = use_path(path);
        let last = prefix.segments.pop().unwrap_or_default();
        if prefix.segments.is_empty() {
            return if last == "drop" || last.starts_with(char::is_uppercase) {
                Source::Other
            } else {
                Source::Unknown
            };
        }
        self.source_of_prefix(&prefix)
    }

    fn source_of_prefix(&mut self, prefix: &UsePath) -> Source {
        let world = self.world;
        let first = &prefix.segments[0];
        if prefix.segments.len() == 1 && (first == "Self" || self.env.names.contains_key(first)) {
            return Source::Own;
        }
        match resolve(world.modules, self.env.module, prefix, Namespace::Type) {
            Some(Target::Foreign(foreign)) => return world.source_of(&foreign),
            Some(Target::Item(..)) => {}
            Some(Target::Module(_) | Target::Hidden(_)) => return Source::Unknown,
            None if known::is_primitive(first) || known::prelude(first).is_some() => return Source::Other,
            None if matches!(first.as_str(), "Default" | "From" | "Into" | "Iterator" | "ToString" | "TryFrom") => {
                return Source::Other;
            }
            None => return Source::Unknown,
        }
        match world.find_segments(self.env.module, prefix) {
            Some(Named::Decl(decl)) => world.source_of_type(decl),
            Some(Named::Alias(module, alias)) => {
                let env = Env { module, names: Default::default(), itself: None, depth: 0 };
                match world.lower(&mut self.vars, &env, &alias.ty, &mut inferred) {
                    Type::Named(decl, _) => world.source_of_type(decl),
                    _ => Source::Unknown,
                }
            }
            None => Source::Unknown,
        }
    }

    /// Analyses a call of a method that neither the project nor the table declares.
    pub fn unknown_method(
        &mut self,
        receiver: &Type,
        method: &str,
        arguments: &[&Expr],
        is_awaited: bool,
        span: Span,
    ) -> Type {
        let known = self.vars.known(receiver);
        let origin = self.origin_of(&known);
        let (carries, sends, of_arguments) = self.unknown_arguments(arguments, Some(receiver));
        let holds = origin >= Origin::Client || of_arguments >= Origin::Client;
        let source = match &known {
            Type::Named(decl, _) => self.world.source_of_type(*decl),
            _ => Source::Unknown,
        };
        let is_client = matches!(&known, Type::Named(decl, _) if self.world.is_client(*decl));
        let is_of_crate = match origin {
            Origin::Crate(number) if carries || is_awaited => {
                self.report(span.clone(), Why::Crate(number));
                true
            }
            _ => false,
        };
        let is_request = self.world.requesting.contains(&(method.to_owned(), arguments.len()));
        match &source {
            _ if HARMLESS.contains(&method) => {}
            _ if is_of_crate => {}
            _ if sends && holds => self.report(span.clone(), Why::Path(method.into())),
            _ if is_client => self.report(span.clone(), Why::Function(method.into())),
            // The method may come from a derive macro.
            Source::Own if is_awaited && origin == Origin::Client => {
                self.report(span.clone(), Why::Function(method.into()));
            }
            // A receiver that already has a client is excluded: there the method is a setter that stores one.
            Source::Own if carries && origin < Origin::Client => {
                self.report(span.clone(), Why::Function(method.into()));
            }
            _ if carries && matches!(known, Type::Param(_)) => self.report(span.clone(), Why::Function(method.into())),
            _ if is_request => {
                let receiver = receiver.clone();
                self.suspects.push(Suspect { span, receiver, method: method.into(), is_awaited });
            }
            _ => {}
        }
        match (origin, of_arguments) {
            (Origin::Crate(_), _) => self.vars.fresh_from(origin),
            _ if holds => self.vars.fresh_from(Origin::Client),
            (origin, _) => self.vars.fresh_from(origin),
        }
    }

    /// Reports the suspects, by the types that are known at the end of the body.
    pub fn report_suspects(&mut self) {
        for Suspect { span, receiver, method, is_awaited } in std::mem::take(&mut self.suspects) {
            let is_of_map = OF_MAPS.contains(&method.as_str());
            let is_it = match self.origin_of(&receiver) {
                Origin::Client | Origin::Crate(_) | Origin::Unknown => is_awaited || !is_of_map,
                Origin::Other => false,
            };
            if is_it {
                self.report(span, Why::Receiver(method));
            }
        }
    }
}
