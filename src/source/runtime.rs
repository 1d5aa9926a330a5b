//! The permissions that `opctl-runtime` needs for what a project uses of it.
//!
//! The runtime's RBAC markers stand above its public items. A marker counts for a project whose own code names the item in
//! a path of the runtime: in a `use`, in an expression, in the tokens of a macro. Both are found on tokens, since bodies are
//! not parsed for manifests: a name that is found too often grants too much, one that is missed would grant too little, so
//! paths through re-exports, renames and globs count as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use syn::Attribute;
use syn::parse::Parser;

use super::cfg::Cfg;
use super::foreign::Missing;
use super::lexer::{Lexer, Token};
use super::markers;
use super::modules::Modules;
use super::package::Package;
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::model::RbacRule;
use crate::project::{Tree, join};

pub const PACKAGE: &str = "opctl-runtime";

/// What stands in a marker for the name of the operator's package.
const OPERATOR: &str = "{operator}";

/// The source of the runtime that a package is built with.
pub struct Runtime {
    pub tree: Rc<Tree>,
    pub package: Rc<Package>,
    pub cfg: Cfg,
    /// Stands for its folder in messages.
    pub label: String,
}

/// What the project needs for what it uses of the runtime.
#[derive(Default)]
pub struct Needs {
    pub rbac: Vec<RbacRule>,
    pub diagnostics: Vec<Diagnostic>,
}

/// What the packages need, each for its own code and for that of the project's libraries.
pub fn needs(modules: &Modules, packages: &[Package]) -> Needs {
    let mut needs = Needs::default();
    let uses = Uses::of(modules);
    for package in packages {
        let names = uses.of_package(package, packages);
        let runtime = modules.runtime_of(package).or_else(|| modules.local_packages().iter().find_map(|it| modules.runtime_of(it)));
        let Some(runtime) = runtime.filter(|_| !names.is_empty()) else { continue };
        match runtime {
            Ok(runtime) => needs.add(&runtime, &package.name, &names),
            Err(missing) => needs.diagnostics.push(unknown(&missing)),
        }
    }
    needs
}

fn unknown(missing: &Missing) -> Diagnostic {
    let (why, help) = missing.explained();
    let message = format!("the permissions that `{PACKAGE}` needs are unknown: {why}");
    let help = if let Missing::Library { .. } = missing { format!("restore the sources of `{PACKAGE}`") } else { help };
    Diagnostic::error("OP113", message).help(help)
}

impl Needs {
    fn add(&mut self, runtime: &Runtime, operator: &str, names: &BTreeSet<String>) {
        for file in runtime.files(&mut self.diagnostics) {
            if !file.text.contains("+kubebuilder:rbac") {
                continue;
            }
            let file = for_operator(&file, operator);
            let tokens = code(&file.text);
            let found = markers::read_but(&file, |at| runtime.cfg.removes(&file.text, at));
            for rule in found.rbac {
                match item_below(&file.text, &tokens, rule.place.range.start) {
                    Some(item) if !names.contains(&item.name) || runtime.cfg.keeps(&item.attributes) == Some(false) => {}
                    Some(_) => self.rbac.push(RbacRule { is_of_runtime: true, ..rule }),
                    None => self.diagnostics.push(unattached(rule.place)),
                }
            }
            // A marker in the runtime's own tests is no concern of the project.
            self.diagnostics.extend(found.diagnostics.into_iter().filter(Diagnostic::is_error));
        }
    }
}

fn unattached(place: Span) -> Diagnostic {
    Diagnostic::error("OP114", format!("a marker of `{PACKAGE}` belongs to no public item"))
        .at(place, "no code can name what it is for")
        .help("put it above a public item, or above an `impl` of a public type")
        .help("or restore the runtime's sources")
}

/// The file with the name of the operator in its markers.
pub fn for_operator(file: &Arc<SourceFile>, operator: &str) -> Arc<SourceFile> {
    match file.text.contains(OPERATOR) {
        true => SourceFile::new(file.path.clone(), file.text.replace(OPERATOR, operator)),
        false => file.clone(),
    }
}

impl Runtime {
    /// The files of the library, as far as they are compiled.
    fn files(&self, problems: &mut Vec<Diagnostic>) -> Vec<Arc<SourceFile>> {
        let mut files = Vec::new();
        let root = self.package.library.as_ref().map(|(_, root)| root.clone());
        // The file, and the folder of its modules.
        let mut open: Vec<(String, String)> =
            root.into_iter().map(|root| (root.clone(), parent(&root).to_owned())).collect();
        while let Some((path, folder)) = open.pop() {
            let text = self.tree.read(&path).unwrap_or_else(|error| {
                problems.push(Diagnostic::error("OP002", error.to_string()));
                None
            });
            let Some(text) = text else { continue };
            for module in self.modules(&text) {
                let inner = join(&folder, &module);
                let candidates = [format!("{inner}.rs"), format!("{inner}/mod.rs")];
                match candidates.into_iter().find(|path| self.tree.has(path)) {
                    Some(path) => open.push((path, inner)),
                    None => {
                        let message = format!("`{PACKAGE}` lacks the file of its module `{module}`");
                        let help = format!("restore `{}`", join(&self.label, "src"));
                        problems.push(Diagnostic::error("OP113", message).help(help));
                    }
                }
            }
            let below = path.strip_prefix(&self.package.folder).unwrap_or(&path).trim_start_matches('/');
            files.push(SourceFile::new(join(&self.label, below), text));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// The names in `mod name;`, of those that are compiled.
    fn modules(&self, text: &str) -> Vec<String> {
        let tokens = code(text);
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (attributes, start) = attributes(text, &tokens, at);
            let (_, keyword) = visibility(text, &tokens, start);
            at = match word(text, &tokens, keyword + 1).filter(|_| word(text, &tokens, keyword) == Some("mod")) {
                Some(name) if sign(&tokens, keyword + 2) == Some(b';') => {
                    if self.cfg.keeps(&attributes) != Some(false) {
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

type Tokens = [(Token, Range<usize>)];

fn code(text: &str) -> Vec<(Token, Range<usize>)> {
    Lexer::new(text).filter(|(token, _)| !matches!(token, Token::LineComment | Token::BlockComment)).collect()
}

fn word<'a>(text: &'a str, tokens: &Tokens, at: usize) -> Option<&'a str> {
    tokens.get(at).filter(|(token, _)| *token == Token::Word).map(|(_, range)| &text[range.clone()])
}

fn sign(tokens: &Tokens, at: usize) -> Option<u8> {
    match tokens.get(at)?.0 {
        Token::Sign(sign) => Some(sign),
        _ => None,
    }
}

/// Behind the group that opens at `at`.
fn behind_group(tokens: &Tokens, at: usize) -> usize {
    let mut depth = 0;
    for (index, (token, _)) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The attributes that begin at a token, and the token behind them.
fn attributes(text: &str, tokens: &Tokens, start: usize) -> (Vec<Attribute>, usize) {
    let mut at = start;
    while sign(tokens, at) == Some(b'#') && sign(tokens, at + 1) == Some(b'[') {
        at = behind_group(tokens, at + 1);
    }
    if at == start {
        return (Vec::new(), at);
    }
    let text = &text[tokens[start].1.start..tokens[at - 1].1.end];
    (Attribute::parse_outer.parse_str(text).unwrap_or_default(), at)
}

/// Whether `pub` stands at a token, without a restriction, and the token behind it.
fn visibility(text: &str, tokens: &Tokens, at: usize) -> (bool, usize) {
    match word(text, tokens, at) {
        Some("pub") if sign(tokens, at + 1) == Some(b'(') => (false, behind_group(tokens, at + 1)),
        Some("pub") => (true, at + 1),
        _ => (false, at),
    }
}

/// What a marker is for.
struct Item {
    name: String,
    attributes: Vec<Attribute>,
}

/// The public item that begins behind a place in the text, or the type whose method does.
fn item_below(text: &str, tokens: &Tokens, place: usize) -> Option<Item> {
    let next = tokens.partition_point(|(_, range)| range.start < place);
    // The blocks around it, each by the token that its item begins with.
    let (mut around, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (index, (token, _)) in tokens[..next].iter().enumerate() {
        match token {
            Token::Sign(b'(' | b'[') => depth += 1,
            Token::Sign(b')' | b']') => depth -= 1,
            Token::Sign(b'{') => around.push(start),
            Token::Sign(b'}') => drop(around.pop()),
            _ => {}
        }
        if matches!(token, Token::Sign(b'{' | b'}')) || *token == Token::Sign(b';') && depth == 0 {
            start = index + 1;
        }
    }
    // Attributes may stand above the marker as well.
    let begins = next <= attributes(text, tokens, start).1;
    let blocks: Vec<Header> = around.into_iter().map(|start| Header::read(text, tokens, start)).collect();
    let outer = blocks.iter().rev().find(|block| block.keyword != "mod");
    let header = match outer {
        // A method counts for its type.
        Some(block) if matches!(block.keyword, "impl" | "trait") && blocks.last()?.keyword == block.keyword => block.clone(),
        Some(_) => return None,
        None => Header::read(text, tokens, start),
    };
    let attributes = [header.attributes, attributes(text, tokens, start).0].concat();
    (begins && header.is_public).then_some(Item { name: header.name?, attributes })
}

/// How an item begins.
#[derive(Clone)]
struct Header<'a> {
    attributes: Vec<Attribute>,
    keyword: &'a str,
    /// The type, where it is an `impl`.
    name: Option<String>,
    /// So far as the item itself says.
    is_public: bool,
}

impl<'a> Header<'a> {
    fn read(text: &'a str, tokens: &Tokens, start: usize) -> Self {
        let (attributes, at) = attributes(text, tokens, start);
        let (is_public, mut at) = visibility(text, tokens, at);
        let is_fn = |at: usize| matches!(word(text, tokens, at), Some("fn" | "async" | "unsafe" | "extern"));
        while matches!(word(text, tokens, at), Some("async" | "unsafe" | "extern" | "default"))
            || word(text, tokens, at) == Some("const") && is_fn(at + 1)
            || tokens.get(at).is_some_and(|(token, _)| *token == Token::Literal)
        {
            at += 1;
        }
        let keyword = word(text, tokens, at).unwrap_or_default();
        let name = |at: usize| word(text, tokens, at).map(String::from);
        let (name, is_public) = match keyword {
            "struct" | "enum" | "union" | "trait" | "fn" | "type" | "static" | "const" | "mod" => (name(at + 1), is_public),
            "macro_rules" => (name(at + 2), attributes.iter().any(|it| it.path().is_ident("macro_export"))),
            // Whether its type is public, the type says.
            "impl" => (implemented(text, tokens, at + 1), true),
            _ => (None, false),
        };
        Self { attributes, keyword, name, is_public }
    }
}

/// The last name in the path of the type that an `impl` is for.
fn implemented(text: &str, tokens: &Tokens, start: usize) -> Option<String> {
    let (mut depth, mut name) = (0_i32, None);
    for at in start..tokens.len() {
        match (word(text, tokens, at), sign(tokens, at)) {
            (_, Some(b'<')) => depth += 1,
            // `->` closes nothing.
            (_, Some(b'>')) if sign(tokens, at - 1) != Some(b'-') => depth -= 1,
            (Some("where"), _) | (_, Some(b'{')) if depth == 0 => break,
            (Some("for"), _) if depth == 0 => name = None,
            (Some(word), _) if depth == 0 => name = Some(word.to_owned()),
            _ => {}
        }
    }
    name
}

/// The names that code uses in paths of the runtime, by the folder of the package.
struct Uses(BTreeMap<String, BTreeSet<String>>);

impl Uses {
    fn of(modules: &Modules) -> Self {
        let locals = modules.local_packages();
        let dependencies = locals.iter().flat_map(|package| &package.dependencies);
        let roots: BTreeSet<String> =
            dependencies.filter(|(_, it)| it.package == PACKAGE).map(|(name, _)| name.clone()).collect();
        let mut search = Search { roots, has_glob: false, names: BTreeMap::new() };
        if search.roots.is_empty() {
            return Self(BTreeMap::new());
        }
        let files = modules.files();
        // A `use` may give a module another name, by which other files then go.
        loop {
            let known = (search.roots.len(), search.has_glob);
            for file in &files {
                if search.has_glob || search.roots.iter().any(|root| file.text.contains(root.as_str())) {
                    search.read(file, modules);
                }
            }
            if known == (search.roots.len(), search.has_glob) {
                return Self(search.names);
            }
        }
    }

    /// What a package uses, with what the libraries do that are in the project and no operators themselves.
    fn of_package(&self, package: &Package, packages: &[Package]) -> BTreeSet<String> {
        let is_other = |folder: &String| {
            *folder != package.folder && packages.iter().any(|other| other.folder == *folder)
        };
        self.0.iter().filter(|(folder, _)| !is_other(folder)).flat_map(|(_, names)| names.clone()).collect()
    }
}

struct Search {
    /// What paths of the runtime begin with: the crate's name, and what modules of it are imported as.
    roots: BTreeSet<String>,
    /// A glob brings names in, so that any word may be one of the runtime's.
    has_glob: bool,
    names: BTreeMap<String, BTreeSet<String>>,
}

impl Search {
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
                    let (attributes, behind) = attributes(self.text, self.tokens, at);
                    let is_test = attributes.iter().any(|attribute| {
                        attribute.path().segments.last().is_some_and(|last| last.ident == "test")
                    });
                    at = match is_test || cfg.keeps(&attributes) == Some(false) {
                        true => self.behind_item(behind),
                        false => behind.max(at + 1),
                    };
                    continue;
                }
                Token::Sign(b';') => self.is_use = false,
                Token::Word => {
                    let word = self.word(at).unwrap_or_default();
                    self.is_use |= word == "use";
                    if self.search.has_glob {
                        self.names.insert(word.to_owned());
                    }
                    if self.search.roots.contains(word) {
                        if self.word(at + 1) == Some("as") {
                            self.search.roots.extend(self.word(at + 2).map(String::from));
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

    /// Behind the item, statement, field or arm that begins at a token.
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

    /// The rest of a path or the tree of a `use`, from behind a `::`; gives the token behind it.
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
                    // What is written small may be a module.
                    if self.is_use && last.starts_with(|c: char| !c.is_uppercase()) {
                        self.search.roots.insert(renamed.unwrap_or(last).to_owned());
                    }
                    return if renamed.is_some() { at + 3 } else { at + 1 };
                }
                None if sign(self.tokens, at) == Some(b'{') => {
                    let end = behind_group(self.tokens, at);
                    at += 1;
                    while at + 1 < end {
                        at = self.tree(at, last);
                        // To what follows the comma.
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
