//! Types → schemas, as the derives of schemars and kube generate them, and the custom resources with these schemas.
//!
//! Names come from `resolve`, the values of defaults and bounds from `evaluate`. `locate` and `reads` walk the types
//! again, to locate a part of a schema and to find the values that serde reads.

pub mod containers;
pub mod custom_resource;
pub mod decoders;
pub mod kinds;
pub mod kube_schema;
pub mod locate;
pub mod manual;
pub mod reads;
pub mod types;

use std::collections::BTreeSet;

use crate::Options;
use crate::diagnostics::{OP021, OP022};
use crate::evaluate::context::Context;
use crate::resolve::foreign::Missing;
use crate::resolve::modules::Modules;
use crate::resolve::operators;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::project::Tree;
use opctl_model::threads;
use opctl_model::without_texts;
use opctl_model::{Api, Conversion, Declared, Enumeration, Underivable};

use types::{Deriver, State};

/// Derives the kinds of all files; many files on several cores. Syntax trees are not `Send`, so each thread reads the
/// files that it needs.
pub fn derive_all(tree: &Tree, folder: &str, modules: &Modules, options: &Options) -> Part {
    let cores = match modules.candidates().len() {
        0..16 => 1,
        _ => threads::cores().min(4),
    };
    if cores == 1 {
        return Part::derive(modules, options, 0, 1);
    }
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let read = |first| Part::derive(&read_again(tree, folder), options, first, cores);
        let others: Vec<_> = (1..cores).map(|first| threads::spawn(scope, move || read(first))).collect();
        let own = Part::derive(modules, options, 0, cores);
        [own].into_iter().chain(others.into_iter().map(threads::join)).collect()
    });
    if !parts.iter().all(Part::is_sound) {
        // Derives again on one thread, so that each problem is reported once, in the order of the files.
        return Part::derive(&read_again(tree, folder), options, 0, 1);
    }
    let mut whole = Part::default();
    for part in parts {
        whole.declared.extend(part.declared);
        whole.apis.extend(part.apis);
        whole.enums.extend(part.enums);
        whole.left_out.extend(part.left_out);
        whole.foreign.extend(part.foreign);
    }
    whole
}

/// The modules; their problems were reported before.
fn read_again(tree: &Tree, folder: &str) -> Modules {
    let modules = Modules::read(tree, &operators(tree, folder).unwrap_or_default());
    modules.take_diagnostics();
    modules
}

/// The kinds of a part of the files.
#[derive(Default)]
pub struct Part {
    pub declared: Vec<Declared>,
    pub apis: Vec<Api>,
    /// Problems of the files themselves.
    pub unread: Vec<Diagnostic>,
    pub diagnostics: Vec<Diagnostic>,
    pub underivable: Vec<Underivable>,
    /// Items that this build leaves out.
    pub left_out: Vec<Span>,
    /// Spans of the type names of other projects' kinds.
    pub foreign: Vec<Span>,
    pub enums: Vec<Enumeration>,
    pub missing: BTreeSet<Missing>,
}

impl Part {
    /// Derives the kinds of every `of`-th file, starting with number `first`.
    fn derive(modules: &Modules, options: &Options, first: usize, of: usize) -> Self {
        let (mut cx, mut state) = (Context::new(modules), State::new(options));
        let files = modules.candidates().into_iter().skip(first).step_by(of);
        let mut apis: Vec<Api> =
            files.flat_map(|file| Deriver { cx: &mut cx, state: &mut state }.custom_resources(file)).collect();
        let State { declared, underivable, enums, foreign, .. } = state;
        let diagnostics = cx.diagnostics;
        let (unread, missing, left_out) =
            (modules.take_diagnostics(), modules.take_missing(), modules.take_left_out_items());
        if options.reads {
            reads::add(modules, &mut apis);
        }
        Self { declared, apis, unread, diagnostics, underivable, left_out, foreign, enums, missing }
    }

    /// Replaces several errors with the same cause by `error`: errors of types with the same fix, and of kinds whose
    /// derive was not found.
    pub fn blame(&mut self, error: &Diagnostic) {
        let follows =
            |said: &Diagnostic| said.is_error() && (said.code == OP021 || said.help.first() == error.help.first());
        let mut following = self.diagnostics.iter().filter(|said| follows(said));
        let (Some(first), Some(_)) = (following.next(), following.next()) else { return };
        let span = first.span.clone().map(|(span, _)| (span, "needed here, among other places".into()));
        let one = Diagnostic { span, ..error.clone() };
        self.diagnostics.retain(|said| !follows(said));
        self.diagnostics.insert(0, one.clone());
        for stopped in &mut self.underivable {
            let count = stopped.reasons.len();
            stopped.reasons.retain(|reason| !follows(reason));
            if stopped.reasons.len() < count {
                stopped.reasons.push(one.clone());
            }
        }
    }

    fn is_sound(&self) -> bool {
        self.unread.is_empty() && self.diagnostics.is_empty() && self.underivable.is_empty()
    }
}

/// Warns of two served versions of a kind that differ, adjacent in the list: without a conversion webhook the API
/// server reads an object of one version as the other, field by field.
pub fn different_versions(pair: &[Api], conversions: &[Conversion]) -> Option<Diagnostic> {
    let [first, second] = pair else { return None };
    let same_kind = (&first.group, &first.kind) == (&second.group, &second.kind);
    let shape = |api: &Api| api.schema.as_ref().map(without_texts);
    let converted =
        conversions.iter().any(|conversion| (&conversion.group, &conversion.kind) == (&first.group, &first.kind));
    if !same_kind || converted || !first.served || !second.served || shape(first) == shape(second) {
        return None;
    }
    let (kind, versions) = (&first.kind, format!("{} and {}", first.version, second.version));
    let message = format!("`{kind}` {versions} have different fields, and no webhook converts it between them");
    Some(
        OP022.warning(message)
            .at(second.span.clone(), format!("the other version is at {}", first.span))
            .help("keep their fields equal, or serve only one: `#[kube(served = false)]`")
            .help("where a webhook converts: `// +opctl:conversion:group=…,kind=…`; `opctl create webhook --conversion` makes one"),
    )
}
