//! What gives the CRDs: the source alone, the compiled types, or for each kind the one that can.
//!
//! Permissions are always the source's. [`compiled`] is asked only where the source alone does not tell, and this is said.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Console;
use super::error::Diagnosed;
use super::manifests::Place;
use crate::cli::Engine;
use crate::compiled::{self, Failure, Program};
use crate::diagnostic::Diagnostic;
use crate::emit::{self, CustomResourceDefinition};
use crate::model::{Operator, RbacRule};
use crate::project::Tree;
use crate::source;

/// What the user chose.
pub struct Choice<'a> {
    pub engine: Engine,
    /// The one that prints the CRDs of the compiled types.
    pub binary: &'a str,
}

impl Choice<'_> {
    /// For commands that never compile.
    pub const STATIC: Self = Self { engine: Engine::Static, binary: "" };
}

/// What manifests are made from.
pub struct Found {
    /// By name.
    pub crds: Vec<CustomResourceDefinition>,
    pub rules: Vec<RbacRule>,
    pub warnings: Vec<Diagnostic>,
}

/// Errors in the source are a [`Diagnosed`].
pub fn find(tree: &Tree, place: &Place, choice: &Choice, console: &Console) -> anyhow::Result<Found> {
    let compiler = Compiler { folder: tree.root().join(place.folder), place, binary: choice.binary, console };
    if choice.engine == Engine::Cargo {
        let (rules, diagnostics) = source::rules(tree, place.folder);
        let warnings = sound(diagnostics)?;
        let programs = compiler.programs().map_err(|failure| Diagnosed::from(vec![failure.diagnostic]))?;
        return Ok(Found { crds: compiler.crds(&programs)?, rules, warnings });
    }
    let options = source::Options { foreign_descriptions: place.descriptions.foreign };
    let (operator, diagnostics) = source::read_with(tree, place.folder, &options);
    let is_answerable = |error: &Diagnostic| {
        source::only_a_compiler_knows(error) && operator.underivable.iter().any(|kind| kind.reasons.contains(error))
    };
    let mut errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).peekable();
    if choice.engine == Engine::Auto && errors.peek().is_some() && errors.all(is_answerable) {
        return compiler.complete(operator, diagnostics);
    }
    let warnings = sound(diagnostics)?;
    let crds = emit::crds(&operator.apis).map_err(|errors| Diagnosed::from([&warnings[..], &errors].concat()))?;
    Ok(Found { crds, rules: operator.rbac, warnings })
}

/// The warnings, if there is nothing worse.
fn sound(diagnostics: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Diagnosed> {
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics.into()) } else { Ok(diagnostics) }
}

/// How the compiled types of a crate are asked.
struct Compiler<'a> {
    folder: PathBuf,
    place: &'a Place<'a>,
    binary: &'a str,
    console: &'a Console,
}

impl Compiler<'_> {
    /// Adds the kinds that the source alone does not tell; why, is said.
    fn complete(&self, mut operator: Operator, diagnostics: Vec<Diagnostic>) -> anyhow::Result<Found> {
        let asked: BTreeSet<Option<Kind>> = operator.underivable.iter().map(|stopped| stopped.kind.clone()).collect();
        // All versions of a kind come from one place.
        operator.apis.retain(|api| !asked.contains(&Some((api.group.clone(), api.kind.clone()))));
        let mut crds =
            emit::crds(&operator.apis).map_err(|errors| Diagnosed::from([&diagnostics[..], &errors].concat()))?;
        let programs = match self.programs() {
            Ok(programs) => programs,
            Err(Failure { diagnostic: Diagnostic { message, help, .. }, .. }) => {
                let but = format!("opctl could ask the compiler instead, but {message}");
                return Err(Diagnosed { diagnostics, help: [vec![but], help].concat() }.into());
            }
        };
        for line in notices(&operator) {
            self.console.note(&line);
        }
        let mut compiled = self.crds(&programs)?;
        let missing: Vec<Diagnostic> = asked
            .iter()
            .flatten()
            .filter(|kind| !compiled.iter().any(|crd| kind_of(crd) == **kind))
            .map(|(group, kind)| {
                let message = format!("`{}` does not print the CRD of `{kind}` in `{group}`", self.binary);
                Diagnostic::error("OP045", message).help(format!("add `{kind}::crd()` to what it prints"))
            })
            .collect();
        sound(missing)?;
        let derived: BTreeSet<Kind> = crds.iter().map(kind_of).collect();
        // A macro makes kinds that the source does not name.
        compiled.retain(|crd| match kind_of(crd) {
            kind if derived.contains(&kind) => false,
            kind => asked.contains(&None) || asked.contains(&Some(kind)),
        });
        crds.extend(compiled);
        crds.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        let warnings = diagnostics.into_iter().filter(|diagnostic| !diagnostic.is_error()).collect();
        Ok(Found { crds, rules: operator.rbac, warnings })
    }

    fn programs(&self) -> Result<Vec<Program>, Failure> {
        if !self.place.descriptions.foreign {
            let message = "the compiled types do not tell which descriptions are those of Kubernetes' own types";
            let help = "leave out `--no-foreign-descriptions` and PROJECT's `foreignDescriptions: false`, and use `maxDescription`";
            return Err(Diagnostic::error("OP046", message).help(help).into());
        }
        compiled::programs(&self.folder, self.binary).map_err(|failure| *failure)
    }

    /// By name.
    fn crds(&self, programs: &[Program]) -> anyhow::Result<Vec<CustomResourceDefinition>> {
        let mut progress = self.console.progress();
        if !progress.is_shown() {
            self.console.say("compiling with cargo");
        }
        let crds = compiled::crds(&self.folder, programs, &mut |news| progress.show(news));
        drop(progress);
        let crds = crds.map_err(|failure| {
            self.console.tell(&failure.said);
            Diagnosed::from(vec![failure.diagnostic])
        })?;
        Ok(emit::merge(crds).map_err(Diagnosed::from)?)
    }
}

/// Group and kind.
type Kind = (String, String);

fn kind_of(crd: &CustomResourceDefinition) -> Kind {
    (crd.spec.group.clone(), crd.spec.names.kind.clone())
}

/// Which kinds need a compiler, and why, a line for each reason.
fn notices(operator: &Operator) -> Vec<String> {
    let mut lines = Vec::new();
    for stopped in &operator.underivable {
        for reason in &stopped.reasons {
            let kind = stopped.kind.as_ref().map_or("what a macro makes".into(), |(_, kind)| format!("`{kind}`"));
            let place = reason.place.as_ref().map(|(span, _)| format!(" at {span}")).unwrap_or_default();
            lines.push(format!("{kind} needs a compiler: {}{place}, {}", reason.code, reason.message));
        }
    }
    lines.dedup();
    lines
}
