//! Chooses how CRDs are generated: from the source alone, from the compiled types, or by whichever works for each kind.
//!
//! Permissions are always the source's. [`compiled`] is used only for what the source alone does not define, with a note.
//!
//! Other errors do not start a build, which would take minutes and end with the same error. A kind with an error does not stop the others: it is
//! returned beside their CRDs, and its existing CRD stays in lists and roles. Errors that belong to no kind stop everything. The output of the
//! compiled types goes through the same checks and the same emitter.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;

use super::allow::without_allowed;
use super::manifests::ManifestOptions;
use super::{Console, counted};
use crate::compiled::diagnostics::{OP045, OP046};
use crate::compiled::{self, Failure, Program};
use crate::error::SourceErrors;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{Features, Tree};
use opctl_model::{Allow, Operator};
use opctl_schema::apiserver;
use opctl_source::emit::{self, CrdProblem, CustomResourceDefinition};
use opctl_source::{self as source, Source};

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
    /// The user expects that code of the crate runs: it is a project of opctl, or the engine was given. If not, somebody is asked.
    pub may_compile: bool,
    /// The one that prints the CRDs of the compiled types.
    pub binary: &'a str,
    /// Nothing else is made; empty: everything is.
    pub only: &'a [Part],
    /// A kind that cannot be generated is an error, instead of being left as it is.
    pub all_or_nothing: bool,
}

impl Choice<'_> {
    /// For commands that never compile.
    pub const STATIC: Self =
        Self { engine: Engine::Static, may_compile: false, binary: "", only: &[], all_or_nothing: true };

    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// What manifests are made from.
pub struct Found {
    pub source: Source,
    /// By name.
    pub crds: Vec<CustomResourceDefinition>,
    /// The kinds that have no CRD, and why.
    pub refused: Option<MissingCrds>,
}

/// Kinds without a CRD.
#[derive(Default)]
pub struct MissingCrds {
    /// `None`: kinds whose names are not known, such as those of a macro.
    pub kinds: BTreeSet<Option<Kind>>,
    /// Errors only.
    pub why: SourceErrors,
}

impl MissingCrds {
    /// Whether this may be one of these kinds.
    pub fn may_be(&self, kind: Kind) -> bool {
        may_be_of(&self.kinds, kind)
    }
}

/// Whether a kind may be one of these; `None` is one whose name is not known.
fn may_be_of(kinds: &BTreeSet<Option<Kind>>, kind: Kind) -> bool {
    kinds.contains(&None) || kinds.contains(&Some(kind))
}

/// Errors in the source are a [`SourceErrors`], unless they are about single kinds only.
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
        return Ok(Found { source, crds: Vec::new(), refused: None });
    }
    let folder = tree.root().join(options.folder);
    let compiler = Compiler { folder, options, binary: choice.binary, features: tree.features(), console };
    if choice.engine == Engine::Cargo {
        sound(&source.diagnostics, &source.operator.allows)?;
        let programs = compiler.programs().map_err(|failure| {
            console.eprint(&failure.stderr);
            SourceErrors::from(vec![failure.diagnostic])
        })?;
        return Ok(Found { crds: compiler.crds(&programs, "")?, source, refused: None });
    }
    let underivable = &source.operator.underivable;
    let kinds: BTreeSet<Option<Kind>> = underivable.iter().map(|stopped| stopped.kind.clone()).collect();
    let errors: Vec<Diagnostic> = source.diagnostics.iter().filter(|it| it.is_error()).cloned().collect();
    if !errors.iter().all(|error| underivable.iter().any(|stopped| stopped.reasons.contains(error))) {
        sound(&source.diagnostics, &source.operator.allows)?;
    }
    // All versions of a kind come from one place.
    source.operator.apis.retain(|api| !kinds.contains(&Some((api.group.clone(), api.kind.clone()))));
    let (mut crds, problems) = emit::crds_and_problems(&source.operator.apis);
    let mut refused = MissingCrds::default();
    if !errors.is_empty() {
        let is_answerable = choice.engine == Engine::Auto && errors.iter().all(Diagnostic::needs_compiler);
        let may_compile = is_answerable && (choice.may_compile || compiler.is_permitted()?);
        match may_compile.then(|| compiler.complete(&source, &kinds, &crds)) {
            Some(Ok(complete)) => crds = complete,
            Some(Err(error)) => refused = MissingCrds { kinds, why: error.downcast::<SourceErrors>()? },
            None => {
                let diagnostics = without_allowed(source.diagnostics.clone(), &source.operator.allows, None);
                let help = is_answerable.then_some("`--engine auto` asks the compiler instead, which runs the build scripts, macros and binaries of the crate");
                refused = MissingCrds {
                    kinds,
                    why: SourceErrors { diagnostics, help: help.map(String::from).into_iter().collect() },
                };
            }
        }
    }
    if refused.kinds.is_empty() {
        refused.why = source.diagnostics.clone().into();
    }
    for CrdProblem { group, kind, diagnostic } in problems {
        refused.kinds.insert(Some((group, kind)));
        refused.why.diagnostics.push(diagnostic);
    }
    if refused.kinds.is_empty() {
        source.diagnostics.retain(|diagnostic| !diagnostic.is_error());
        return Ok(Found { source, crds, refused: None });
    }
    if choice.all_or_nothing {
        return Err(refused.why.into());
    }
    refused.why.diagnostics.retain(Diagnostic::is_error);
    source.diagnostics.retain(|diagnostic| !diagnostic.is_error());
    source.operator.conversions.retain(|it| !refused.may_be((it.group.clone(), it.kind.clone())));
    Ok(Found { source, crds, refused: Some(refused) })
}

/// What the API server would reject in webhooks and conversions, at their markers: this needs no compiler.
fn about_webhooks(operator: &Operator) -> Vec<Diagnostic> {
    let webhooks = operator.webhooks.iter().map(|webhook| &webhook.definition);
    let webhooks = webhooks.flat_map(|webhook| webhook.attach_spans(apiserver::webhooks::webhook(&webhook.value)));
    let conversions = operator.conversions.iter().map(|conversion| &conversion.definition);
    webhooks.chain(conversions.flat_map(|it| it.attach_spans(apiserver::webhooks::conversion(&it.value)))).collect()
}

/// Whether there is nothing worse than warnings.
fn sound(diagnostics: &[Diagnostic], allows: &[Allow]) -> Result<(), SourceErrors> {
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
    features: &'a Features,
    console: &'a Console,
}

impl Compiler<'_> {
    /// The CRDs of all kinds: those of the source, and with a note about the reasons, the ones that the source alone does
    /// not define.
    fn complete(
        &self,
        source: &Source,
        kinds: &BTreeSet<Option<Kind>>,
        derived: &[CustomResourceDefinition],
    ) -> anyhow::Result<Vec<CustomResourceDefinition>> {
        let programs = self.programs().map_err(|failure| {
            let Diagnostic { message, help, .. } = failure.diagnostic;
            let but = format!("opctl could ask the compiler instead, but {message}");
            SourceErrors { diagnostics: source.diagnostics.clone(), help: [vec![but], help].concat() }
        })?;
        for line in notices(&source.operator) {
            self.console.note(&line);
        }
        let what = match kinds.iter().flatten().count() {
            0 => "what a macro makes, which".into(),
            number => format!("{} that", counted(number, "kind")),
        };
        let mut compiled = self.crds(&programs, &format!(" for {what} the source alone does not determine"))?;
        let missing: Vec<Diagnostic> = kinds
            .iter()
            .flatten()
            .filter(|kind| !compiled.iter().any(|crd| kind_of(crd) == **kind))
            .map(|(group, kind)| {
                let message = format!("`{}` does not print the CRD of `{kind}` in `{group}`", self.binary);
                OP045.error(message).help(format!("add `{kind}::crd()` to what it prints"))
            })
            .collect();
        sound(&missing, &[])?;
        let from_source: BTreeSet<Kind> = derived.iter().map(kind_of).collect();
        // A macro makes kinds that the source does not name.
        compiled.retain(|crd| !from_source.contains(&kind_of(crd)) && may_be_of(kinds, kind_of(crd)));
        compiled.extend(derived.iter().cloned());
        compiled.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        Ok(compiled)
    }

    /// Asks before code of a crate runs that is no project of opctl. Where nobody can answer: no.
    fn is_permitted(&self) -> anyhow::Result<bool> {
        if !self.console.can_ask() {
            return Ok(false);
        }
        let folder = self.folder.display();
        self.console.ask_yes_no(&format!(
            "some kinds need a compiler, which runs the build scripts, macros and binaries of `{folder}`. compile it?"
        ))
    }

    fn programs(&self) -> Result<Vec<Program>, Box<Failure>> {
        if !self.options.descriptions.foreign {
            let message = "the compiled types do not show which descriptions belong to Kubernetes types";
            let help = "leave out `--no-foreign-descriptions` and PROJECT's `foreignDescriptions: false`, and use `maxDescription`";
            return Err(Box::new(OP046.error(message).help(help).into()));
        }
        compiled::programs(&self.folder, self.binary, self.features)
    }

    /// By name. This runs code of the project, including its build scripts, so a message gives the purpose first.
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
            SourceErrors::from(vec![failure.diagnostic])
        })?;
        Ok(emit::merge(crds).map_err(SourceErrors::from)?)
    }
}

/// Group and kind.
pub type Kind = (String, String);

pub fn kind_of(crd: &CustomResourceDefinition) -> Kind {
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
