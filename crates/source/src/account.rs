//! Accounts for the kinds of the packages: each `#[kube(…)]` with a kind in their files becomes a version of a CRD,
//! is refused with a diagnostic, is left out by a `cfg`, or belongs to another project.
//!
//! Only tokens are read, so kinds that the item parser missed are found as well; a missed kind is an error.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::Source;
use crate::diagnostics::{OP001, OP006, OP021, OP029};
use crate::resolve::modules::{Modules, mentions};
use crate::resolve::package::Package;
use crate::resolve::skim::{self, KindAttribute};
use opctl_model::diagnostic::{Diagnostic, Severity, SourceFile, Span};
use opctl_model::lexer::{Lexer, Token};
use opctl_model::project::{ReadError, Tree, join};

/// Numbers of versions of kinds in the source; `found` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub found: usize,
    /// Versions in `Operator::apis`.
    pub written: usize,
    /// Versions that a diagnostic refuses.
    pub refused: usize,
    /// Versions that a `cfg` leaves out.
    pub left_out: usize,
    /// Versions that belong to other projects.
    pub elsewhere: usize,
}

enum Fate {
    Written,
    Reported,
    LeftOut,
    Elsewhere,
}

impl Account {
    fn count(&mut self, fate: &Fate) {
        self.found += 1;
        *match fate {
            Fate::Written => &mut self.written,
            Fate::Reported => &mut self.refused,
            Fate::LeftOut => &mut self.left_out,
            Fate::Elsewhere => &mut self.elsewhere,
        } += 1;
    }
}

impl Source {
    /// Counts the kinds of all files, and returns diagnostics for those that no other diagnostic covers. `left_out`
    /// are the spans of items, `foreign` those of the names of other projects' types.
    pub(super) fn account(
        &mut self,
        packages: &[Package],
        modules: &Modules,
        left_out: &[Span],
        foreign: &[Span],
    ) -> Vec<Diagnostic> {
        let files = modules.files();
        let mut problems = Vec::new();
        for file in &files {
            for kind in skim::kinds_in(&file.text) {
                let fate = self.fate(file, &kind, modules, left_out, foreign);
                self.account.count(fate.as_ref().unwrap_or(&Fate::Reported));
                problems.extend(fate.is_none().then(|| passed_over(file, kind.at)));
            }
        }
        // Unreadable files are reported with the markers.
        for file in self.unread(packages.iter().filter(|package| !package.is_proc_macro), &files).0 {
            let kinds = skim::kinds_in(&file.text);
            let is_left_out = modules.leaves_out(&file.path);
            let fate = if is_left_out { Fate::LeftOut } else { Fate::Reported };
            kinds.iter().for_each(|_| self.account.count(&fate));
            let first = kinds.into_iter().next().filter(|_| !is_left_out);
            problems.extend(first.map(|kind| unread_kind(&file, kind.at, modules)));
        }
        problems
    }

    /// `None` if the kind is neither derived nor reported nor left out.
    fn fate(
        &self,
        file: &Arc<SourceFile>,
        kind: &KindAttribute,
        modules: &Modules,
        left_out: &[Span],
        foreign: &[Span],
    ) -> Option<Fate> {
        let is_in = |span: &Span, at: usize| span.file.path == file.path && span.range.contains(&at);
        let is_name = |span: &Span| kind.name.is_some_and(|name| is_in(span, name));
        if self.operator.apis.iter().any(|api| is_name(&api.span)) {
            return Some(Fate::Written);
        }
        let externals = self.operator.ownerships.iter().filter(|it| it.is_external).map(|it| &it.covers);
        if foreign.iter().chain(externals).any(|span| is_in(span, kind.at.start) || is_name(span)) {
            return Some(Fate::Elsewhere);
        }
        if left_out.iter().any(|span| is_in(span, kind.at.start)) || modules.removes(file, kind.at.start) {
            return Some(Fate::LeftOut);
        }
        let mut stopped = self.operator.underivable.iter().filter_map(|stopped| stopped.span.as_ref());
        let is_reported = || {
            let around = around(&file.text, kind);
            self.diagnostics.iter().any(|problem| match &problem.span {
                Some((span, _)) if span.file.path == file.path => {
                    // These errors mean that nothing in the file was read.
                    matches!(problem.code, OP001 | OP006)
                        || around.iter().any(|around| around.contains(&span.range.start))
                }
                _ => false,
            })
        };
        (stopped.any(is_name) || is_reported()).then_some(Fate::Reported)
    }

    /// The files in `src` that no module declares; `files` are those that were read. An unreadable file is a warning.
    pub(super) fn unread<'a>(
        &self,
        packages: impl Iterator<Item = &'a Package>,
        files: &[Arc<SourceFile>],
    ) -> (Vec<Arc<SourceFile>>, Vec<Diagnostic>) {
        let read: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let (mut unread, mut problems) = (Vec::new(), Vec::new());
        let mut warn = |error: ReadError| problems.push(Diagnostic { severity: Severity::Warning, ..error.into() });
        for package in packages {
            let paths = self.tree.files_below(&join(&package.folder, "src")).map_err(&mut warn).unwrap_or_default();
            for path in paths.into_iter().filter(|path| path.ends_with(".rs") && !read.contains(path.as_str())) {
                let text = self.tree.read(&path).map_err(&mut warn).ok().flatten();
                unread.extend(text.map(|text| SourceFile::new(path, text)));
            }
        }
        (unread, problems)
    }
}

/// The ranges in which a diagnostic about a kind may start: the attributes and the name of its type, and the
/// beginnings of the enclosing items.
fn around(text: &str, kind: &KindAttribute) -> Vec<Range<usize>> {
    // For each open bracket, the range from the start of its item to the bracket.
    let mut open: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (token, range) in Lexer::new(text).code().take_while(|(_, range)| range.start < kind.at.start) {
        let item = *start.get_or_insert(range.start);
        match token {
            Token::Sign(b'{' | b'(' | b'[') => {
                open.push(item..range.end);
                start = None;
            }
            // An item continues after its attributes and arguments.
            Token::Sign(b')' | b']') => start = open.pop().map(|open| open.start),
            Token::Sign(b'}') => {
                open.pop();
                start = None;
            }
            Token::Sign(b';') => start = None,
            _ => {}
        }
    }
    let end = kind.name.unwrap_or(kind.at.end);
    // The innermost brackets are those of the attribute itself, which may be within `cfg_attr`.
    if let Some(attribute) = open.iter_mut().rev().find(|open| text[open.start..].starts_with('#')) {
        attribute.end = attribute.end.max(end + 1);
    }
    open
}

fn passed_over(file: &Arc<SourceFile>, range: Range<usize>) -> Diagnostic {
    OP021
        .error("the custom resource here is in no module that opctl reads")
        .at(Span { file: file.clone(), range }, "")
        .help("move it to a module, or print the CRDs from the compiled types")
}

/// Reports a kind in a file that no module declares; a macro may declare the module.
fn unread_kind(file: &Arc<SourceFile>, range: Range<usize>, modules: &Modules) -> Diagnostic {
    let span = Span { file: file.clone(), range };
    let stem = file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
    let mut calls = modules.local().into_iter().flat_map(|id| {
        let module = modules.module(id);
        let naming = module.macros.iter().filter(|call| mentions(call.tokens.clone(), stem));
        naming.map(|call| call.span.clone()).collect::<Vec<_>>()
    });
    let message = format!("the custom resource in `{}` is not read", file.path);
    match calls.next() {
        Some(call) => OP021
            .error(message)
            .at(span, format!("the macro in {call} may declare this module"))
            .help("declare the module without a macro, or print the CRDs from the compiled types"),
        None => OP029
            .warning(message)
            .at(span, "no `mod` leads to this file")
            .help("declare the file with `mod`, or remove it"),
    }
}

/// Reports the project's procedural macros that generate custom resources.
pub fn made_kinds(tree: &Tree, modules: &Modules) -> Vec<Diagnostic> {
    let dependencies = modules.local_packages().iter().flat_map(|package| package.dependencies.values());
    let folders = dependencies.filter_map(|dependency| dependency.folder.as_ref());
    // A package whose modules were read is not a procedural macro crate.
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
            OP021
                .error(message)
                .at(Span { file, range }, "")
                .help("write the types out, or print the CRDs from the compiled types")
        }));
    }
    Ok(made)
}
