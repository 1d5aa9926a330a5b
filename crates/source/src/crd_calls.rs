//! Finds calls of `crd()` in the code of a project: the kinds whose CRDs its authors print, install or test.
//!
//! Only tokens are read, of all code that cargo could compile, including tests, examples and build scripts. A call
//! through a generic function or a macro counts for the types that these are called with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::resolve::modules::{Modules, UsePath};
use crate::resolve::names::{Namespace, Target, resolve};
use crate::resolve::runtime::{Tokens, sign, word};
use opctl_model::diagnostic::{SourceFile, Span};
use opctl_model::lexer::{Token, behind_group, code};

/// A source file of the project.
pub struct Code {
    pub file: Arc<SourceFile>,
    /// The code is not shipped: a test or an example.
    pub is_test: bool,
}

/// Root type of a kind, as kube's derive generates it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootType {
    pub name: String,
    /// Path of the file that declares it.
    pub file: String,
}

/// A call of `crd()` for one kind.
pub struct Call {
    /// `None` for a kind of another crate.
    pub root: Option<RootType>,
    pub span: Span,
    pub is_test: bool,
}

#[derive(Default)]
pub struct Calls {
    pub calls: Vec<Call>,
    /// Some calls are for types that could not be determined.
    pub has_unknown: bool,
}

impl Calls {
    /// Finds the calls in these files. `roots` are the kinds of the project; if `makes_kinds` is set, macros generate
    /// others.
    pub fn find(files: &[Code], roots: &BTreeSet<RootType>, modules: &Modules, makes_kinds: bool) -> Self {
        let files: Vec<_> = files.iter().map(|code| Scanned::new(code, modules)).collect();
        let mut search = Search { roots, modules, makes_kinds, other_names: BTreeMap::new(), found: Self::default() };
        files.iter().for_each(|file| search.add_other_names(file));
        let mut generic: BTreeSet<Generic> = files.iter().flat_map(|file| search.calls(file)).collect();
        let direct = search.found.calls.len();
        loop {
            search.found.calls.truncate(direct);
            let more_calls = files.iter().flat_map(|file| search.calls_of(file, &generic)).collect::<Vec<_>>();
            let before = generic.len();
            generic.extend(more_calls);
            if generic.len() == before {
                break;
            }
        }
        search.found.has_unknown |= !generic.is_empty() && search.found.calls.len() == direct;
        search.found
    }
}

/// A function or macro that calls `crd()` for its type arguments.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Generic {
    name: String,
    /// A method of a trait that calls `Self::crd()`.
    is_of_self: bool,
}

/// The subject of a call: the part before `::crd`.
enum Subject<'a> {
    /// Path of a type.
    Path(Vec<&'a str>),
    /// `Self`, `$kind`, or the trait: the type is determined elsewhere.
    Unknown { is_self: bool },
}

struct Scanned<'a> {
    code: &'a Code,
    tokens: Vec<(Token, Range<usize>)>,
    modules: &'a Modules,
}

impl<'a> Scanned<'a> {
    fn new(code_of: &'a Code, modules: &'a Modules) -> Self {
        Self { code: code_of, tokens: code(&code_of.file.text), modules }
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        word(&self.code.file.text, &self.tokens as &Tokens, at)
    }

    fn is_sign(&self, at: usize, expected: u8) -> bool {
        sign(&self.tokens, at) == Some(expected)
    }

    fn is_path_before(&self, at: usize) -> bool {
        at >= 3 && self.is_sign(at - 1, b':') && self.is_sign(at - 2, b':')
    }

    /// The positions of `crd` in calls, or where it is passed as a function, with the subject of each. Calls such as
    /// `X::crd().name_any()` are left out, because they only use the CRD's names.
    fn calls_of_crd(&self) -> impl Iterator<Item = (usize, Subject<'a>)> {
        let named = (0..self.tokens.len()).filter(|at| self.word(*at) == Some("crd") && self.is_path_before(*at));
        let is_module = |at: usize| self.is_sign(at + 1, b':') && self.is_sign(at + 2, b':');
        let uses_names = |at: usize| {
            self.is_sign(at + 1, b'(')
                && self.is_sign(at + 3, b'.')
                && matches!(self.word(at + 4), Some("metadata" | "name" | "name_any" | "name_unchecked" | "spec"))
        };
        named.filter(move |at| !is_module(*at) && !uses_names(*at)).map(|at| (at, self.subject(at - 3)))
    }

    /// The subject that ends at the token `last`.
    fn subject(&self, last: usize) -> Subject<'a> {
        if self.is_sign(last, b'>') {
            let start = self.opening(last);
            let end = (start..last).find(|at| self.word(*at) == Some("as")).unwrap_or(last);
            return self.subject(end - 1);
        }
        match self.word(last) {
            Some("Self") => match self.implementing(last) {
                Some(name) if !self.is_parameter(name) => Subject::Path(vec![name]),
                _ => Subject::Unknown { is_self: true },
            },
            None | Some("CustomResourceExt") => Subject::Unknown { is_self: false },
            Some(_) if last > 0 && self.is_sign(last - 1, b'$') => Subject::Unknown { is_self: false },
            Some(_) => {
                let (mut path, mut at) = (Vec::new(), last);
                while let Some(segment) = self.word(at) {
                    path.insert(0, segment);
                    if !self.is_path_before(at) {
                        break;
                    }
                    at -= 3;
                }
                Subject::Path(path)
            }
        }
    }

    /// The type of the `impl` around a position; `None` in a trait.
    fn implementing(&self, at: usize) -> Option<&'a str> {
        // Excludes the `impl` of `-> impl Iterator`.
        let begins_item = |at: usize| {
            at == 0
                || matches!(sign(&self.tokens, at - 1), Some(b'{' | b'}' | b';' | b']'))
                || self.word(at - 1).is_some()
        };
        let is_around = |at: &usize| matches!(self.word(*at), Some("impl" | "trait")) && begins_item(*at);
        let start = (0..at).rev().find(is_around)?;
        let body = (start..at).find(|at| self.is_sign(*at, b'{') || self.word(*at) == Some("where"))?;
        let start = match (start..body).find(|at| self.word(*at) == Some("for")) {
            Some(behind) => behind + 1,
            None if self.word(start) == Some("trait") => return None,
            None if self.is_sign(start + 1, b'<') => self.closing(start + 1) + 1,
            None => start + 1,
        };
        let end = (start..body).find(|at| self.is_sign(*at, b'<')).unwrap_or(body);
        self.word(end - 1)
    }

    /// The `<` that matches a `>`.
    fn opening(&self, close: usize) -> usize {
        let mut depth = 0;
        for at in (0..=close).rev() {
            match sign(&self.tokens, at) {
                Some(b'>') if at == 0 || !self.is_sign(at - 1, b'-') => depth += 1,
                Some(b'<') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        close
    }

    /// The `>` that matches a `<`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.tokens.len() {
            match sign(&self.tokens, at) {
                Some(b'<') => depth += 1,
                Some(b'>') if !self.is_sign(at - 1, b'-') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        open
    }

    /// `true` for a generic parameter: `<T: …>`, `<T>`, `where T: …`.
    fn is_parameter(&self, name: &str) -> bool {
        (1..self.tokens.len()).any(|at| {
            let before = self.is_sign(at - 1, b'<') || self.is_sign(at - 1, b',') || self.word(at - 1) == Some("where");
            let is_bound = self.is_sign(at + 1, b':') && !self.is_sign(at + 2, b':');
            self.word(at) == Some(name) && before && is_bound
        }) || self.code.file.text.contains(&format!("<{name}>("))
    }

    /// The name of the function or macro around a position.
    fn definition(&self, at: usize) -> Option<&'a str> {
        (0..at).rev().find_map(|at| match self.word(at) {
            Some("fn") => self.word(at + 1),
            Some("macro_rules") => self.word(at + 2),
            _ => None,
        })
    }

    fn call(&self, at: usize, root: Option<RootType>) -> Call {
        let range = self.tokens[at].1.clone();
        let is_test = self.code.is_test || self.modules.removes(&self.code.file, range.start);
        Call { root, span: Span { file: self.code.file.clone(), range }, is_test }
    }
}

struct Search<'a> {
    roots: &'a BTreeSet<RootType>,
    modules: &'a Modules,
    makes_kinds: bool,
    /// Types by their aliases: `… as Name` and `type Name = …`.
    other_names: BTreeMap<&'a str, BTreeSet<&'a str>>,
    found: Calls,
}

impl<'a> Search<'a> {
    fn add_other_names(&mut self, file: &Scanned<'a>) {
        for at in 1..file.tokens.len() {
            let renamed = match file.word(at) {
                Some("as") => file.word(at - 1).zip(file.word(at + 1)),
                Some("type") if file.is_sign(at + 2, b'=') => {
                    let end = (at..file.tokens.len()).find(|at| file.is_sign(*at, b';')).unwrap_or(at);
                    file.word(end - 1).zip(file.word(at + 1))
                }
                _ => None,
            };
            if let Some((name, other)) = renamed.filter(|(name, other)| name != other) {
                self.other_names.entry(other).or_default().insert(name);
            }
        }
    }

    /// Records the direct calls in a file, and returns the definitions that call `crd()` for their type arguments.
    fn calls(&mut self, file: &Scanned<'a>) -> Vec<Generic> {
        let mut generic = Vec::new();
        for (at, subject) in file.calls_of_crd() {
            let (is_unknown, is_of_self) = match subject {
                Subject::Unknown { is_self } => (true, is_self),
                Subject::Path(path) => {
                    let roots = self.roots_of(&path, file);
                    let is_parameter = roots.is_empty() && path.len() == 1 && file.is_parameter(path[0]);
                    // Modules also have functions of that name, so the path must end in a type.
                    let is_type = path.last().is_some_and(|name| name.starts_with(char::is_uppercase));
                    if roots.is_empty() && !is_parameter && is_type && self.may_be_made(&path, file) {
                        self.found.has_unknown = true;
                    } else if !is_parameter && (is_type || !roots.is_empty()) {
                        self.add(file, at, roots);
                    }
                    (is_parameter, false)
                }
            };
            if let Some(name) = file.definition(at).filter(|_| is_unknown) {
                generic.push(Generic { name: name.to_owned(), is_of_self });
            }
        }
        generic
    }

    fn add(&mut self, file: &Scanned<'a>, at: usize, roots: Vec<RootType>) {
        if roots.is_empty() {
            self.found.calls.push(file.call(at, None));
        }
        self.found.calls.extend(roots.into_iter().map(|root| file.call(at, Some(root))));
    }

    /// Records the calls of generic functions and macros, and returns the definitions that pass their own type
    /// arguments on.
    fn calls_of(&mut self, file: &Scanned<'a>, generic: &BTreeSet<Generic>) -> Vec<Generic> {
        let mut more_calls = Vec::new();
        for Generic { name, is_of_self } in generic.iter().filter(|it| file.code.file.text.contains(it.name.as_str())) {
            for at in (0..file.tokens.len()).filter(|at| file.word(*at) == Some(name.as_str())) {
                if at > 0 && file.word(at - 1) == Some("fn") {
                    continue;
                }
                let arguments = match (file.is_sign(at + 1, b':'), file.is_sign(at + 1, b'!')) {
                    (true, _) if file.is_sign(at + 3, b'<') => at + 3..file.closing(at + 3),
                    (_, true) => at + 2..behind_group(&file.tokens, at + 2),
                    _ if file.is_sign(at + 1, b'(') => at + 1..behind_group(&file.tokens, at + 1),
                    _ => at..at,
                };
                // `X::print()` of a trait, or `Printer::<X>::print()`.
                let subject = match file.is_path_before(at) {
                    true if file.is_sign(at - 3, b'>') => file.opening(at - 3)..at - 3,
                    true if *is_of_self => at - 3..at - 2,
                    _ => at..at,
                };
                for at in arguments.chain(subject) {
                    let Some(word) = file.word(at) else { continue };
                    let roots = self.roots_of(&[word], file);
                    if !roots.is_empty() {
                        self.add(file, at, roots);
                    } else if file.is_parameter(word)
                        && let Some(name) = file.definition(at)
                    {
                        more_calls.push(Generic { name: name.to_owned(), is_of_self: false });
                    }
                }
            }
        }
        more_calls
    }

    /// The kinds that a path may refer to.
    fn roots_of(&self, path: &[&str], file: &Scanned<'a>) -> Vec<RootType> {
        let Some(last) = path.last() else { return Vec::new() };
        let others = self.other_names.get(last);
        let is_named =
            |root: &&RootType| root.name == *last || others.is_some_and(|others| others.contains(root.name.as_str()));
        let named: Vec<RootType> = self.roots.iter().filter(is_named).cloned().collect();
        if named.len() < 2 {
            return named;
        }
        let resolved = match self.resolved(path, &file.code.file) {
            Some(Target::Item(module, name)) => {
                Some(RootType { name, file: self.modules.module(module).file.path.clone() })
            }
            _ => None,
        };
        match resolved.filter(|root| named.contains(root)) {
            Some(root) => vec![root],
            None => named,
        }
    }

    /// `true` if a macro of the project may generate the type of this path, which no attribute declares. Such a type
    /// may be a kind of any group.
    fn may_be_made(&self, path: &[&str], file: &Scanned<'a>) -> bool {
        match self.resolved(path, &file.code.file) {
            Some(Target::Item(..) | Target::Foreign(_)) => false,
            Some(Target::Hidden(_)) => true,
            Some(Target::Module(_)) | None => self.makes_kinds,
        }
    }

    /// The item that a path refers to in a module of the project. Names are only resolved if the path alone is
    /// ambiguous.
    fn resolved(&self, path: &[&str], file: &Arc<SourceFile>) -> Option<Target> {
        self.modules.read_mentioning("crd");
        let path = UsePath { global: false, segments: path.iter().map(ToString::to_string).collect() };
        let modules = self.modules.local().into_iter();
        let mut around = modules.filter(|id| Arc::ptr_eq(&self.modules.module(*id).file, file));
        around.find_map(|id| resolve(self.modules, id, &path, Namespace::Type))
    }
}
