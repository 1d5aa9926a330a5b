//! Selects how CRDs are generated: from the source alone, from the compiled types, or with the cheapest engine that
//! works for each kind.
//!
//! Permissions always come from the source. The compiler ([`opctl_tools`]) is used, with a note, only for kinds that the
//! source alone does not determine.
//!
//! Other errors do not start a build, which would take minutes and fail with the same error. A kind with an error does
//! not affect the others: the error is returned together with their CRDs, and its existing CRD stays in lists and
//! roles. Errors that do not belong to a kind stop the command. CRDs of compiled types pass the same checks and the
//! same emitter.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use clap::ValueEnum;

use super::allow::without_allowed;
use super::manifests::ManifestOptions;
use super::{Console, counted};
use crate::error::SourceErrors;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::project::widespread::project_of;
use opctl_model::project::{Features, PROJECT, Tree};
use opctl_model::{Allow, Api, Operator, Underivable};
use opctl_schema::apiserver;
use opctl_source::diagnostics::{OP030, OP049, OP052};
use opctl_source::emit::{self, CrdProblem, CustomResourceDefinition};
use opctl_source::{self as source, Source};
use opctl_tools::diagnostics::{OP045, OP046};
use opctl_tools::printer::{self, Declaration, Printed};
use opctl_tools::{self as tools, Failure, Program};

/// The parts that are generated together.
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

/// The user's choices.
pub struct Choice<'a> {
    pub engine: Engine,
    /// Code of the crate may run: it is a project of opctl, or the engine was specified. Otherwise, opctl asks the
    /// user.
    pub may_compile: bool,
    /// The binaries that print the CRDs of the compiled types. If empty, the one of a scaffolded project, or code that
    /// opctl adds.
    pub binaries: &'a [String],
    /// The arguments of these binaries.
    pub arguments: &'a [String],
    /// The parts to generate; all if empty.
    pub only: &'a [Part],
    /// A kind that cannot be generated is an error. Otherwise, its CRD is kept.
    pub all_or_nothing: bool,
    /// The CRDs of the source, if they are known: then only markers are read.
    pub crds: Option<&'a [CustomResourceDefinition]>,
}

impl Choice<'_> {
    /// For commands that never compile.
    pub const STATIC: Self = Self {
        engine: Engine::Static,
        may_compile: false,
        binaries: &[],
        arguments: &[],
        only: &[],
        all_or_nothing: true,
        crds: None,
    };

    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The types in the source are read.
    pub fn reads_types(&self) -> bool {
        self.wants(Part::Crd) && self.crds.is_none()
    }
}

/// The input of manifests.
pub struct Found {
    pub source: Source,
    /// Sorted by name.
    pub crds: Vec<CustomResourceDefinition>,
    /// The kinds without a CRD, and the reasons.
    pub refused: Option<MissingCrds>,
}

/// Kinds without a CRD.
#[derive(Default)]
pub struct MissingCrds {
    /// `None` stands for kinds with unknown names, such as those of a macro.
    pub kinds: BTreeSet<Option<Kind>>,
    /// The reasons; only errors.
    pub why: SourceErrors,
}

impl MissingCrds {
    /// `true` if the kind may be one of these kinds.
    pub fn may_be(&self, kind: Kind) -> bool {
        may_be_of(&self.kinds, kind)
    }
}

/// `true` if the kind may be one of `kinds`, where `None` is a kind with an unknown name.
fn may_be_of(kinds: &BTreeSet<Option<Kind>>, kind: Kind) -> bool {
    kinds.contains(&None) || kinds.contains(&Some(kind))
}

/// Reads the source and generates CRDs. Errors in the source are a [`SourceErrors`], unless they only affect single
/// kinds.
pub fn find(tree: &Tree, options: &ManifestOptions, choice: &Choice, console: &Console) -> anyhow::Result<Found> {
    let mut source = if choice.reads_types() && choice.engine != Engine::Cargo {
        let source_options = source::Options { foreign_descriptions: options.descriptions.foreign, reads: false };
        source::read_with(tree, options.folder, &source_options)
    } else {
        source::read_markers(tree, options.folder)
    };
    source.diagnostics.extend(about_webhooks(&source.operator));
    if !choice.reads_types() {
        sound(&source.diagnostics, &source.operator.allows)?;
        return Ok(Found { source, crds: choice.crds.unwrap_or_default().to_vec(), refused: None });
    }
    let compiler = Compiler::new(tree, options, choice, console);
    if choice.engine == Engine::Cargo {
        sound(&source.diagnostics, &source.operator.allows)?;
        let types = source::read(tree, options.folder);
        spelled(&types)?;
        let printer = compiler.printer().map_err(|failure| compiler.reported(*failure))?;
        let Printer::Types = printer else {
            return Ok(Found { crds: compiler.crds(&printer, &source, &[], "")?.crds, source, refused: None });
        };
        // The compiler checks the types, but does not know which kinds belong to other projects.
        let compiled = compiler.crds(&printer, &types, &compiler.places(&types.operator, |_| true), "")?;
        source.diagnostics.extend(types.diagnostics.iter().filter(|it| *it.code == *OP030).cloned());
        source.operator.externals = types.operator.externals.clone();
        let mut refused = unclear(&types.operator);
        let kinds = types.operator.underivable.iter().map(|stopped| stopped.kind.clone());
        let kinds = kinds.chain(compiled.failed.iter().cloned().map(Some)).collect();
        let crds = compiled.all_but(kinds, &mut refused);
        return only_found(source, crds, refused, choice);
    }
    let underivable = &source.operator.underivable;
    let kinds: BTreeSet<Option<Kind>> = underivable.iter().map(|stopped| stopped.kind.clone()).collect();
    let errors: Vec<Diagnostic> = source.diagnostics.iter().filter(|it| it.is_error()).cloned().collect();
    if !errors.iter().all(|error| underivable.iter().any(|stopped| stopped.reasons.contains(error))) {
        sound(&source.diagnostics, &source.operator.allows)?;
    }
    // All versions of a kind must come from one engine.
    let is_stopped = |api: &Api| kinds.contains(&Some((api.group.clone(), api.kind.clone())));
    let places = compiler.places(&source.operator, is_stopped);
    source.operator.apis.retain(|api| !is_stopped(api));
    let (mut crds, problems) = emit::crds_and_problems(&source.operator.apis);
    let mut refused = MissingCrds::default();
    if !errors.is_empty() {
        let unclear = unclear(&source.operator);
        let is_known = |it: &Diagnostic| it.needs_compiler() || *it.code == *OP049;
        let is_answerable = choice.engine == Engine::Auto
            && errors.iter().all(is_known)
            && errors.iter().any(Diagnostic::needs_compiler);
        let may_compile = is_answerable && (choice.may_compile || compiler.is_permitted()?);
        match may_compile.then(|| compiler.complete(&source, &Stopped { kinds: &kinds, places }, &crds)) {
            Some(Ok(complete)) => {
                refused = unclear;
                crds = complete.all_but(kinds, &mut refused);
            }
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
    only_found(source, crds, refused, choice)
}

/// The CRDs, and the source without the errors and conversions of the other kinds.
fn only_found(
    mut source: Source,
    crds: Vec<CustomResourceDefinition>,
    mut refused: MissingCrds,
    choice: &Choice,
) -> anyhow::Result<Found> {
    if choice.all_or_nothing && !refused.kinds.is_empty() {
        return Err(refused.why.into());
    }
    refused.why.diagnostics.retain(Diagnostic::is_error);
    source.diagnostics.retain(|diagnostic| !diagnostic.is_error());
    source.operator.conversions.retain(|it| !refused.may_be((it.group.clone(), it.kind.clone())));
    Ok(Found { source, crds, refused: Some(refused).filter(|refused| !refused.kinds.is_empty()) })
}

/// The kinds that may belong to other projects, which a compiler cannot determine.
fn unclear(operator: &Operator) -> MissingCrds {
    let mut unclear = MissingCrds::default();
    for Underivable { kind, reasons, .. } in &operator.underivable {
        for reason in reasons.iter().filter(|reason| *reason.code == *OP049) {
            unclear.kinds.insert(kind.clone());
            if !unclear.why.diagnostics.contains(reason) {
                unclear.why.diagnostics.push(reason.clone());
            }
        }
    }
    unclear
}

/// The CRDs of the same kinds, from the source and from the compiled types.
pub struct Both {
    pub source: Source,
    pub derived: Vec<CustomResourceDefinition>,
    pub compiled: Compiled,
}

/// The CRDs of the compiled types.
pub struct Compiled {
    pub crds: Vec<CustomResourceDefinition>,
    /// The kinds without a CRD because a program that contains them does not compile or run.
    pub failed: BTreeSet<Kind>,
    /// The reasons why kinds have no CRD.
    pub errors: Vec<Diagnostic>,
}

impl Compiled {
    /// The CRDs. The others of these kinds, which need a compiler, are added to the kinds without a CRD.
    fn all_but(self, kinds: BTreeSet<Option<Kind>>, refused: &mut MissingCrds) -> Vec<CustomResourceDefinition> {
        if !self.errors.is_empty() {
            refused.kinds.extend(kinds);
            refused.why.diagnostics.extend(self.errors);
        }
        // Kinds that a binary of the crate prints belong to the crate.
        refused.kinds.retain(|kind| !self.crds.iter().any(|crd| Some(kind_of(crd)) == *kind));
        self.crds
    }
}

/// Derives all kinds that the source determines, and compiles all kinds.
pub fn both(tree: &Tree, options: &ManifestOptions, choice: &Choice, console: &Console) -> anyhow::Result<Both> {
    let source = source::read(tree, options.folder);
    let markers = source::read_markers(tree, options.folder);
    sound(&markers.diagnostics, &markers.operator.allows)?;
    spelled(&source)?;
    let compiler = Compiler::new(tree, options, choice, console);
    let printer = compiler.printer().map_err(|failure| compiler.reported(*failure))?;
    let compiled = compiler.crds(&printer, &source, &compiler.places(&source.operator, |_| true), "")?;
    let kinds = source.operator.underivable.iter().filter_map(|stopped| stopped.kind.as_ref());
    let kinds: BTreeSet<&Kind> = kinds.collect();
    // All versions of a kind must come from one engine.
    let apis = source.operator.apis.iter().filter(|api| !kinds.contains(&(api.group.clone(), api.kind.clone())));
    let (derived, _) = emit::crds_and_problems(&apis.cloned().collect::<Vec<_>>());
    Ok(Both { derived, compiled, source })
}

/// The errors that the API server would report for webhooks and conversions, at their markers. These need no compiler.
fn about_webhooks(operator: &Operator) -> Vec<Diagnostic> {
    let webhooks = operator.webhooks.iter().map(|webhook| &webhook.definition);
    let webhooks = webhooks.flat_map(|webhook| webhook.attach_spans(apiserver::webhooks::webhook(&webhook.value)));
    let conversions = operator.conversions.iter().map(|conversion| &conversion.definition);
    webhooks.chain(conversions.flat_map(|it| it.attach_spans(apiserver::webhooks::conversion(&it.value)))).collect()
}

/// Returns the diagnostics as an error if one of them is an error.
fn sound(diagnostics: &[Diagnostic], allows: &[Allow]) -> Result<(), SourceErrors> {
    match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(without_allowed(diagnostics.to_vec(), allows, None).into()),
        false => Ok(()),
    }
}

/// Returns misspelled types as an error: the compiler would report them too, but only after all dependencies.
fn spelled(source: &Source) -> Result<(), SourceErrors> {
    let misspelled = source.diagnostics.iter().filter(|it| *it.code == *OP052);
    sound(&misspelled.cloned().collect::<Vec<_>>(), &[])
}

/// Generates CRDs from the compiled types of a crate.
struct Compiler<'a> {
    /// Paths of spans are relative to this folder.
    root: &'a Path,
    folder: PathBuf,
    options: &'a ManifestOptions<'a>,
    choice: &'a Choice<'a>,
    features: &'a Features,
    console: &'a Console,
}

/// The kinds that the source does not determine.
struct Stopped<'a> {
    kinds: &'a BTreeSet<Option<Kind>>,
    /// The positions of all versions of the kinds.
    places: Vec<Declaration>,
}

/// The program that prints CRDs.
enum Printer {
    /// Binaries of the crate.
    Binaries(Vec<Program>),
    /// The crate's types, with code that opctl adds to a copy.
    Types,
}

/// The name of the binary in scaffolded projects.
const CRDGEN: &str = "crdgen";

impl<'a> Compiler<'a> {
    fn new(tree: &'a Tree, options: &'a ManifestOptions<'a>, choice: &'a Choice<'a>, console: &'a Console) -> Self {
        let folder = tree.root().join(options.folder);
        Self { root: tree.root(), folder, options, choice, features: tree.features(), console }
    }

    /// The CRDs of all kinds: those of the source, and those that the source alone does not determine, with a note
    /// about the reasons.
    fn complete(
        &self,
        source: &Source,
        Stopped { kinds, places }: &Stopped,
        derived: &[CustomResourceDefinition],
    ) -> anyhow::Result<Compiled> {
        let printer = self.printer().map_err(|failure| {
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
        let purpose = format!(" for {what} the source alone does not determine");
        let mut compiled = self.crds(&printer, source, places, &purpose)?;
        let from_source: BTreeSet<Kind> = derived.iter().map(kind_of).collect();
        // The output of macros may contain kinds that the source does not name.
        compiled.crds.retain(|crd| !from_source.contains(&kind_of(crd)) && may_be_of(kinds, kind_of(crd)));
        compiled.crds.extend(derived.iter().cloned());
        compiled.crds.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        Ok(compiled)
    }

    /// Asks for permission to run code of a crate that is not a project of opctl. Returns `false` if no user can
    /// answer.
    fn is_permitted(&self) -> anyhow::Result<bool> {
        if !self.console.can_ask() {
            return Ok(false);
        }
        let folder = self.folder.display();
        let question = format!(
            "some kinds need a compiler, which runs the build scripts, macros and binaries of `{folder}`. compile it?"
        );
        self.console
            .ask_no(&question, "code of the crate and its dependencies runs on this machine: agree if you trust it")
    }

    fn printer(&self) -> Result<Printer, Box<Failure>> {
        if !self.options.descriptions.foreign {
            let message = "the compiled types do not show which descriptions belong to Kubernetes types";
            let help = "leave out `--no-foreign-descriptions` and PROJECT's `foreignDescriptions: false`, and use `maxDescription`";
            return Err(Box::new(OP046.error(message).help(help).into()));
        }
        let Choice { binaries, arguments, .. } = self.choice;
        if !binaries.is_empty() {
            return Ok(Printer::Binaries(tools::programs(&self.folder, binaries, arguments, self.features)?));
        }
        // The `crdgen` of a scaffolded project prints all kinds. Elsewhere, a binary of this name may do anything.
        let is_scaffolded = self.folder.join(PROJECT).is_file() && self.options.adopted.is_none();
        let scaffolded = is_scaffolded.then(|| tools::programs(&self.folder, &[CRDGEN.into()], &[], self.features));
        if let Some(Ok(programs)) = scaffolded {
            return Ok(Printer::Binaries(programs));
        }
        tools::metadata(&self.folder)?;
        Ok(Printer::Types)
    }

    /// The CRDs, sorted by name. This runs code of the project, including its build scripts, so the purpose is printed
    /// first.
    fn crds(
        &self,
        printer: &Printer,
        source: &Source,
        places: &[Declaration],
        purpose: &str,
    ) -> anyhow::Result<Compiled> {
        if matches!(printer, Printer::Types) && places.is_empty() {
            return Ok(Compiled { crds: Vec::new(), failed: BTreeSet::new(), errors: Vec::new() });
        }
        let running = match printer {
            Printer::Binaries(programs) => {
                let names: BTreeSet<&str> = programs.iter().map(|program| program.name.as_str()).collect();
                format!(" and running its `{}`", Vec::from_iter(names).join("`, `"))
            }
            Printer::Types => String::new(),
        };
        self.console.info(&format!("compiling the crate with cargo{running}{purpose}"));
        let mut progress = self.console.progress();
        let is_shown = progress.is_shown();
        let mut is_blocked = false;
        let mut report = |news: &str| match is_shown {
            true => progress.show(news),
            // Another cargo, e.g. that of an editor, may hold the lock for long.
            false if news.starts_with("blocking") && !is_blocked => {
                is_blocked = true;
                self.console.info(news);
            }
            false => {}
        };
        let printed = match printer {
            Printer::Binaries(programs) => {
                let names = programs.iter().map(|program| program.name.clone()).collect();
                let crds = tools::crds(&self.folder, programs, &mut report);
                crds.map(|crds| Printed { crds, programs: names, failed: None })
            }
            Printer::Types => printer::crds(&self.folder, places, self.features, &mut report),
        };
        drop(progress);
        let Printed { mut crds, programs, failed } = printed.map_err(|failure| self.reported(*failure))?;
        if matches!(printer, Printer::Types) {
            crds.retain(|crd| is_own(&kind_of(crd), &source.operator));
        }
        let crds = emit::merge(crds).map_err(SourceErrors::from)?;
        if matches!(printer, Printer::Types) && !programs.is_empty() {
            let built = programs.join("`, `");
            self.console.info(&format!("the compiled types have {}, printed by `{built}`", counted(crds.len(), "CRD")));
        }
        let Some((places, failure)) = failed else {
            let errors = missing(&crds, printer, &programs, &source.operator);
            return Ok(Compiled { crds, failed: BTreeSet::new(), errors });
        };
        // All versions of a kind must be known.
        let failed = self.kinds_at(&places, &source.operator);
        let crds = crds.into_iter().filter(|crd| !failed.contains(&kind_of(crd))).collect();
        Ok(Compiled { crds, failed, errors: self.reported(*failure).diagnostics })
    }

    /// The positions of the types that the source does not determine, of the chosen other types, and of macros that may
    /// declare kinds.
    fn places(&self, operator: &Operator, is_chosen: impl Fn(&Api) -> bool) -> Vec<Declaration> {
        let mut places: Vec<Declaration> =
            operator.apis.iter().filter(|api| is_chosen(api)).map(|api| self.place(&api.span, false)).collect();
        for stopped in &operator.underivable {
            places.extend(stopped.span.as_ref().map(|span| self.place(span, false)));
            if stopped.kind.is_none() {
                let reasons = stopped.reasons.iter().filter(|reason| reason.needs_compiler());
                places.extend(reasons.filter_map(|reason| Some(self.place(&reason.span.as_ref()?.0, true))));
            }
        }
        places.sort();
        places.dedup();
        places
    }

    fn place(&self, span: &Span, is_macro: bool) -> Declaration {
        Declaration { file: normal(&self.root.join(&span.file.path)), at: span.range.start, is_macro }
    }

    /// The own kinds with types at these places.
    fn kinds_at(&self, places: &[Declaration], operator: &Operator) -> BTreeSet<Kind> {
        let derived = operator.apis.iter().map(|api| ((api.group.clone(), api.kind.clone()), &api.span));
        let stopped = operator.underivable.iter();
        let stopped = stopped.filter_map(|stopped| Some((stopped.kind.clone()?, stopped.span.as_ref()?)));
        let kinds = derived.chain(stopped).filter(|(_, span)| places.contains(&self.place(span, false)));
        kinds.map(|(kind, _)| kind).filter(|kind| is_own(kind, operator)).collect()
    }

    /// The error; cargo's output is printed first.
    fn reported(&self, failure: Failure) -> SourceErrors {
        self.console.eprint(&failure.stderr);
        SourceErrors::from(vec![failure.diagnostic])
    }
}

/// `true` if the kind belongs to the crate. For kinds of macros, opctl knows only the group.
fn is_own(kind: &Kind, operator: &Operator) -> bool {
    let is_it = |group: &str, name: &str| (group, name) == (&kind.0, &kind.1);
    let known = operator.underivable.iter().filter(|it| it.kind.as_ref() == Some(kind));
    if let Some(stopped) = known.clone().next() {
        return !stopped.reasons.iter().any(|reason| *reason.code == *OP049);
    }
    let is_external = || operator.externals.iter().any(|external| is_it(&external.group, &external.kind));
    operator.apis.iter().any(|api| is_it(&api.group, &api.kind)) || !is_external() && project_of(&kind.0).is_none()
}

/// Errors for kinds that need a compiler and are not among its CRDs.
fn missing(
    crds: &[CustomResourceDefinition],
    printer: &Printer,
    programs: &[String],
    operator: &Operator,
) -> Vec<Diagnostic> {
    let printed: BTreeSet<Kind> = crds.iter().map(kind_of).collect();
    let needed = operator.underivable.iter().filter_map(|stopped| stopped.kind.clone());
    let needed: BTreeSet<Kind> = needed.filter(|kind| is_own(kind, operator)).collect();
    let named: BTreeSet<Kind> = operator.apis.iter().map(|api| (api.group.clone(), api.kind.clone())).collect();
    let is_unnamed = |kind: &&Kind| !needed.contains(*kind) && !named.contains(*kind);
    let mut errors = Vec::new();
    for kind in needed.difference(&printed) {
        let (group, name) = kind;
        errors.push(match printer {
            Printer::Binaries(_) => {
                let message = format!("`{}` does not print the CRD of `{name}` in `{group}`", programs.join("`, `"));
                OP045.error(message).help(format!("add `{name}::crd()` to what it prints"))
            }
            Printer::Types => OP045
                .error(format!("the compiled crate has no `{name}` in `{group}`"))
                .help("if a feature adds it, use `--features`")
                .help(printer::CRDGEN),
        });
    }
    let of_macros = operator.underivable.iter().find(|stopped| stopped.kind.is_none());
    if let (Some(stopped), Printer::Types) = (of_macros, printer)
        && !printed.iter().any(|kind| is_unnamed(&kind))
    {
        let span = stopped.reasons.iter().find_map(|reason| reason.span.clone());
        let error = OP045.error("opctl cannot name the kinds that this macro makes");
        let error = Diagnostic { span: span.map(|(span, _)| (span, String::new())), ..error };
        let help = "call `crd()` of these kinds anywhere in the crate, such as in a binary that prints them";
        errors.push(error.help(help).help(printer::CRDGEN));
    }
    errors
}

/// The path without `.` and `..`, as cargo prints it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Group and kind.
pub type Kind = (String, String);

pub fn kind_of(crd: &CustomResourceDefinition) -> Kind {
    (crd.spec.group.clone(), crd.spec.names.kind.clone())
}

/// A line for each kind that needs a compiler, and each reason.
fn notices(operator: &Operator) -> Vec<String> {
    let mut lines = Vec::new();
    for stopped in &operator.underivable {
        for reason in &stopped.reasons {
            let kind = stopped.kind.as_ref().map_or("what a macro makes".into(), |(_, kind)| format!("`{kind}`"));
            let span = reason.span.as_ref().map(|(span, _)| format!(" at {span}")).unwrap_or_default();
            let line = format!("{kind} needs a compiler: {}{span}, {}", reason.code, reason.message);
            // Several versions of a kind, or a file that is part of the library and of a binary, have the same reason.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
