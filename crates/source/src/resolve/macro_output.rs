//! Determines the items that macro calls may declare or implement, from their tokens and `macro_rules!`.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{ItemImpl, Type};

use super::modules::{Call, Module, ModuleId, Modules, mentions, span_of};
use super::names::{Namespace, Target, resolve};
use crate::known::is_primitive;
use opctl_model::diagnostic::Span;

/// Output of a call in its module.
#[derive(Default)]
pub struct Makes {
    names: BTreeSet<String>,
    /// Any name: its code is not known, or contains a glob import.
    anything: bool,
}

/// Macros of other crates that declare no other names than those in the call, and implement no trait that matters to
/// opctl.
const HARMLESS: &[&str] = &[
    "assert_cfg",
    "assert_eq_align",
    "assert_eq_size",
    "assert_fields",
    "assert_impl_all",
    "assert_impl_any",
    "assert_impl_one",
    "assert_not_impl_all",
    "assert_not_impl_any",
    "assert_obj_safe",
    "assert_trait_sub_all",
    "assert_type_eq_all",
    "bitflags",
    "collect",
    "compile_error",
    "const_assert",
    "const_assert_eq",
    "const_assert_ne",
    "global_asm",
    "lazy_static",
    "pin_project",
    "static_init",
    "submit",
    "task_local",
    "thread_local",
];

/// Macros that only implement traits.
const IMPLEMENT: &[&str] = &[
    "derive_deserialize_from_fromstr",
    "derive_display_from_serialize",
    "derive_fromstr_from_deserialize",
    "derive_serialize_from_display",
    "forward_display_to_serde",
    "forward_from_str_to_serde",
];

/// Macros of std and of well-known crates that expand to an expression or a statement.
pub const EXPRESSIONS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "cfg",
    "column",
    "concat",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "ensure",
    "env",
    "eprintln",
    "error",
    "file",
    "format",
    "format_args",
    "include_bytes",
    "include_str",
    "info",
    "json",
    "json_schema",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "trace",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Keywords before the name of an item.
const KEYWORDS: &[&str] = &["const", "enum", "fn", "mod", "ref", "static", "struct", "trait", "type", "union"];

impl Modules {
    /// The call that declares this name in a module. The flag is `true` if its tokens certainly declare it, `false`
    /// if it may.
    pub fn maker(&self, id: ModuleId, name: &str) -> Option<(Span, bool)> {
        let module = self.module(id);
        let mut maybe = None;
        for (index, call) in module.macros.iter().enumerate() {
            let makes = self.makes(id, index, call);
            if makes.names.contains(name) {
                return Some((call.span.clone(), true));
            }
            if makes.anything && !self.is_foreign(id) {
                maybe = maybe.or_else(|| Some((call.span.clone(), false)));
            }
        }
        maybe
    }

    fn makes(&self, id: ModuleId, index: usize, call: &Call) -> Rc<Makes> {
        if let Some(makes) = self.calls.borrow().get(&(id, index)) {
            return makes.clone();
        }
        // If the path of the call depends on its own output, it declares nothing.
        self.calls.borrow_mut().insert((id, index), Rc::default());
        let makes = Rc::new(self.made_by(id, call));
        self.calls.borrow_mut().insert((id, index), makes.clone());
        makes
    }

    fn made_by(&self, id: ModuleId, call: &Call) -> Makes {
        let mut makes = Makes::default();
        let last = call.path.segments.last().map(String::as_str).unwrap_or_default();
        let rules = if self.is_foreign(id) { Vec::new() } else { self.definitions(id, call) };
        if rules.is_empty() {
            self.declare(id, call.tokens.clone(), None, &mut makes);
            makes.anything |= !call.is_plain && !HARMLESS.contains(&last) && !IMPLEMENT.contains(&last);
        }
        for rules in rules {
            for (matcher, made) in rules_of(rules) {
                self.declare(id, made, Some((&matcher, &call.tokens)), &mut makes);
            }
        }
        makes
    }

    /// The `macro_rules!` of the crate that a call may refer to.
    fn definitions(&self, id: ModuleId, call: &Call) -> Vec<TokenStream> {
        let named = match resolve(self, id, &call.path, Namespace::Macro) {
            // A path of one segment that names a crate does not name a macro of it.
            Some(Target::Foreign(foreign)) if foreign.path.len() > 1 || call.path.segments.len() > 1 => None,
            Some(Target::Hidden(_)) => None,
            _ => call.path.segments.last(),
        };
        named.map(|name| self.rules(id, name)).unwrap_or_default()
    }

    /// Collects the names of the items among these tokens, which may be the output of a rule of `macro_rules!`.
    fn declare(
        &self,
        id: ModuleId,
        tokens: TokenStream,
        call: Option<(&TokenStream, &TokenStream)>,
        makes: &mut Makes,
    ) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Ident(word) if word == "use" => {
                    let end =
                        trees[at..].iter().position(|tree| is_sign(tree, ';')).map_or(trees.len(), |end| at + end);
                    imported(&trees[at + 1..end], call, makes);
                    at = end;
                }
                TokenTree::Ident(word) if KEYWORDS.iter().any(|keyword| word == keyword) => match trees.get(at + 1) {
                    Some(TokenTree::Ident(name)) => _ = makes.names.insert(super::modules::name(name)),
                    Some(sign) if is_sign(sign, '$') => {
                        if let (Some(TokenTree::Ident(variable)), Some((matcher, tokens))) = (trees.get(at + 2), call) {
                            makes.names.extend(bound(&variable.to_string(), matcher, tokens));
                        }
                        at += 2;
                    }
                    _ => {}
                },
                // A call of another macro.
                TokenTree::Ident(word)
                    if trees.get(at + 1).is_some_and(|sign| is_sign(sign, '!')) && word != "macro_rules" =>
                {
                    self.nested(id, &word.to_string(), trees.get(at + 2), call, makes);
                    at += 2;
                }
                // Items of the call that are passed on.
                sign if is_sign(sign, '$') => match trees.get(at + 1) {
                    Some(TokenTree::Group(repeated)) => {
                        self.declare(id, repeated.stream(), call, makes);
                        at += 1;
                    }
                    Some(TokenTree::Ident(_)) => {
                        if let Some((_, tokens)) = call {
                            self.declare_deep(id, tokens.clone(), makes);
                        }
                        at += 1;
                    }
                    _ => {}
                },
                TokenTree::Group(group) if call.is_none() && group.delimiter() == Delimiter::Brace => {
                    self.declare(id, group.stream(), call, makes);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Collects the items in a call, at any depth.
    fn declare_deep(&self, id: ModuleId, tokens: TokenStream, makes: &mut Makes) {
        self.declare(id, tokens.clone(), None, makes);
        for tree in tokens {
            if let TokenTree::Group(group) = tree {
                self.declare_deep(id, group.stream(), makes);
            }
        }
    }

    /// A macro call in the output of a macro.
    fn nested(
        &self,
        id: ModuleId,
        name: &str,
        arguments: Option<&TokenTree>,
        call: Option<(&TokenStream, &TokenStream)>,
        makes: &mut Makes,
    ) {
        let Some(TokenTree::Group(group)) = arguments else { return };
        if HARMLESS.contains(&name) || IMPLEMENT.contains(&name) {
            return self.declare(id, group.stream(), call, makes);
        }
        // Every identifier in the calls may become a name.
        let rules = self.rules(id, name);
        makes.anything |= rules.is_empty();
        identifiers(group.stream(), &mut makes.names);
        if let Some((_, tokens)) = call {
            identifiers(tokens.clone(), &mut makes.names);
        }
        for (_, made) in rules.into_iter().flat_map(rules_of) {
            makes.anything |= mentions(made, "use");
        }
    }

    /// A call or a block that may implement a trait (or have a function) of this name for a type, other than an
    /// `impl` of a module; or an `impl` for a type that a macro names.
    pub fn implementor(&self, type_name: &str, what: &str) -> Option<Span> {
        let names = self.names_of(type_name);
        let names_it = |tokens: &TokenStream| names.iter().any(|name| has(tokens, name));
        self.local().into_iter().find_map(|id| {
            let module = self.module(id);
            let loose = module.loose.iter().find(|(_, tokens)| names_it(tokens) && has(tokens, what));
            let loose = loose.map(|(span, _)| span.clone());
            let of_macro = || {
                let of_macro = |item: &&Rc<ItemImpl>| matches!(*item.self_ty, Type::Macro(_));
                let mut impls = module.impls.iter().filter(of_macro);
                let item = impls.find(|item| has(&item.to_token_stream(), what))?;
                Some(span_of(&module.file, &item.self_ty))
            };
            loose.or_else(of_macro).or_else(|| self.implementing_call(id, &module, names_it, what))
        })
    }

    fn implementing_call(
        &self,
        id: ModuleId,
        module: &Module,
        names_it: impl Fn(&TokenStream) -> bool,
        what: &str,
    ) -> Option<Span> {
        let call = module.macros.iter().find(|call| {
            let last = call.path.segments.last().map(String::as_str).unwrap_or_default();
            let rules = self.definitions(id, call);
            if rules.is_empty() && !call.is_plain {
                return names_it(&call.tokens) && !HARMLESS.contains(&last);
            }
            let mut all = [rules, vec![call.tokens.clone()]].concat();
            if !all.iter().any(&names_it) {
                return false;
            }
            let mut called = BTreeSet::new();
            let mut at = 0;
            while let Some(tokens) = all.get(at).cloned() {
                for name in macros_in(tokens) {
                    if !EXPRESSIONS.contains(&name.as_str())
                        && !HARMLESS.contains(&name.as_str())
                        && called.insert(name.clone())
                    {
                        let rules = self.rules(id, &name);
                        if rules.is_empty() {
                            return true;
                        }
                        all.extend(rules);
                    }
                }
                at += 1;
            }
            let mentioned = |word: &str| all.iter().any(|tokens| has(tokens, word));
            mentioned(what) && mentioned("impl")
        });
        call.map(|call| call.span.clone())
    }
}

fn has(tokens: &TokenStream, word: &str) -> bool {
    mentions(tokens.clone(), word)
}

/// The names of the macros that are called among these tokens, at any depth.
fn macros_in(tokens: TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut names = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        match (tree, trees.get(at + 1), trees.get(at + 2)) {
            (TokenTree::Ident(name), Some(sign), Some(TokenTree::Group(_))) if is_sign(sign, '!') => {
                names.push(name.to_string());
            }
            (TokenTree::Group(group), ..) => names.extend(macros_in(group.stream())),
            _ => {}
        }
    }
    names
}

/// The matcher and the body of each rule of a `macro_rules!`.
fn rules_of(rules: TokenStream) -> Vec<(TokenStream, TokenStream)> {
    let groups: Vec<TokenStream> = rules
        .into_iter()
        .filter_map(|tree| match tree {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
        .collect();
    groups.chunks(2).filter_map(|rule| Some((rule.first()?.clone(), rule.get(1)?.clone()))).collect()
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn identifiers(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) if is_primitive(&ident.to_string()) => {}
            TokenTree::Ident(ident) => _ = names.insert(super::modules::name(&ident)),
            TokenTree::Group(group) => identifiers(group.stream(), names),
            _ => {}
        }
    }
}

/// Collects the names that a `use` may import.
fn imported(tree: &[TokenTree], call: Option<(&TokenStream, &TokenStream)>, makes: &mut Makes) {
    for tree in tree {
        match tree {
            TokenTree::Ident(ident) => _ = makes.names.insert(super::modules::name(ident)),
            TokenTree::Group(group) => {
                imported(&group.stream().into_iter().collect::<Vec<_>>(), call, makes);
            }
            sign if is_sign(sign, '*') => makes.anything = true,
            sign if is_sign(sign, '$') => {
                if let Some((_, tokens)) = call {
                    identifiers(tokens.clone(), &mut makes.names);
                }
            }
            _ => {}
        }
    }
}

/// Neighbour of a token.
#[derive(Clone, PartialEq)]
enum Side {
    /// End of the group.
    Edge,
    Token(String),
    Any,
}

impl Side {
    fn admits(&self, tree: Option<&TokenTree>) -> bool {
        match self {
            Self::Edge => tree.is_none(),
            Self::Token(text) => tree.is_some_and(|tree| text_of(tree) == *text),
            Self::Any => true,
        }
    }
}

/// The text of a token; for a group, its opening delimiter.
fn text_of(tree: &TokenTree) -> String {
    match tree {
        TokenTree::Group(group) => format!("{:?}", group.delimiter()),
        tree => tree.to_string(),
    }
}

/// The identifiers of a call that a variable may match: those with the same neighbours as in the rule.
fn bound(variable: &str, matcher: &TokenStream, call: &TokenStream) -> BTreeSet<String> {
    let mut sides = Vec::new();
    sides_of(variable, matcher.clone(), (&Side::Edge, &Side::Edge), &mut sides);
    let mut names = BTreeSet::new();
    fitting(call.clone(), &sides, &mut names);
    names
}

fn sides_of(variable: &str, matcher: TokenStream, edges: (&Side, &Side), sides: &mut Vec<(Side, Side)>) {
    let trees: Vec<TokenTree> = matcher.into_iter().collect();
    let mut before = edges.0.clone();
    let mut at = 0;
    while at < trees.len() {
        let is_variable = is_sign(&trees[at], '$');
        match (is_variable, trees.get(at + 1)) {
            (true, Some(TokenTree::Ident(name))) => {
                // `$name:fragment`
                let after = match trees.get(at + 4) {
                    None => edges.1.clone(),
                    Some(next) if is_sign(next, '$') => Side::Any,
                    Some(next) => Side::Token(text_of(next)),
                };
                if name == variable {
                    sides.push((before, after));
                }
                (before, at) = (Side::Any, at + 4);
            }
            (true, Some(TokenTree::Group(repeated))) => {
                sides_of(variable, repeated.stream(), (&Side::Any, &Side::Any), sides);
                at += 2;
                // A separator and a repetition operator.
                while trees.get(at).is_some_and(|tree| !["*", "+", "?"].contains(&text_of(tree).as_str())) {
                    at += 1;
                }
                (before, at) = (Side::Any, at + 1);
            }
            _ => {
                if let TokenTree::Group(group) = &trees[at] {
                    sides_of(variable, group.stream(), (&Side::Edge, &Side::Edge), sides);
                }
                before = Side::Token(text_of(&trees[at]));
                at += 1;
            }
        }
    }
}

fn fitting(tokens: TokenStream, sides: &[(Side, Side)], names: &mut BTreeSet<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(ident) => {
                let before = at.checked_sub(1).and_then(|before| trees.get(before));
                if sides.iter().any(|(left, right)| left.admits(before) && right.admits(trees.get(at + 1))) {
                    names.insert(super::modules::name(ident));
                }
            }
            TokenTree::Group(group) => fitting(group.stream(), sides, names),
            _ => {}
        }
    }
}
