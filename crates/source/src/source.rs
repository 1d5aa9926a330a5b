//! The entry points: each reads a part of a package, for one purpose.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::account::{Account, made_kinds};
use crate::derive::types::{Deriver, State};
use crate::derive::{Part, derive_all, different_versions};
use crate::diagnostics::OP051;
use crate::evaluate::context::Context;
use crate::markers::diagnostics::OP131;
use crate::resolve::modules::{Modules, Reading};
use crate::resolve::package::Package;
use crate::resolve::resources::Resource;
use crate::resolve::{foreign, operators, runtime};
use crate::{markers, mentions, metrics, requests};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::project::{self, ProjectFile, Tree, is_unreadable, join};
use opctl_model::threads;
use opctl_model::{Authority, AuthorityFrom, Metric, Operator, Scope, Underivable};

/// Result of reading a package.
#[derive(Default)]
pub struct Source {
    /// Complete only if no diagnostic is an error.
    pub operator: Operator,
    pub diagnostics: Vec<Diagnostic>,
    /// Number of markers, and of files that contain one.
    pub markers: (usize, usize),
    /// Number of kinds found, by outcome.
    pub account: Account,
    /// The sources. Syntax trees are large, so they are not kept.
    pub(crate) tree: Tree,
    pub(crate) folder: String,
}

/// Options for reading a package.
#[derive(Clone, Debug)]
pub struct Options {
    /// Keep the descriptions in the schemas of Kubernetes' own types.
    pub foreign_descriptions: bool,
    /// Derive the values that serde reads into objects.
    pub reads: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { foreign_descriptions: true, reads: false }
    }
}

/// Reads the complete package in `folder`, which contains Cargo.toml; `""` is the root.
pub fn read(tree: &Tree, folder: &str) -> Source {
    read_with(tree, folder, &Options::default())
}

pub fn read_with(tree: &Tree, folder: &str, options: &Options) -> Source {
    let (packages, mut source) = read_build(tree, folder, options);
    source.diagnostics.extend(source.adding_features(&packages, options));
    source
}

/// Reads one build: the package with the features of the tree.
fn read_build(tree: &Tree, folder: &str, options: &Options) -> (Vec<Package>, Source) {
    let (packages, modules, mut source) = read_modules(tree, folder);
    let mut part = derive_all(&source.tree, &source.folder, &modules, options);
    if let Some(missing) = foreign::not_fetched(&part.missing) {
        part.blame(&missing);
    }
    let Part {
        mut declared, mut apis, mut unread, mut diagnostics, mut underivable, left_out, mut foreign, enums, ..
    } = part;
    source.diagnostics.append(&mut unread);
    let in_files = source.diagnostics.clone();
    let enums = Arc::new(enums);
    apis.iter_mut().for_each(|api| api.enums = enums.clone());
    source.diagnostics.append(&mut diagnostics);
    source.add_markers(&packages, &modules);
    foreign.extend(source.leave_external(&packages, &modules, &mut apis, &mut underivable));
    declared.iter_mut().for_each(|kind| kind.is_external = foreign.contains(&kind.span));
    // A file may be part of a library and of a binary.
    declared.sort_by_key(|it| (it.group.clone(), it.kind.clone(), it.version.clone(), it.library.is_none()));
    declared.dedup_by(|a, b| a.span == b.span);
    source.operator.declared = declared;
    apis.sort_by(|a, b| (&a.group, &a.kind, &a.version).cmp(&(&b.group, &b.kind, &b.version)));
    // A file that belongs to the library and to a binary declares its kinds once, if its names mean the same in both.
    apis.dedup_by(|a, b| a.span == b.span && a.schema == b.schema);
    let conversions = &source.operator.conversions;
    source.diagnostics.extend(apis.windows(2).filter_map(|pair| different_versions(pair, conversions)));
    source.operator.apis = apis;
    source.operator.underivable = underivable;
    let mut passed_over = source.account(&packages, &modules, &left_out, &foreign);
    passed_over.extend(made_kinds(&source.tree, &modules));
    let unnamed = in_files.into_iter().chain(passed_over.iter().cloned()).filter(Diagnostic::needs_compiler);
    let unnamed = unnamed.map(|reason| Underivable { kind: None, span: None, reasons: vec![reason] });
    source.operator.underivable.splice(..0, unnamed);
    source.diagnostics.extend(passed_over);
    (packages, source)
}

/// Reads only the permissions that a package's markers grant, without its types.
pub fn read_markers(tree: &Tree, folder: &str) -> Source {
    let (packages, modules, mut source) = read_modules(tree, folder);
    source.diagnostics.retain(|diagnostic| !diagnostic.needs_compiler());
    source.add_markers(&packages, &modules);
    source
}

/// Reads everything for the manifests, and the requests of the code to the API server.
pub fn read_requests(tree: &Tree, folder: &str) -> Source {
    read_requests_with(tree, folder, &Options::default())
}

pub fn read_requests_with(tree: &Tree, folder: &str, options: &Options) -> Source {
    let requests = || {
        // Problems with the packages are reported already.
        let packages = operators(tree, folder).unwrap_or_default();
        let modules = Modules::read_as(tree, &packages, Reading::Whole);
        let (mut cx, mut state) = (Context::new(&modules), State::new(&Options::default()));
        let found = requests::read(&modules, &mut Deriver { cx: &mut cx, state: &mut state }, kinds_of_macros(tree));
        (found, modules.take_diagnostics())
    };
    let ((mut found, unread), mut source) = threads::both(requests, || read_with(tree, folder, options));
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

/// The kinds of PROJECT whose types a macro makes.
fn kinds_of_macros(tree: &Tree) -> Vec<Resource> {
    let Ok(project) = ProjectFile::read(tree) else { return Vec::new() };
    let made = project.resources.iter().filter(|it| it.is_adopted() && it.path.is_empty());
    let resource = |entry: &project::Resource| {
        let scope = entry.api.map(|api| if api.namespaced { Scope::Namespaced } else { Scope::Cluster });
        Resource {
            group: entry.full_group(),
            version: entry.version.to_string(),
            kind: entry.kind.to_string(),
            plural: entry.plural().to_string(),
            scope,
        }
    };
    made.map(resource).collect()
}

/// The metrics that the package registers, and a warning for each that cannot be read.
///
/// # Errors
///
/// If there is no package, or one of its files cannot be read.
pub fn read_metrics(tree: &Tree, folder: &str) -> Result<(Vec<Metric>, Vec<Diagnostic>), Diagnostic> {
    Ok(metrics::read(&whole(tree, folder)?))
}

/// The places where the source of the package names each of these: as an identifier, or as a string that equals the
/// name. A name that begins with `.` is a method call. Tests and the runtime are skipped.
///
/// # Errors
///
/// If there is no package, or one of its files cannot be read.
pub fn read_mentions(tree: &Tree, folder: &str, names: &[&str]) -> Result<Vec<Vec<Span>>, Diagnostic> {
    Ok(mentions::read(&whole(tree, folder)?, names))
}

/// All modules of the package. Files must be readable, but need not parse as Rust.
fn whole(tree: &Tree, folder: &str) -> Result<Modules, Diagnostic> {
    let modules = Modules::read_as(tree, &operators(tree, folder)?, Reading::Whole);
    match modules.take_diagnostics().into_iter().find(is_unreadable) {
        Some(unreadable) => Err(unreadable),
        None => Ok(modules),
    }
}

/// `true` if the source of the package can name this crate.
pub fn can_name(tree: &Tree, folder: &str, krate: &str) -> bool {
    operators(tree, folder)
        .is_ok_and(|packages| packages.iter().any(|package| package.dependencies.contains_key(krate)))
}

/// The packages, their modules, and a source that only has the problems of these.
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

impl Source {
    /// A warning with the features that enable kinds, if a `cfg` leaves out every kind.
    fn adding_features(&self, packages: &[Package], options: &Options) -> Option<Diagnostic> {
        let Account { written: 0, refused: 0, left_out: 1.., .. } = self.account else { return None };
        let declared = packages.iter().flat_map(|package| {
            let enabled = package.by_default();
            package.declared_features().into_iter().filter(move |feature| !enabled.contains(feature))
        });
        let declared: BTreeSet<String> = declared.filter(|feature| feature != "default").collect();
        let added = declared.into_iter().filter_map(|feature| {
            let mut features = self.tree.features().clone();
            features.features.push(feature.clone());
            let (_, with) = read_build(&self.tree.clone().with_features(features), &self.folder, options);
            let count = with.account.written + with.account.refused;
            (count > 0).then_some((count, feature))
        });
        // Of the features that add most kinds, suggest the one that enables the fewest others.
        let enables = |feature: &str| {
            packages.iter().map(|package| package.closure([feature.to_owned()]).len()).max().unwrap_or_default()
        };
        let (count, feature) =
            added.min_by_key(|(count, feature)| (Reverse(*count), enables(feature), feature.clone()))?;
        let kinds = if count == 1 { "kind" } else { "kinds" };
        let message = format!("no kind is part of this build; the feature `{feature}` adds {count} {kinds}");
        Some(OP051.warning(message).help(format!("add `--features {feature}`")))
    }

    fn add_markers(&mut self, packages: &[Package], modules: &Modules) {
        let files = modules.files();
        for file in &files {
            let removes = |at| modules.removes(file, at);
            let is_code = |name: &str| self.tree.is_code(name);
            let mut markers = match modules.package_of(file).filter(|(package, _)| package.name == runtime::PACKAGE) {
                Some((package, _)) => markers::read_but(&runtime::for_operator(file, &package.name), removes, is_code),
                None => markers::read_but(file, removes, is_code),
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

    /// Sets the certificate authority and reads its file. A second marker is an error.
    fn trust(&mut self, mut authority: Authority) {
        let refuse = |message: String, help: &str| OP131.error(message).at(authority.span.clone(), "").help(help);
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

/// The certificates in PEM, or the reason why the file must not be published.
fn certificates(tree: &Tree, path: &str) -> Result<String, String> {
    match tree.read(path) {
        Ok(Some(text)) if text.contains("PRIVATE KEY") => Err("has a private key, which would be published".into()),
        Ok(Some(text)) if text.contains("-----BEGIN CERTIFICATE-----") => Ok(text),
        Ok(Some(_)) => Err("has no certificate in PEM".into()),
        Ok(None) => Err("is not a file".into()),
        Err(error) => Err(format!("cannot be read: {}", error.source)),
    }
}
