//! What the code requests from the API server, inferred from its source: the types of the expressions in all bodies are inferred,
//! as far as they lead to the kinds of kube's `Api`s, controllers and watchers.
//!
//! Code counts whether it is called or not, but for tests. What a generic function asks counts where it is called with
//! a kind, once for each.

mod body;
mod calls;
mod function;
mod kinds;
mod lower;
mod macros;
mod table;
mod types;
mod world;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use function::{Analysis, Call, Fact};
use types::{Atom, Type};
use world::{FnId, World};

use super::Options;
use super::modules::Modules;
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Reach, Request, Scope};

/// What was found.
pub struct Requests {
    pub resolved: Vec<Request>,
    /// Verbs of requests about kinds that are not known.
    pub unknown: BTreeSet<&'static str>,
    pub diagnostics: Vec<Diagnostic>,
}

/// All requests that the project's own modules make, in the order of the source. The modules are read whole.
pub fn read(modules: &Modules) -> Requests {
    let options = Options::default();
    let world = World::new(modules, &options);
    let mut search =
        Search { world: &world, found: BTreeMap::new(), unresolved: BTreeMap::new(), seen: HashSet::new() };
    for id in (0..world.functions.len()).map(FnId) {
        let function = &world.functions[id.0];
        if function.is_table || function.is_test() {
            continue;
        }
        if let Some(analysis) = world.analysis(id) {
            search.add(&analysis, &Known::all(&analysis), None);
            // A kind that only a caller could determine, and that cannot be written, is unknown without a caller.
            let unwritten = analysis.facts.iter().filter(|fact| fact.kind.is_written() && !fact.kind.is_ground());
            unwritten.for_each(|fact| search.record_unresolved(&fact.span, fact));
        }
    }
    for (module, item) in &world.constants {
        let analysis = world.constant(*module, &item.ty, &item.expr);
        search.add(&analysis, &Known::all(&analysis), None);
    }
    search.finish()
}

/// A position in the source: the path of the file and the offset.
type Position = (String, usize);

fn position(span: &Span) -> Position {
    (span.file.path.clone(), span.range.start)
}

/// Where something is asked and from within which generic function, and what: verb, group, resource.
type Key = (Position, Option<Position>, &'static str, String, String);

struct Search<'w, 'm> {
    world: &'w World<'m>,
    /// Each with what is known of its namespaces.
    found: BTreeMap<Key, (Request, BTreeSet<Atom>)>,
    /// Requests about a kind that is not known: who asks, and the verbs.
    unresolved: BTreeMap<Position, (Span, String, Vec<&'static str>)>,
    seen: HashSet<(FnId, Vec<Type>, Option<Position>)>,
}

/// What in a body does not depend on the parameters of its function.
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
    /// The requests of a body. Those that depend on its parameters are made at `root`; without one, nowhere.
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
        let resource = match (&asks.group, &asks.resource) {
            (Some(group), Some(plural)) => Some((group.clone(), plural.clone(), true)),
            _ => {
                let resource = self.world.resource(&fact.kind);
                resource.map(|it| (it.group, it.plural, it.scope != Some(Scope::Cluster)))
            }
        };
        let Some((group, plural, is_namespaced)) = resource else {
            return self.record_unresolved(at, fact);
        };
        if fact.when.as_ref().is_some_and(|when| self.world.is_no(when)) {
            return;
        }
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

    fn record_unresolved(&mut self, at: &Span, fact: &Fact) {
        let verbs = self.unresolved.remove(&position(at)).map(|(.., verbs)| verbs).unwrap_or_default();
        self.unresolved.insert(position(at), (at.clone(), fact.by.clone(), [&verbs[..], &fact.asks.verbs].concat()));
    }

    fn finish(self) -> Requests {
        let outermost = |(request, _): &(Request, _)| position(request.within.as_ref().unwrap_or(&request.span));
        let resolved: BTreeSet<Position> = self.found.values().map(outermost).collect();
        let unresolved = self.unresolved.into_iter().filter(|(position, _)| !resolved.contains(position));
        let unresolved: Vec<_> = unresolved.map(|(_, unresolved)| unresolved).collect();
        let unknown = unresolved.iter().flat_map(|(.., verbs)| verbs).copied().collect();
        let diagnostics = unresolved.into_iter().map(|(span, by, _)| {
            Diagnostic::warning("OP401", format!("cannot determine the kind of this `{by}` request"))
                .at(span, "")
                .help("name it where the `Api` is created: `Api::<Kind>::all(…)`")
        });
        let diagnostics = diagnostics.collect();
        let requests = self.found.into_values().map(|(request, atoms)| Request { reach: reach(&atoms), ..request });
        Requests { resolved: requests.collect(), unknown, diagnostics }
    }
}

/// So many instances of generic functions nobody has, unless they go on forever.
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
