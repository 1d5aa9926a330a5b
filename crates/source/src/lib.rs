//! Rust text → [`Operator`]: module tree and `use` resolution, serde, schemars and kube attributes, types → schema,
//! comment markers. Nothing is compiled or run; what cannot be derived exactly is a diagnostic.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod account;
mod attributes;
mod crd_calls;
mod derive;
pub mod emit;
mod evaluate;
pub mod grants;
pub mod known;
pub mod markers;
mod mentions;
mod metrics;
mod ownership;
mod requests;
mod resolve;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{PROJECT, ReadError, Tree, is_unreadable, join};
use opctl_model::threads;
use opctl_model::{Api, Authority, AuthorityFrom, Conversion, Enumeration, Metric, Operator, Underivable};

pub use account::Account;
pub use ownership::{UNDECIDED, generated_before};
pub use resolve::dependencies;

use derive::types::Deriver;
use resolve::foreign::{self, Missing};
use resolve::modules::{Modules, Reading};
use resolve::package::Package;
use resolve::{runtime, skim};

/// What was read.
#[derive(Default)]
pub struct Source {
    /// Whole only if no diagnostic is an error.
    pub operator: Operator,
    pub diagnostics: Vec<Diagnostic>,
    /// How many markers were read, and how many files have one.
    pub markers: (usize, usize),
    /// How many kinds were found, and what became of them.
    pub account: Account,
    /// Where it was read. Syntax trees are large, so they are not kept.
    tree: Tree,
    folder: String,
}

/// What is read, and what is left out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Keep the descriptions that types of Kubernetes itself bring along.
    pub foreign_descriptions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { foreign_descriptions: true }
    }
}

/// Errors about code that may well be sound: it compiles, and the compiled types have a schema. All others are mistakes
/// that a compiler, kube or the API server would refuse as well.
const ONLY_A_COMPILER_KNOWS: &[&str] =
    &["OP010", "OP011", "OP013", "OP014", "OP017", "OP018", "OP019", "OP021", "OP023", "OP024", "OP025"];

/// Whether a compiler can give the answer that the source alone does not.
pub fn only_a_compiler_knows(diagnostic: &Diagnostic) -> bool {
    ONLY_A_COMPILER_KNOWS.contains(&diagnostic.code)
}

/// Reads the package in `folder` (where its Cargo.toml is; `""` is the root), whole.
pub fn read(tree: &Tree, folder: &str) -> Source {
    read_with(tree, folder, &Options::default())
}

pub fn read_with(tree: &Tree, folder: &str, options: &Options) -> Source {
    let (packages, modules, mut source) = read_modules(tree, folder);
    let mut part = derive_all(&source, &modules, options);
    if let Some(missing) = foreign::not_fetched(&part.missing) {
        part.blame(&missing);
    }
    let Part { mut apis, mut unread, mut diagnostics, mut underivable, left_out, mut foreign, enums, .. } = part;
    source.diagnostics.append(&mut unread);
    let in_files = source.diagnostics.clone();
    let enums = Arc::new(enums);
    apis.iter_mut().for_each(|api| api.enums = enums.clone());
    source.diagnostics.append(&mut diagnostics);
    source.add_markers(&packages, &modules);
    foreign.extend(source.leave_external(&packages, &modules, &mut apis, &mut underivable));
    apis.sort_by(|a, b| (&a.group, &a.kind, &a.version).cmp(&(&b.group, &b.kind, &b.version)));
    // A file that belongs to the library and to a binary declares its kinds once, if its names mean the same in both.
    apis.dedup_by(|a, b| a.span == b.span && a.schema == b.schema);
    let conversions = &source.operator.conversions;
    source.diagnostics.extend(apis.windows(2).filter_map(|pair| different_versions(pair, conversions)));
    source.operator.apis = apis;
    source.operator.underivable = underivable;
    let mut passed_over = source.account(&packages, &modules, &left_out, &foreign);
    passed_over.extend(made_kinds(&source.tree, &modules));
    let unnamed = in_files.into_iter().chain(passed_over.iter().cloned()).filter(only_a_compiler_knows);
    let unnamed = unnamed.map(|reason| Underivable { kind: None, span: None, reasons: vec![reason] });
    source.operator.underivable.splice(..0, unnamed);
    source.diagnostics.extend(passed_over);
    source
}

/// What some of the files declare.
#[derive(Default)]
struct Part {
    apis: Vec<Api>,
    /// What is wrong with the files themselves.
    unread: Vec<Diagnostic>,
    diagnostics: Vec<Diagnostic>,
    underivable: Vec<Underivable>,
    /// The items that this build leaves out.
    left_out: Vec<Span>,
    /// The names of the types of other projects' kinds.
    foreign: Vec<Span>,
    enums: Vec<Enumeration>,
    missing: BTreeSet<Missing>,
}

impl Part {
    /// Derives what is in each `of`-th file, from number `first` on.
    fn derive(modules: &Modules, options: &Options, first: usize, of: usize) -> Self {
        let mut deriver = Deriver::new(modules, options);
        let files = modules.candidates().into_iter().skip(first).step_by(of);
        let apis = files.flat_map(|file| deriver.custom_resources(file)).collect();
        let Deriver { diagnostics, underivable, enums, foreign, .. } = deriver;
        let (unread, missing, left_out) =
            (modules.take_diagnostics(), modules.take_missing(), modules.take_left_out_items());
        Self { apis, unread, diagnostics, underivable, left_out, foreign, enums, missing }
    }

    /// Leaves one error of those that follow from it: of types that have the same way out, and of kinds whose derive is not
    /// found.
    fn blame(&mut self, error: &Diagnostic) {
        let follows =
            |said: &Diagnostic| said.is_error() && (said.code == "OP021" || said.help.first() == error.help.first());
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

/// Derives what all files declare; many of them on several cores. Syntax trees stay in their thread, so each thread reads
/// for itself what it needs.
fn derive_all(source: &Source, modules: &Modules, options: &Options) -> Part {
    let cores = match modules.candidates().len() {
        0..16 => 1,
        _ => threads::CORES.min(4),
    };
    if cores == 1 {
        return Part::derive(modules, options, 0, 1);
    }
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let read = |first| Part::derive(&read_modules(&source.tree, &source.folder).1, options, first, cores);
        let others: Vec<_> = (1..cores).map(|first| threads::spawn(scope, move || read(first))).collect();
        let own = Part::derive(modules, options, 0, cores);
        [own].into_iter().chain(others.into_iter().map(threads::join)).collect()
    });
    if !parts.iter().all(Part::is_sound) {
        // What is wrong is told once, and in the order of the files.
        return Part::derive(&read_modules(&source.tree, &source.folder).1, options, 0, 1);
    }
    let mut whole = Part::default();
    for part in parts {
        whole.apis.extend(part.apis);
        whole.enums.extend(part.enums);
        whole.left_out.extend(part.left_out);
        whole.foreign.extend(part.foreign);
    }
    whole
}

/// Reads only the permissions: what a package's markers say, whatever its types are.
pub fn read_markers(tree: &Tree, folder: &str) -> Source {
    let (packages, modules, mut source) = read_modules(tree, folder);
    source.diagnostics.retain(|diagnostic| !only_a_compiler_knows(diagnostic));
    source.add_markers(&packages, &modules);
    source
}

/// Reads everything that manifests are made from, and what the code asks of the API server.
pub fn read_requests(tree: &Tree, folder: &str) -> Source {
    let requests = || {
        // What is wrong with the packages is told already.
        let packages = operators(tree, folder).unwrap_or_default();
        let modules = Modules::read_as(tree, &packages, Reading::Whole);
        (requests::read(&modules), modules.take_diagnostics())
    };
    let ((mut found, unread), mut source) = threads::both(requests, || read(tree, folder));
    source.operator.requests = found.resolved;
    source.operator.makes_more_requests = found.is_partial;
    for unread in unread {
        if !source.diagnostics.contains(&unread) {
            source.diagnostics.push(unread);
        }
    }
    source.diagnostics.append(&mut found.diagnostics);
    source
}

/// The metrics that the package registers, and a warning for each that cannot be read.
///
/// # Errors
///
/// If there is no package, or one of its files cannot be read.
pub fn read_metrics(tree: &Tree, folder: &str) -> Result<(Vec<Metric>, Vec<Diagnostic>), Diagnostic> {
    Ok(metrics::read(&whole(tree, folder)?))
}

/// The places where the source of the package names each of these: as an identifier, or as a string that is just the name; a name that
/// begins with `.` is a method that is called. Tests and the runtime are left out.
///
/// # Errors
///
/// If there is no package, or one of its files cannot be read.
pub fn read_mentions(tree: &Tree, folder: &str, names: &[&str]) -> Result<Vec<Vec<Span>>, Diagnostic> {
    Ok(mentions::read(&whole(tree, folder)?, names))
}

/// All modules of the package, which need not be Rust, but must be readable.
fn whole(tree: &Tree, folder: &str) -> Result<Modules, Diagnostic> {
    let modules = Modules::read_as(tree, &operators(tree, folder)?, Reading::Whole);
    match modules.take_diagnostics().into_iter().find(is_unreadable) {
        Some(unreadable) => Err(unreadable),
        None => Ok(modules),
    }
}

/// Whether the source of the package can name this crate.
pub fn can_name(tree: &Tree, folder: &str, krate: &str) -> bool {
    operators(tree, folder)
        .is_ok_and(|packages| packages.iter().any(|package| package.dependencies.contains_key(krate)))
}

/// The package in a folder, and the members of the workspace whose root is there. Beside them, a runtime is no operator, and in a
/// project, neither is a project of its own.
fn operators(tree: &Tree, folder: &str) -> Result<Vec<Package>, Diagnostic> {
    let mut packages = Package::read(tree, folder)?;
    if packages.len() > 1 {
        let is_project = |folder: &str| tree.has(&join(folder, PROJECT));
        let is_own = |package: &Package| {
            package.folder == folder
                || package.name != runtime::PACKAGE && !(is_project(folder) && is_project(&package.folder))
        };
        packages.retain(is_own);
    }
    Ok(packages)
}

/// The packages and their modules, and a source with nothing but what is wrong with them.
fn read_modules(tree: &Tree, folder: &str) -> (Vec<Package>, Modules, Source) {
    let mut source = Source { tree: tree.clone(), folder: folder.into(), ..Source::default() };
    let packages = operators(tree, folder).unwrap_or_else(|diagnostic| {
        source.diagnostics.push(diagnostic);
        Vec::new()
    });
    let modules = Modules::read(tree, &packages);
    source.diagnostics.append(&mut modules.take_diagnostics());
    source.diagnostics.extend(packages.first().into_iter().flat_map(|package| package.unreadable_settings(tree)));
    (packages, modules, source)
}

/// The procedural macros of the project that make custom resources.
fn made_kinds(tree: &Tree, modules: &Modules) -> Vec<Diagnostic> {
    let dependencies = modules.local_packages().iter().flat_map(|package| package.dependencies.values());
    let folders = dependencies.filter_map(|dependency| dependency.folder.as_ref());
    // What was read as a package of modules is none of procedural macros.
    let is_new = |folder: &&String| !modules.local_packages().iter().any(|package| package.folder == **folder);
    let folders: BTreeSet<&String> = folders.filter(is_new).collect();
    let packages = folders.into_iter().filter_map(|folder| Package::at(tree, folder).ok());
    let sources = packages.filter(|package| package.is_proc_macro).map(|package| join(&package.folder, "src"));
    let mut made = Vec::new();
    for folder in sources {
        made.extend(kinds_made_in(tree, &folder).unwrap_or_else(|error| vec![error.into()]));
    }
    made
}

fn kinds_made_in(tree: &Tree, folder: &str) -> Result<Vec<Diagnostic>, ReadError> {
    let mut made = Vec::new();
    for path in tree.files_below(folder)?.into_iter().filter(|path| path.ends_with(".rs")) {
        let file = SourceFile::new(path.clone(), tree.read(&path)?.unwrap_or_default());
        let message = "a procedural macro makes custom resources, and opctl does not run macros";
        made.extend(skim::kind_made_in(&file.text).map(|range| {
            Diagnostic::error("OP021", message)
                .at(Span { file, range }, "")
                .help("write the types out, or print the CRDs from the compiled types")
        }));
    }
    Ok(made)
}

impl Source {
    fn add_markers(&mut self, packages: &[Package], modules: &Modules) {
        let files = modules.files();
        for file in &files {
            let removes = |at| modules.removes(file, at);
            let mut markers = match modules.package_of(file).filter(|(package, _)| package.name == runtime::PACKAGE) {
                Some((package, _)) => markers::read_but(&runtime::for_operator(file, &package.name), removes),
                None => markers::read_but(file, removes),
            };
            self.markers.0 += markers.count;
            self.markers.1 += usize::from(markers.count > 0);
            self.operator.append(&mut markers.operator);
            self.diagnostics.append(&mut markers.diagnostics);
            for authority in markers.authorities {
                self.trust(authority);
            }
        }
        let mut needs = runtime::needs(modules, packages);
        self.operator.rbac.append(&mut needs.rbac);
        self.diagnostics.append(&mut needs.diagnostics);
        let (unread, problems) = self.unread(packages.iter(), &files);
        self.diagnostics.extend(problems);
        self.diagnostics.extend(unread.iter().filter_map(markers::warn_of_unread));
    }

    /// There is one authority. Its file is read here.
    fn trust(&mut self, mut authority: Authority) {
        let refuse =
            |message: String, help: &str| Diagnostic::error("OP131", message).at(authority.span.clone(), "").help(help);
        if let Some(other) = &self.operator.authority {
            let message = format!("two markers set the CA of the webhooks; the other is at {}", other.span);
            return self.diagnostics.push(refuse(message, "remove one of them"));
        }
        if let AuthorityFrom::File { path, pem } = &mut authority.from {
            match certificates(&self.tree, &join(&self.folder, path)) {
                Ok(text) => *pem = text,
                Err(why) => {
                    let help = "give the path of certificates in PEM, as it is seen from Cargo.toml";
                    return self.diagnostics.push(refuse(format!("`{path}` {why}"), help));
                }
            }
        }
        self.operator.authority = Some(authority);
    }
}

/// PEM that may be published, or why it is not.
fn certificates(tree: &Tree, path: &str) -> Result<String, String> {
    match tree.read(path) {
        Ok(Some(text)) if text.contains("PRIVATE KEY") => Err("has a private key, which would be published".into()),
        Ok(Some(text)) if text.contains("-----BEGIN CERTIFICATE-----") => Ok(text),
        Ok(Some(_)) => Err("has no certificate in PEM".into()),
        Ok(None) => Err("is no file".into()),
        Err(error) => Err(format!("cannot be read: {}", error.source)),
    }
}

/// Two served versions of a kind that differ, next to each other in the list: without a conversion webhook the API server
/// reads an object of the one as the other, field by field.
fn different_versions(pair: &[Api], conversions: &[Conversion]) -> Option<Diagnostic> {
    let [first, second] = pair else { return None };
    let same_kind = (&first.group, &first.kind) == (&second.group, &second.kind);
    let shape = |api: &Api| api.schema.as_ref().map(without_texts);
    let converted =
        conversions.iter().any(|conversion| (&conversion.group, &conversion.kind) == (&first.group, &first.kind));
    if !same_kind || converted || !first.served || !second.served || shape(first) == shape(second) {
        return None;
    }
    let (kind, versions) = (&first.kind, format!("{} and {}", first.version, second.version));
    let message = format!("`{kind}` {versions} have different fields, and nothing converts between them");
    Some(
        Diagnostic::warning("OP022", message)
            .at(second.span.clone(), format!("the other version is at {}", first.span))
            .help("keep their fields equal, or serve only one: `#[kube(served = false)]`")
            .help("where a webhook converts: `// +opctl:conversion:group=…,kind=…`; `opctl create webhook --conversion` makes one"),
    )
}

fn without_texts(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map
                .iter()
                .filter(|(key, value)| !(matches!(key.as_str(), "description" | "title") && value.is_string()));
            kept.map(|(key, value)| (key.clone(), without_texts(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(without_texts).collect::<Vec<_>>().into(),
        value => value.clone(),
    }
}
