//! Chooses how CRDs are generated: from the source alone, from the compiled types, or by whichever works for each kind.
//!
//! Permissions are always the source's. [`compiled`] is used only for what the source alone does not define, with a note.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;

use super::allow::without_allowed;
use super::error::Diagnosed;
use super::manifests::ManifestOptions;
use super::{Console, counted};
use crate::apiserver;
use crate::compiled::{self, Failure, Program};
use crate::diagnostic::Diagnostic;
use crate::emit::{self, CustomResourceDefinition};
use crate::model::{Allow, Operator};
use crate::project::Tree;
use crate::source::{self, Source};

/// What is generated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// config/crd, and the roles for users in config/rbac/kinds
    Crd,
    /// The operator's roles and bindings in config/rbac; does not read types
    Rbac,
    /// config/webhook; does not read types
    Webhook,
}

/// See `docs/engines.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    #[default]
    Auto,
    Static,
    Cargo,
}

/// What the user chose.
pub struct Choice<'a> {
    pub engine: Engine,
    /// The one that prints the CRDs of the compiled types.
    pub binary: &'a str,
    /// Nothing else is made; empty: everything is.
    pub only: &'a [Part],
}

impl Choice<'_> {
    /// For commands that never compile.
    pub const STATIC: Self = Self { engine: Engine::Static, binary: "", only: &[] };

    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// What manifests are made from. No diagnostic of the source is an error.
pub struct Found {
    pub source: Source,
    /// By name.
    pub crds: Vec<CustomResourceDefinition>,
}

/// Errors in the source are a [`Diagnosed`].
pub fn find(tree: &Tree, options: &ManifestOptions, choice: &Choice, console: &Console) -> anyhow::Result<Found> {
    let mut source = if choice.wants(Part::Crd) && choice.engine != Engine::Cargo {
        let source_options = source::Options { foreign_descriptions: options.descriptions.foreign };
        source::read_with(tree, options.folder, &source_options)
    } else {
        source::read_markers(tree, options.folder)
    };
    source.diagnostics.extend(about_webhooks(&source.operator));
    if !choice.wants(Part::Crd) {
        sound(&source.diagnostics, &source.operator.allows)?;
        return Ok(Found { source, crds: Vec::new() });
    }
    let compiler = Compiler { folder: tree.root().join(options.folder), options, binary: choice.binary, console };
    if choice.engine == Engine::Cargo {
        sound(&source.diagnostics, &source.operator.allows)?;
        let programs = compiler.programs().map_err(|failure| {
            console.eprint(&failure.stderr);
            Diagnosed::from(vec![failure.diagnostic])
        })?;
        return Ok(Found { crds: compiler.crds(&programs, "")?, source });
    }
    let is_answerable = |error: &Diagnostic| {
        let mut reasons = source.operator.underivable.iter().flat_map(|stopped| &stopped.reasons);
        source::only_a_compiler_knows(error) && reasons.any(|reason| reason == error)
    };
    let mut errors = source.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).peekable();
    if choice.engine == Engine::Auto && errors.peek().is_some() && errors.all(is_answerable) {
        return compiler.complete(source);
    }
    sound(&source.diagnostics, &source.operator.allows)?;
    Ok(Found { crds: derived(&source)?, source })
}

/// What the API server would reject in webhooks and conversions, at their markers: this needs no compiler.
fn about_webhooks(operator: &Operator) -> Vec<Diagnostic> {
    let webhooks = operator.webhooks.iter().map(|webhook| &webhook.definition);
    let webhooks = webhooks.flat_map(|webhook| webhook.attach_spans(apiserver::webhooks::webhook(&webhook.value)));
    let conversions = operator.conversions.iter().map(|conversion| &conversion.definition);
    webhooks.chain(conversions.flat_map(|it| it.attach_spans(apiserver::webhooks::conversion(&it.value)))).collect()
}

/// The CRDs that are derived from the source.
fn derived(source: &Source) -> Result<Vec<CustomResourceDefinition>, Diagnosed> {
    emit::crds(&source.operator.apis).map_err(|errors| [&source.diagnostics[..], &errors].concat().into())
}

/// Whether there is nothing worse than warnings.
fn sound(diagnostics: &[Diagnostic], allows: &[Allow]) -> Result<(), Diagnosed> {
    match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(without_allowed(diagnostics.to_vec(), allows, None).into()),
        false => Ok(()),
    }
}

/// How the compiled types of a crate are asked.
struct Compiler<'a> {
    folder: PathBuf,
    options: &'a ManifestOptions<'a>,
    binary: &'a str,
    console: &'a Console,
}

impl Compiler<'_> {
    /// Adds the kinds that the source alone does not define, with a note about the reason.
    fn complete(&self, mut source: Source) -> anyhow::Result<Found> {
        let operator = &mut source.operator;
        let asked: BTreeSet<Option<Kind>> = operator.underivable.iter().map(|stopped| stopped.kind.clone()).collect();
        // All versions of a kind come from one place.
        operator.apis.retain(|api| !asked.contains(&Some((api.group.clone(), api.kind.clone()))));
        let mut crds = derived(&source)?;
        let programs = match self.programs() {
            Ok(programs) => programs,
            Err(failure) => {
                let Diagnostic { message, help, .. } = failure.diagnostic;
                let but = format!("opctl could ask the compiler instead, but {message}");
                return Err(Diagnosed { diagnostics: source.diagnostics, help: [vec![but], help].concat() }.into());
            }
        };
        for line in notices(&source.operator) {
            self.console.note(&line);
        }
        let kinds = match asked.iter().flatten().count() {
            0 => "what a macro makes, which".into(),
            number => format!("{} that", counted(number, "kind")),
        };
        let mut compiled = self.crds(&programs, &format!(" for {kinds} the source alone does not determine"))?;
        let missing: Vec<Diagnostic> = asked
            .iter()
            .flatten()
            .filter(|kind| !compiled.iter().any(|crd| kind_of(crd) == **kind))
            .map(|(group, kind)| {
                let message = format!("`{}` does not print the CRD of `{kind}` in `{group}`", self.binary);
                Diagnostic::error("OP045", message).help(format!("add `{kind}::crd()` to what it prints"))
            })
            .collect();
        sound(&missing, &[])?;
        let from_source: BTreeSet<Kind> = crds.iter().map(kind_of).collect();
        // A macro makes kinds that the source does not name.
        compiled.retain(|crd| match kind_of(crd) {
            kind if from_source.contains(&kind) => false,
            kind => asked.contains(&None) || asked.contains(&Some(kind)),
        });
        crds.extend(compiled);
        crds.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        source.diagnostics.retain(|diagnostic| !diagnostic.is_error());
        Ok(Found { source, crds })
    }

    fn programs(&self) -> Result<Vec<Program>, Box<Failure>> {
        if !self.options.descriptions.foreign {
            let message = "the compiled types do not show which descriptions belong to Kubernetes types";
            let help = "leave out `--no-foreign-descriptions` and PROJECT's `foreignDescriptions: false`, and use `maxDescription`";
            return Err(Box::new(Diagnostic::error("OP046", message).help(help).into()));
        }
        compiled::programs(&self.folder, self.binary)
    }

    /// By name. This runs code of the project, its build scripts among it, so it is said first what for.
    fn crds(&self, programs: &[Program], purpose: &str) -> anyhow::Result<Vec<CustomResourceDefinition>> {
        self.console.info(&format!("compiling the crate with cargo and running its `{}`{purpose}", self.binary));
        let mut progress = self.console.progress();
        let is_shown = progress.is_shown();
        let crds = compiled::crds(&self.folder, programs, &mut |news| match is_shown {
            true => progress.show(news),
            // Another cargo, e.g. that of an editor, may take long.
            false if news.starts_with("blocking") => self.console.info(news),
            false => {}
        });
        drop(progress);
        let crds = crds.map_err(|failure| {
            self.console.eprint(&failure.stderr);
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
            let span = reason.span.as_ref().map(|(span, _)| format!(" at {span}")).unwrap_or_default();
            let line = format!("{kind} needs a compiler: {}{span}, {}", reason.code, reason.message);
            // Several versions of a kind, or a file of the library and a binary, have the same reason.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
