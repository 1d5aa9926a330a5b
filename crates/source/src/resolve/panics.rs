//! Determines if code that is not evaluated may panic, as far as can be seen: by macros and methods of std that may
//! panic, in the functions in the source that it calls.
//!
//! A function is identified by its name alone: of several with one name, each counts.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};

use super::modules::{Modules, name};
use opctl_model::lexer::{Token, code};

/// Bodies of all functions with one name.
#[derive(Default)]
struct Bodies {
    panics: bool,
    calls: BTreeSet<String>,
}

const MACROS: [&str; 7] = ["assert", "assert_eq", "assert_ne", "panic", "todo", "unimplemented", "unreachable"];
const METHODS: [&str; 4] = ["abort", "exit", "expect", "unwrap"];

/// The functions of the project, read on demand.
pub struct Panics<'a> {
    modules: &'a Modules,
    bodies: Option<Rc<BTreeMap<String, Bodies>>>,
}

impl<'a> Panics<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        Self { modules, bodies: None }
    }

    /// `true` if a function that these tokens call may panic.
    pub fn may_panic(&mut self, tokens: TokenStream) -> bool {
        let mut reached = BTreeSet::new();
        if called(tokens, &mut reached) {
            return true;
        }
        let bodies = self.bodies();
        let mut open: Vec<String> = reached.iter().cloned().collect();
        while let Some(function) = open.pop() {
            let Some(found) = bodies.get(&function) else { continue };
            if found.panics {
                return true;
            }
            open.extend(found.calls.iter().filter(|call| reached.insert((*call).clone())).cloned());
        }
        false
    }

    fn bodies(&mut self) -> Rc<BTreeMap<String, Bodies>> {
        if let Some(bodies) = &self.bodies {
            return bodies.clone();
        }
        let mut bodies = BTreeMap::new();
        self.modules.files().iter().for_each(|file| add(&file.text, &mut bodies));
        let bodies = Rc::new(bodies);
        self.bodies = Some(bodies.clone());
        bodies
    }
}

/// Collects the names of called functions; `true` if one of std's that may panic is among them.
fn called(tokens: TokenStream, names: &mut BTreeSet<String>) -> bool {
    let mut panics = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(tree) = tokens.next() {
        match tree {
            TokenTree::Ident(ident) => {
                let ident = name(&ident);
                panics |=
                    is_panic(&ident, matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!'));
                names.insert(ident);
            }
            TokenTree::Group(group) => panics |= called(group.stream(), names),
            _ => {}
        }
    }
    panics
}

fn is_panic(word: &str, is_macro: bool) -> bool {
    if is_macro { MACROS.contains(&word) } else { METHODS.contains(&word) }
}

/// Adds the functions of a file.
fn add(text: &str, bodies: &mut BTreeMap<String, Bodies>) {
    let tokens: Vec<_> = code(text);
    let word = |index: usize| match tokens.get(index) {
        Some((Token::Word, range)) => Some(&text[range.clone()]),
        _ => None,
    };
    let sign = |index: usize| match tokens.get(index) {
        Some((Token::Sign(sign), _)) => Some(*sign),
        _ => None,
    };
    for at in (0..tokens.len()).filter(|at| word(*at) == Some("fn")) {
        let Some(function) = word(at + 1) else { continue };
        let Some(open) = (at..tokens.len()).find(|index| matches!(sign(*index), Some(b'{' | b';'))) else { continue };
        let body = bodies.entry(function.to_string()).or_default();
        let mut depth = 0;
        for index in open..tokens.len() {
            depth += i32::from(sign(index) == Some(b'{')) - i32::from(sign(index) == Some(b'}'));
            if depth == 0 {
                break;
            }
            if let Some(found) = word(index) {
                body.panics |= is_panic(found, sign(index + 1) == Some(b'!'));
                body.calls.insert(found.to_string());
            }
        }
    }
}
