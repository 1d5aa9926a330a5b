//! The permissions that `opctl-runtime` needs for the items that a project uses.
//!
//! The runtime's RBAC markers are above its public items. A marker counts if the project's own code names the item in
//! a path of the runtime: in a `use`, in an expression, in the tokens of a macro. The search uses tokens, because
//! manifests are generated without parsing function bodies. A false match grants one permission too many, a missed
//! one lets the operator fail in the cluster, so the search prefers false matches: paths through re-exports, renames
//! and globs count as well.
//!
//! Even if the runtime's source is in the project's tree, it does not count as the project's code. Cargo.toml or
//! Cargo.lock locates it; until cargo has fetched it, the built-in copy is used if it has the same version
//! (`Tree::with_runtime`). A missing source is an error (OP113), because the operator would lack permissions.
//! `tests/thorough/runtime.rs` compares the markers with the requests in the runtime's source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use syn::Attribute;
use syn::parse::Parser;

use super::cfg::Cfg;
use super::foreign::Missing;
use super::modules::Modules;
use super::package::Package;
use super::skim;
use crate::markers;
use crate::markers::diagnostics::{OP113, OP114};
use opctl_model::RbacRule;
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::lexer::{Token, behind_group, code, excess};
use opctl_model::project::{Tree, join};

pub const PACKAGE: &str = "opctl-runtime";

/// The placeholder in markers for the name of the operator's package.
const OPERATOR: &str = "{operator}";

/// The module whose only requests are for the certificate of its server.
const WEBHOOKS: &str = "src/webhook";

/// Source of the runtime that a package is built with.
pub struct Runtime {
    pub tree: Rc<Tree>,
    pub package: Rc<Package>,
    pub cfg: Cfg,
    /// The label of its folder in messages.
    pub label: String,
}

/// The permissions of the runtime's items that the project uses.
#[derive(Default)]
pub struct Permissions {
    pub rbac: Vec<RbacRule>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The permissions that the operators among the packages need: each for its own code and that of the project's
/// libraries.
pub fn needs(modules: &Modules, packages: &[Package]) -> Permissions {
    let mut needs = Permissions::default();
    let uses = Uses::of(modules);
    let has_binaries = packages.iter().any(|package| !package.binaries.is_empty());
    let operators: Vec<&Package> =
        packages.iter().filter(|package| !has_binaries || !package.binaries.is_empty()).collect();
    for package in &operators {
        let names = uses.of_operator(package, &operators);
        if names.is_empty() {
            continue;
        }
        let libraries = || modules.local_packages().iter().find_map(|library| modules.runtime_of(library));
        match modules.runtime_of(package).or_else(libraries) {
            Some(Ok(runtime)) => needs.add(&runtime, &package.name, &names),
            Some(Err(missing)) => needs.report(unknown(&missing)),
            None => {}
        }
    }
    needs
}

fn unknown(missing: &Missing) -> Diagnostic {
    let (why, help) = missing.explained();
    let error = OP113.error(format!("the permissions that `{PACKAGE}` needs are unknown: {why}"));
    match missing {
        Missing::Folder { .. } => error.help(help).help(RESTORE),
        Missing::Library { .. } => error.help(RESTORE),
        Missing::Lock { .. } | Missing::Entry { .. } | Missing::Source { .. } => error.help(help),
    }
}

const RESTORE: &str = "`opctl init --runtime vendored` restores a vendored copy";

impl Permissions {
    fn add(&mut self, runtime: &Runtime, operator: &str, names: &BTreeSet<String>) {
        let mut problems = Vec::new();
        for file in runtime.files(&mut problems) {
            if !file.text.contains("+kubebuilder:rbac") {
                continue;
            }
            let is_for_certificates = file.path.starts_with(&format!("{}/", join(&runtime.label, WEBHOOKS)));
            let file = for_operator(&file, operator);
            let tokens = code(&file.text);
            let found = markers::read_but(&file, |at| runtime.cfg.removes(&file.text, at), |_| true);
            let mut place = Cursor::default();
            for rule in found.operator.rbac {
                place.advance(&tokens, rule.span.range.start);
                match place.item_below(&file.text, &tokens) {
                    Some(item)
                        if !names.contains(item.name) || item.attributes.iter().any(|it| it.remove(&runtime.cfg)) => {}
                    Some(_) => self.rbac.push(RbacRule { is_of_runtime: true, is_for_certificates, ..rule }),
                    None => problems.push(unattached(rule.span)),
                }
            }
            // A warning is about a marker in the runtime's own tests.
            problems.extend(found.diagnostics.into_iter().filter(Diagnostic::is_error));
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }

    /// Several operators may have the same runtime, so duplicates are skipped.
    fn report(&mut self, problem: Diagnostic) {
        if !self.diagnostics.contains(&problem) {
            self.diagnostics.push(problem);
        }
    }
}

fn unattached(span: Span) -> Diagnostic {
    let path = span.file.path.clone();
    OP114
        .error(format!("a marker of `{PACKAGE}` belongs to no public item"))
        .at(span, "no code can name what it is for")
        .help("move it above a public item, or above an `impl` of a public type")
        .help(format!("or undo the edit: `opctl init --runtime vendored --overwrite {path}`"))
}

/// The file, with the name of the operator in its markers.
pub fn for_operator(file: &Arc<SourceFile>, operator: &str) -> Arc<SourceFile> {
    match file.text.contains(OPERATOR) {
        true => SourceFile::new(file.path.clone(), file.text.replace(OPERATOR, operator)),
        false => file.clone(),
    }
}

impl Runtime {
    /// The files of the library that are compiled.
    fn files(&self, problems: &mut Vec<Diagnostic>) -> Vec<Arc<SourceFile>> {
        let mut files = Vec::new();
        let Some((_, root)) = &self.package.library else { return files };
        // Candidates for a file, and the folder of its modules.
        let mut open = vec![(vec![root.clone()], parent(root).to_owned())];
        while let Some((candidates, folder)) = open.pop() {
            let mut read = |path: String| {
                let text = self.tree.read(&path).unwrap_or_else(|error| {
                    problems.push(error.into());
                    Some(String::new())
                });
                Some((path, text?))
            };
            let Some((path, text)) = candidates.into_iter().find_map(&mut read) else {
                let module = folder.rsplit('/').next().unwrap_or_default();
                let message = format!("`{PACKAGE}` lacks the file of its module `{module}`");
                problems.push(OP113.error(message).help(RESTORE));
                continue;
            };
            for module in self.modules(&text) {
                let inner = join(&folder, &module);
                open.push((vec![format!("{inner}.rs"), format!("{inner}/mod.rs")], inner));
            }
            let below = path.strip_prefix(&self.package.folder).unwrap_or(&path).trim_start_matches('/');
            files.push(SourceFile::new(join(&self.label, below), text));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// The names in `mod name;` of modules that are compiled.
    fn modules(&self, text: &str) -> Vec<String> {
        let text = skim::modules_part(text);
        let tokens = code(text);
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (attributes, start) = Attributes::read(text, &tokens, at);
            let (_, keyword) = visibility(text, &tokens, start);
            at = match word(text, &tokens, keyword + 1).filter(|_| word(text, &tokens, keyword) == Some("mod")) {
                Some(name) if sign(&tokens, keyword + 2) == Some(b';') => {
                    if !attributes.remove(&self.cfg) {
                        found.push(name.to_owned());
                    }
                    keyword + 3
                }
                _ if sign(&tokens, start) == Some(b'{') => behind_group(&tokens, start),
                _ => start.max(at + 1),
            };
        }
        found
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) type Tokens = [(Token, Range<usize>)];

pub(crate) fn word<'a>(text: &'a str, tokens: &Tokens, at: usize) -> Option<&'a str> {
    tokens.get(at).filter(|(token, _)| *token == Token::Word).map(|(_, range)| &text[range.clone()])
}

pub(crate) fn sign(tokens: &Tokens, at: usize) -> Option<u8> {
    match tokens.get(at)?.0 {
        Token::Sign(sign) => Some(sign),
        _ => None,
    }
}

/// The text of attributes, which is usually not worth parsing.
#[derive(Clone, Copy)]
struct Attributes<'a>(&'a str);

impl<'a> Attributes<'a> {
    /// The attributes that begin at a token, and the next token.
    fn read(text: &'a str, tokens: &Tokens, start: usize) -> (Self, usize) {
        let mut at = start;
        while sign(tokens, at) == Some(b'#') && sign(tokens, at + 1) == Some(b'[') {
            at = behind_group(tokens, at + 1);
        }
        let range = if at == start { 0..0 } else { tokens[start].1.start..tokens[at - 1].1.end };
        (Self(&text[range]), at)
    }

    /// Empty if they are nested too deeply for a parser, and so for the compiler.
    fn parsed(self) -> Vec<Attribute> {
        if excess(self.0).is_some() {
            return Vec::new();
        }
        Attribute::parse_outer.parse_str(self.0).unwrap_or_default()
    }

    /// `true` if they remove their item.
    fn remove(self, cfg: &Cfg) -> bool {
        self.0.contains("cfg") && cfg.keeps(&self.parsed()) == Some(false)
    }

    /// `true` if one of them is `#[name]` or `#[path::name]`.
    fn have(self, name: &str) -> bool {
        let is_it = |it: &Attribute| it.path().segments.last().is_some_and(|last| last.ident == name);
        self.0.contains(name) && self.parsed().iter().any(is_it)
    }
}

/// `true` if there is an unrestricted `pub` at a token, and the next token.
fn visibility(text: &str, tokens: &Tokens, at: usize) -> (bool, usize) {
    match word(text, tokens, at) {
        Some("pub") if sign(tokens, at + 1) == Some(b'(') => (false, behind_group(tokens, at + 1)),
        Some("pub") => (true, at + 1),
        _ => (false, at),
    }
}

/// The item of a marker.
struct Item<'a> {
    name: &'a str,
    /// Its own attributes, and those of the type if it is a method.
    attributes: [Attributes<'a>; 2],
}

/// A position in a text, which only moves forward.
#[derive(Default)]
struct Cursor {
    /// The next token.
    next: usize,
    /// The enclosing blocks, each by the first token of its item.
    around: Vec<usize>,
    /// The first token of the current item.
    start: usize,
    /// Number of open parentheses and brackets.
    depth: i32,
}

impl Cursor {
    fn advance(&mut self, tokens: &Tokens, offset: usize) {
        while let Some((token, _)) = tokens.get(self.next).filter(|(_, range)| range.start < offset) {
            match token {
                Token::Sign(b'(' | b'[') => self.depth += 1,
                Token::Sign(b')' | b']') => self.depth -= 1,
                Token::Sign(b'{') => self.around.push(self.start),
                Token::Sign(b'}') => drop(self.around.pop()),
                _ => {}
            }
            self.next += 1;
            if matches!(token, Token::Sign(b'{' | b'}')) || *token == Token::Sign(b';') && self.depth == 0 {
                self.start = self.next;
            }
        }
    }

    /// The public item that begins here; for a method, its type.
    fn item_below<'a>(&self, text: &'a str, tokens: &Tokens) -> Option<Item<'a>> {
        // Attributes may also be above the marker.
        let (own, behind) = Attributes::read(text, tokens, self.start);
        let begins = self.next <= behind;
        let blocks: Vec<Header> = self.around.iter().map(|start| Header::read(text, tokens, *start)).collect();
        let outer = blocks.iter().rev().find(|block| block.keyword != "mod");
        let header = match outer {
            // A method counts as its type.
            Some(block) if matches!(block.keyword, "impl" | "trait") && blocks.last()?.keyword == block.keyword => {
                *block
            }
            Some(_) => return None,
            None => Header::read(text, tokens, self.start),
        };
        (begins && header.is_public).then_some(Item { name: header.name?, attributes: [header.attributes, own] })
    }
}

/// The start of an item.
#[derive(Clone, Copy)]
struct Header<'a> {
    attributes: Attributes<'a>,
    keyword: &'a str,
    /// The type, if it is an `impl`.
    name: Option<&'a str>,
    /// By the item alone, without the modules around it.
    is_public: bool,
}

impl<'a> Header<'a> {
    fn read(text: &'a str, tokens: &Tokens, start: usize) -> Self {
        let (attributes, at) = Attributes::read(text, tokens, start);
        let (is_public, mut at) = visibility(text, tokens, at);
        let is_fn = |at: usize| matches!(word(text, tokens, at), Some("fn" | "async" | "unsafe" | "extern"));
        while matches!(word(text, tokens, at), Some("async" | "unsafe" | "extern" | "default"))
            || word(text, tokens, at) == Some("const") && is_fn(at + 1)
            || tokens.get(at).is_some_and(|(token, _)| *token == Token::Literal)
        {
            at += 1;
        }
        let keyword = word(text, tokens, at).unwrap_or_default();
        let name = |at: usize| word(text, tokens, at);
        let (name, is_public) = match keyword {
            "struct" | "enum" | "union" | "trait" | "fn" | "type" | "static" | "const" | "mod" => {
                (name(at + 1), is_public)
            }
            "macro_rules" => (name(at + 2), attributes.have("macro_export")),
            // Its type may be private; then no other crate can name it.
            "impl" => (implemented(text, tokens, at + 1), true),
            _ => (None, false),
        };
        Self { attributes, keyword, name, is_public }
    }
}

/// The last name in the path of the type of an `impl`.
fn implemented<'a>(text: &'a str, tokens: &Tokens, start: usize) -> Option<&'a str> {
    let (mut depth, mut name) = (0_i32, None);
    for at in start..tokens.len() {
        match (word(text, tokens, at), sign(tokens, at)) {
            (_, Some(b'<')) => depth += 1,
            // The `>` of `->` closes nothing.
            (_, Some(b'>')) if sign(tokens, at - 1) != Some(b'-') => depth -= 1,
            (Some("where"), _) | (_, Some(b'{')) if depth == 0 => break,
            (Some("for"), _) if depth == 0 => name = None,
            (Some(word), _) if depth == 0 => name = Some(word),
            _ => {}
        }
    }
    name
}

/// The names in the code's paths of the runtime, by the folder of the package.
struct Uses(BTreeMap<String, BTreeSet<String>>);

impl Uses {
    fn of(modules: &Modules) -> Self {
        let locals = modules.local_packages();
        let dependencies = locals.iter().flat_map(|package| &package.dependencies);
        let names = dependencies.filter(|(_, it)| it.package == PACKAGE).map(|(name, _)| name.clone());
        let roots = Vec::from_iter(names.collect::<BTreeSet<String>>());
        let mut search = Search { roots, has_glob: false, names: BTreeMap::new() };
        if search.roots.is_empty() {
            return Self(BTreeMap::new());
        }
        // The files with the roots that were known when each was read. A `use` may rename a module, which other files
        // use.
        let mut files: Vec<_> = modules.files().into_iter().map(|file| (file, (0, false))).collect();
        loop {
            let before = search.known();
            for (file, known) in &mut files {
                let mut new = search.roots[known.0..].iter();
                let counts = search.has_glob && !known.1 || new.any(|root| file.text.contains(root.as_str()));
                *known = search.known();
                if counts {
                    search.read(file, modules);
                }
            }
            if before == search.known() {
                return Self(search.names);
            }
        }
    }

    /// The names that an operator uses, including the libraries of the project.
    fn of_operator(&self, operator: &Package, operators: &[&Package]) -> BTreeSet<String> {
        let is_other =
            |folder: &String| *folder != operator.folder && operators.iter().any(|other| other.folder == *folder);
        self.0.iter().filter(|(folder, _)| !is_other(folder)).flat_map(|(_, names)| names.clone()).collect()
    }
}

struct Search {
    /// First segments of paths of the runtime: the crate's name, and the names under which its modules are imported.
    roots: Vec<String>,
    /// A glob imports names, so any identifier may be one of the runtime's.
    has_glob: bool,
    names: BTreeMap<String, BTreeSet<String>>,
}

impl Search {
    fn known(&self) -> (usize, bool) {
        (self.roots.len(), self.has_glob)
    }

    fn add_root(&mut self, name: &str) {
        if !self.roots.iter().any(|root| root == name) {
            self.roots.push(name.to_owned());
        }
    }

    fn read(&mut self, file: &SourceFile, modules: &Modules) {
        let Some((package, cfg)) = modules.package_of(file) else { return };
        let names = self.names.remove(&package.folder).unwrap_or_default();
        let tokens = code(&file.text);
        let mut scan = Scan { text: &file.text, tokens: &tokens, search: self, names, is_use: false };
        scan.run(&cfg);
        let names = scan.names;
        self.names.insert(package.folder.clone(), names);
    }
}

struct Scan<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    search: &'a mut Search,
    names: BTreeSet<String>,
    /// Between `use` and its `;`.
    is_use: bool,
}

impl<'a> Scan<'a> {
    fn run(&mut self, cfg: &Cfg) {
        let mut at = 0;
        while at < self.tokens.len() {
            match self.tokens[at].0 {
                Token::Sign(b'#') => {
                    let (attributes, behind) = Attributes::read(self.text, self.tokens, at);
                    if attributes.have("test") || attributes.remove(cfg) {
                        at = self.behind_item(behind);
                        continue;
                    }
                }
                Token::Sign(b';') => self.is_use = false,
                Token::Word => {
                    let word = self.word(at).unwrap_or_default();
                    self.is_use |= word == "use";
                    if self.search.has_glob {
                        self.names.insert(word.to_owned());
                    }
                    if self.search.roots.iter().any(|root| root == word) {
                        if self.word(at + 1) == Some("as") {
                            self.word(at + 2).into_iter().for_each(|name| self.search.add_root(name));
                        } else if self.is_path(at + 1) {
                            at = self.tree(at + 3, word);
                            continue;
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        word(self.text, self.tokens, at)
    }

    fn is_path(&self, at: usize) -> bool {
        sign(self.tokens, at) == Some(b':') && sign(self.tokens, at + 1) == Some(b':')
    }

    /// The token after the item, statement, field or arm that begins at a token.
    fn behind_item(&self, start: usize) -> usize {
        let mut at = start;
        while let Some((token, _)) = self.tokens.get(at) {
            match token {
                Token::Sign(b'{') => return behind_group(self.tokens, at),
                Token::Sign(b'(' | b'[') => at = behind_group(self.tokens, at),
                Token::Sign(b';' | b',') => return at + 1,
                Token::Sign(b'}' | b')' | b']') => return at,
                _ => at += 1,
            }
        }
        at
    }

    /// Reads the rest of a path or the tree of a `use`, after a `::`; returns the next token.
    fn tree(&mut self, start: usize, parent: &'a str) -> usize {
        let (mut at, mut last) = (start, parent);
        loop {
            match self.word(at) {
                Some(word) => {
                    if word != "self" {
                        last = word;
                        self.names.insert(word.to_owned());
                    }
                    if self.is_path(at + 1) {
                        at += 3;
                        continue;
                    }
                    let renamed = self.word(at + 2).filter(|_| self.word(at + 1) == Some("as"));
                    // A lower-case name may be a module.
                    if self.is_use && last.starts_with(|c: char| !c.is_uppercase()) {
                        self.search.add_root(renamed.unwrap_or(last));
                    }
                    return if renamed.is_some() { at + 3 } else { at + 1 };
                }
                None if sign(self.tokens, at) == Some(b'{') => {
                    let end = behind_group(self.tokens, at);
                    at += 1;
                    while at + 1 < end {
                        at = self.tree(at, last);
                        // Skips to the next comma.
                        while at + 1 < end && sign(self.tokens, at) != Some(b',') {
                            at += 1;
                        }
                        at += 1;
                    }
                    return end;
                }
                None => {
                    self.search.has_glob |= sign(self.tokens, at) == Some(b'*');
                    return at + 1;
                }
            }
        }
    }
}
