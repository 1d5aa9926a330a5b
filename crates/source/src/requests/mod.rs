//! The requests of the code to the API server, inferred from its source: the types of the expressions in all bodies,
//! as far as they lead to the kinds of kube's `Api`s, controllers and watchers.
//!
//! Code counts even if it is never called, except for tests. The requests of a generic function count where it is
//! called with a kind, once per kind.
//!
//! - `signatures.rs` declares kube, futures, tokio, std and opctl-runtime, with `#[asks(…)]` for the requests of a
//!   call. For `resolve` it is a crate like any other. `table` reads its attributes.
//! - `world` has all declarations, functions and impls; `lower` turns syntax into types, and finds fields and
//!   methods. `types` unifies types as rustc does, but without errors: an unknown type remains a variable, and
//!   nothing is inferred from it.
//! - `body`, `calls` and `macros` infer the types of expressions; `function` analyses a function for given types of
//!   its parameters.
//! - A function is analysed once with its generic parameters, and once for each list of types that it is called with.
//!   A request that does not depend on the parameters is reported where it is made, any other at the call that
//!   determines its kind.
//! - `blocks` and `made` expand calls of the project's own `macro_rules!` before the inference.
//! - `dynamic` and `raw` read kinds and paths that code specifies as strings. If code chooses among several, there is
//!   a request for each of them.
//! - `unseen` and `report`: only code that certainly makes no request, or is not part of the project, is ignored. A
//!   request whose kind cannot be determined is OP401, and so is a call that may make requests.
//!
//! **Phantoms** are implicit type parameters: the namespace of an `Api`, or the kind of a `DynamicObject`. A type has
//! the phantoms of its fields, a function those of its arguments; those of the result are inferred from the body.
//!
//! `tests/quick/inference.rs` has a case for each way in which code can pass on an `Api`.
//! `docs/decisions/2026-11-23-own-type-inference.md` has the reasons.

mod blocks;
mod body;
mod calls;
mod dynamic;
mod expansions;
mod function;
mod kinds;
mod lower;
mod macros;
mod raw;
mod report;
mod table;
mod types;
mod unseen;
mod world;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use quote::ToTokens;
use syn::FnArg;

use function::{Analysis, Call, Fact, Unseen, Why};
use types::{Atom, Type};
use world::{FnId, Function, World};

use crate::resolve::modules::{Modules, mentions, span_of};
use crate::resolve::resources::{Resource, Resources};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::{Reach, Request, Scope};

/// The requests that were found.
pub struct Requests {
    pub resolved: Vec<Request>,
    /// There may be more requests.
    pub is_partial: bool,
    pub diagnostics: Vec<Diagnostic>,
}

/// All requests of the project's own modules, in source order. The modules must be read whole. Types that macros make are
/// known by the names of their kinds.
pub fn read(modules: &Modules, resources: &mut dyn Resources, of_macros: Vec<Resource>) -> Requests {
    let world = World::new(modules, resources, of_macros);
    let mut search = Search {
        world: &world,
        found: BTreeMap::new(),
        unresolved: BTreeMap::new(),
        open: BTreeMap::new(),
        unseen: BTreeMap::new(),
        seen: HashSet::new(),
    };
    let mut functions = 0;
    let mut has_generic = false;
    for id in (0..world.functions.len()).map(FnId) {
        let function = &world.functions[id.0];
        if function.is_table || function.is_test() {
            continue;
        }
        functions += 1;
        if let Some(analysis) = world.analysis(id) {
            search.add(&analysis, &Known::all(&analysis), None);
            search.add_unseen(&analysis);
            has_generic |= !analysis.facts.is_empty();
            // A kind that only a caller could determine, and that cannot be written, is unknown without a caller.
            let unwritten = analysis.facts.iter().filter(|fact| fact.kind.is_written() && !fact.kind.is_ground());
            unwritten.for_each(|fact| record(&mut search.open, &fact.span, fact));
        }
    }
    search.add_provided();
    for (module, item) in &world.constants {
        let analysis = world.constant(*module, &item.ty, &item.expr);
        search.add(&analysis, &Known::all(&analysis), None);
        search.add_unseen(&analysis);
    }
    for call in &world.unclear {
        if world.may_ask(call.module, &call.tokens) || world.may_delegate(call) {
            let why = Why::Macro(call.name.clone());
            search.unseen.entry(position(&call.span)).or_insert_with(|| (call.span.clone(), why));
        }
    }
    search.finish((!has_generic).then_some(functions))
}

/// A position in the source: the path of the file and the offset.
type Position = (String, usize);

fn position(span: &Span) -> Position {
    (span.file.path.clone(), span.range.start)
}

/// The place of a request, the call of the generic function that contains it, and its verb, group and resource.
type Key = (Position, Option<Position>, &'static str, String, String);

struct Search<'w, 'm> {
    world: &'w World<'m>,
    /// Requests with the possible values of their namespaces.
    found: BTreeMap<Key, (Request, BTreeSet<Atom>)>,
    /// Requests for an unknown kind, with the function that makes them.
    unresolved: Unresolved,
    /// Requests for a kind that a caller may determine.
    open: Unresolved,
    /// Code that may make requests that opctl cannot determine.
    unseen: BTreeMap<Position, (Span, Why)>,
    seen: HashSet<(FnId, Vec<Type>, Option<Position>)>,
}

type Unresolved = BTreeMap<(Position, String), Span>;

fn record(unresolved: &mut Unresolved, at: &Span, fact: &Fact) {
    unresolved.insert((position(at), fact.by.clone()), at.clone());
}

/// The parts of a body that do not depend on the parameters of its function.
struct Known {
    facts: HashSet<Position>,
    calls: HashSet<(FnId, Position)>,
}

impl Known {
    fn all(analysis: &Analysis) -> Self {
        let facts = analysis.facts.iter().filter(|fact| fact.kind.is_ground()).map(|fact| position(&fact.span));
        let calls = analysis.calls.iter().filter(|call| call.types.iter().all(Type::is_written));
        Self { facts: facts.collect(), calls: calls.map(|call| (call.id, position(&call.span))).collect() }
    }
}

impl Search<'_, '_> {
    /// Adds the requests of a body. Those that depend on its parameters are attributed to `root`; without a root,
    /// they are skipped.
    fn add(&mut self, analysis: &Analysis, known: &Known, root: Option<&Span>) {
        for fact in &analysis.facts {
            if known.facts.contains(&position(&fact.span)) {
                self.record(fact, &fact.span, None);
            } else if let Some(root) = root {
                self.record(fact, root, Some(&fact.span));
            }
        }
        for call in &analysis.calls {
            if known.calls.contains(&(call.id, position(&call.span))) {
                self.follow(call, &call.span);
            } else if let Some(root) = root {
                self.follow(call, root);
            }
        }
    }

    /// Adds the provided functions of traits for types of the project. Like other functions, they count without a
    /// call.
    fn add_provided(&mut self) {
        let world = self.world;
        for found in world.impls.iter().filter(|found| found.item.generics.type_params().next().is_none()) {
            let Some(of) = found.of.filter(|_| !matches!(found.pattern, Type::Unknown)) else { continue };
            let file = &world.modules.module(found.module).file;
            let provided = world.of_traits.get(&of).into_iter().flatten();
            for (_, id) in provided.filter(|(name, _)| !found.functions.contains_key(name)) {
                let function = world.function_of(*id);
                let is_called =
                    || self.seen.iter().any(|(it, types, _)| it == id && types.first() == Some(&found.pattern));
                // Parameters of the function itself are only known from a call.
                let is_open = function.parameters().len() > 1 || has_impl_trait(&function);
                if function.is_table || function.body().is_none() || is_open || is_called() {
                    continue;
                }
                let span = span_of(file, &found.item.self_ty);
                self.follow(&Call { id: *id, types: vec![found.pattern.clone()], span: span.clone() }, &span);
            }
        }
    }

    fn follow(&mut self, call: &Call, root: &Span) {
        let (id, types) = match self.world.dispatched(call.id, &call.types) {
            Some((id, types)) => (id, types),
            None => (call.id, call.types.clone()),
        };
        if !self.seen.insert((id, types.clone(), Some(position(root)))) || self.seen.len() > MANY {
            return;
        }
        let Some(general) = self.world.analysis(id) else { return };
        let analysis = self.world.instance(id, &types);
        self.add(&analysis, &Known::all(&general), Some(root));
    }

    fn record(&mut self, fact: &Fact, at: &Span, within: Option<&Span>) {
        let asks = &fact.asks;
        let resources = match (&asks.group, &asks.resource) {
            (Some(group), Some(plural)) => vec![Some((group.clone(), plural.clone(), true))],
            _ => {
                let resources = self.world.resources(&fact.kind).into_iter();
                let named = resources.map(|it| it.map(|it| (it.group, it.plural, it.scope != Some(Scope::Cluster))));
                named.collect()
            }
        };
        if fact.when.as_ref().is_some_and(|when| self.world.is_no(when)) {
            return;
        }
        if resources.is_empty() || resources.contains(&None) {
            record(&mut self.unresolved, at, fact);
        }
        for (group, plural, is_namespaced) in resources.into_iter().flatten() {
            self.record_about(fact, (group, plural, is_namespaced), at, within);
        }
    }

    fn record_about(
        &mut self,
        fact: &Fact,
        (group, plural, is_namespaced): (String, String, bool),
        at: &Span,
        within: Option<&Span>,
    ) {
        let asks = &fact.asks;
        let resource = match &fact.subresource {
            Some(Some(subresource)) => format!("{plural}/{subresource}"),
            Some(None) => format!("{plural}/*"),
            None => plural,
        };
        let atoms = match &fact.reach {
            _ if !is_namespaced => [Atom::Cluster].into(),
            Type::Set(atoms) => (**atoms).clone(),
            _ => BTreeSet::new(),
        };
        for verb in &asks.verbs {
            let key = (position(at), within.map(position), *verb, group.clone(), resource.clone());
            let request = Request {
                verb,
                group: group.clone(),
                resource: resource.clone(),
                reach: Reach::Unknown,
                span: at.clone(),
                by: fact.by.clone(),
                within: within.cloned(),
                optional: asks.optional,
            };
            self.found.entry(key).or_insert_with(|| (request, BTreeSet::new())).1.extend(atoms.iter().cloned());
        }
    }

    fn add_unseen(&mut self, analysis: &Analysis) {
        for Unseen { span, why } in &analysis.unseen {
            self.unseen.entry(position(span)).or_insert_with(|| (span.clone(), why.clone()));
        }
    }

    /// `functions` is the number of functions that were read, for a warning if none of them makes a request.
    fn finish(self, functions: Option<usize>) -> Requests {
        let outermost = |(request, _): &(Request, _)| {
            (position(request.within.as_ref().unwrap_or(&request.span)), request.by.clone())
        };
        let resolved: BTreeSet<(Position, String)> = self.found.values().map(outermost).collect();
        let open = self.open.into_iter().filter(|(at, _)| !resolved.contains(at));
        let mut unresolved = self.unresolved;
        unresolved.extend(open);
        let is_partial = !unresolved.is_empty() || !self.unseen.is_empty();
        let mut diagnostics = report::unresolved(unresolved);
        diagnostics.extend(report::unseen(self.world, self.unseen.into_values()));
        if let Some(functions) = functions.filter(|_| self.found.is_empty() && !is_partial) {
            diagnostics.extend(report::nothing_found(self.world, functions));
        }
        let is_partial = is_partial || !diagnostics.is_empty();
        let requests = self.found.into_values().map(|(request, atoms)| Request { reach: reach(&atoms), ..request });
        Requests { resolved: requests.collect(), is_partial, diagnostics }
    }
}

fn has_impl_trait(function: &Function) -> bool {
    let mut inputs = function.signature().inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed.ty.to_token_stream()),
        FnArg::Receiver(_) => None,
    });
    inputs.any(|tokens| mentions(tokens, "impl"))
}

/// Maximum number of instances of generic functions; only infinite recursion exceeds it.
const MANY: usize = 100_000;

fn reach(atoms: &BTreeSet<Atom>) -> Reach {
    let atoms: Vec<&Atom> = atoms.iter().collect();
    match &atoms[..] {
        [] => Reach::Unknown,
        [Atom::Cluster] => Reach::Cluster,
        [Atom::Namespace(name)] => Reach::Namespace(name.to_string()),
        all if all.iter().all(|atom| matches!(atom, Atom::Namespace(_) | Atom::SomeNamespace)) => Reach::SomeNamespace,
        _ => Reach::Unknown,
    }
}
