//! Items and calls of the project's macros in the bodies of functions.

use std::collections::HashMap;
use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Item, Macro, Stmt};

use crate::resolve::macro_rules::expand;
use crate::resolve::modules::{ModuleId, Modules, UsePath, name};

/// The result of a macro call.
#[derive(Clone)]
pub enum Expansion {
    Statements(Rc<Block>),
    /// The macro belongs to the project, and its rules or their output are not understood.
    Unclear,
}

/// Limits of nested and of all expansions: a recursive macro may never end.
pub const DEEP: usize = 64;
const MANY: usize = 10_000;

/// Collects the blocks that contain items, each with the next enclosing one, and the expansions of the project's
/// macros.
pub struct Blocks<'m> {
    modules: &'m Modules,
    module: ModuleId,
    open: Vec<usize>,
    /// Macros that the enclosing blocks define.
    rules: Vec<(String, TokenStream)>,
    depth: usize,
    count: usize,
    pub found: Vec<(usize, Vec<Item>)>,
    pub around: HashMap<usize, usize>,
    /// Expansions by the address of the call.
    pub expansions: HashMap<usize, Expansion>,
}

impl<'m> Blocks<'m> {
    pub fn of(modules: &'m Modules, module: ModuleId) -> Self {
        let (found, around, expansions) = Default::default();
        Self { modules, module, open: Vec::new(), rules: Vec::new(), depth: 0, count: 0, found, around, expansions }
    }

    fn expansion(&mut self, call: &Macro) -> Option<Expansion> {
        if let Some(known) = self.expansions.get(&address(call)) {
            return Some(known.clone());
        }
        let found = expansion(self.modules, self.module, call, &self.rules)?;
        self.count += 1;
        let found = if self.count > MANY || self.depth >= DEEP { Expansion::Unclear } else { found };
        self.expansions.insert(address(call), found.clone());
        Some(found)
    }

    /// The items among statements, including those in expansions of macros.
    fn items(&mut self, statements: &[Stmt]) -> Vec<Item> {
        let mut items = Vec::new();
        for statement in statements {
            match statement {
                Stmt::Item(item) => {
                    if let Item::Macro(definition) = item
                        && let Some(ident) = &definition.ident
                    {
                        self.rules.push((name(ident), definition.mac.tokens.clone()));
                    }
                    items.push(item.clone());
                }
                Stmt::Macro(call) if self.depth < DEEP => {
                    self.depth += 1;
                    if let Some(Expansion::Statements(made)) = self.expansion(&call.mac) {
                        items.extend(self.items(&made.stmts));
                    }
                    self.depth -= 1;
                }
                _ => {}
            }
        }
        items
    }
}

impl<'ast> Visit<'ast> for Blocks<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        let rules = self.rules.len();
        let mut items = self.items(&block.stmts);
        if items.is_empty() {
            return visit::visit_block(self, block);
        }
        items.push(syn::parse_quote!(
            use super::*;
        ));
        let address = address(block);
        if let Some(around) = self.open.last() {
            self.around.insert(address, *around);
        }
        self.found.push((address, items));
        self.open.push(address);
        visit::visit_block(self, block);
        self.open.pop();
        self.rules.truncate(rules);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let Some(Expansion::Statements(made)) = self.expansion(call) {
            self.depth += 1;
            self.visit_block(&made);
            self.depth -= 1;
        }
    }

    /// Functions in an item are visited as those of a module.
    fn visit_item(&mut self, _: &'ast Item) {}
}

/// Expands a call of a macro of the project; `near` has the macros of the enclosing blocks. `None` for any other
/// macro.
pub fn expansion(
    modules: &Modules,
    module: ModuleId,
    call: &Macro,
    near: &[(String, TokenStream)],
) -> Option<Expansion> {
    let path = UsePath::of(&call.path);
    let of_block = match &path.segments[..] {
        [called] if !path.global => near.iter().rev().find(|(name, _)| name == called),
        _ => None,
    };
    let rules = match of_block {
        Some((_, rules)) => vec![(rules.clone(), quote::quote!(crate))],
        None => modules.rules_for(module, &path),
    };
    if rules.is_empty() {
        return None;
    }
    let at = call.path.span();
    let made = rules.iter().find_map(|(rules, definer)| {
        let tokens = expand(rules, &call.tokens, at, definer)?;
        let stmts = Block::parse_within.parse2(tokens).ok()?;
        Some(Block { brace_token: syn::token::Brace(at), stmts })
    });
    Some(made.map_or(Expansion::Unclear, |block| Expansion::Statements(Rc::new(block))))
}

/// The address of a syntax node, as a key: `Modules` owns the nodes and never moves them.
pub fn address<T>(syntax: &T) -> usize {
    std::ptr::from_ref(syntax).addr()
}
