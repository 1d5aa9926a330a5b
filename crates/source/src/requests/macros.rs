//! Analyses macro calls in bodies. Macros of the project are expanded; the arguments of other macros are mostly
//! expressions.

use std::rc::Rc;

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Block, Expr, ExprBlock, ExprLit, Item, Lit, Macro, Pat, Stmt, Token};

use super::blocks::{DEEP, Expansion};
use super::body::{Body, text_or_pattern};
use super::function::{Unseen, Why};
use super::raw::HOLE;
use super::types::{Origin, Type};
use super::world::{Named, World, use_path};
use crate::resolve::macro_output::EXPRESSIONS;
use crate::resolve::modules::{ModuleId, UsePath, name};
use crate::resolve::names::{Namespace, Target, resolve};

/// `pattern = future, if condition => body`
struct Branch {
    pattern: Option<(Pat, Expr)>,
    condition: Option<Expr>,
    body: Expr,
}

impl Body<'_, '_> {
    pub fn macro_call(&mut self, call: &Macro, expected: Option<&Type>) -> Type {
        let called = call.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
        match self.world.expansion(self.env.module, call) {
            Some(Expansion::Statements(made)) if self.expanded < DEEP => {
                self.expanded += 1;
                let ty = self.analyse_expansion(call, &made, expected);
                self.expanded -= 1;
                return ty;
            }
            Some(_) => {
                let rules = self.world.modules.rules_for(self.env.module, &UsePath::of(&call.path));
                if rules.iter().any(|(rules, _)| self.world.may_ask(self.env.module, rules)) {
                    self.unclear_macro(call);
                }
                return self.plain(call);
            }
            None => {}
        }
        match called.as_str() {
            "select" | "select_biased" => {
                let Ok(branches) = branches.parse2(call.tokens.clone()) else { return self.plain(call) };
                let result = self.vars.fresh();
                self.expect(&result, expected);
                for branch in &branches {
                    let scope = self.locals.len();
                    if let Some((pattern, future)) = &branch.pattern {
                        self.is_awaited = true;
                        let future = self.expr(future, None);
                        let value = self.awaited(&future);
                        self.bind(pattern, &value);
                    }
                    self.exprs(&branch.condition);
                    self.check(&branch.body, &result);
                    self.locals.truncate(scope);
                }
                result
            }
            "vec" => {
                let element = self.vars.fresh();
                let list = self.world.list_of(element.clone());
                self.expect(&list, expected);
                for value in expressions(&call.tokens).0 {
                    self.check(&value, &element);
                }
                list
            }
            "join" | "try_join" => {
                let values: Vec<Type> = expressions(&call.tokens)
                    .0
                    .iter()
                    .map(|value| {
                        self.is_awaited = true;
                        let future = self.expr(value, None);
                        self.awaited(&future)
                    })
                    .collect();
                if called == "join" {
                    return Type::Tuple(values.into());
                }
                let first = |ty: &Type| match self.vars.known(ty) {
                    Type::Named(_, types) if !types.is_empty() => types[0].clone(),
                    _ => Type::Unknown,
                };
                let values = values.iter().map(first).collect();
                Type::Named(self.world.known.result, Rc::from([Type::Tuple(values), Type::Unknown]))
            }
            "pin" => {
                let (values, _) = expressions(&call.tokens);
                values.first().map_or(Type::Unknown, |value| self.expr(value, expected))
            }
            "format" => {
                let text = self.formatted(&call.tokens);
                self.vars.set(text_or_pattern(text))
            }
            "concat" => {
                let (values, _) = expressions(&call.tokens);
                let parts: Vec<Type> = values.iter().map(|value| self.expr(value, None)).collect();
                self.joined(&parts)
            }
            "write" | "writeln" => {
                let found = self.parts(call);
                if let Some(into) = found.first() {
                    self.vars.forget_text(into);
                }
                self.value_of(call, &found)
            }
            "include" => {
                let may_ask = match self.world.modules.included_code(self.env.module, &call.tokens) {
                    Some(text) => text.parse().is_ok_and(|tokens| self.world.may_ask(self.env.module, &tokens)),
                    // A build script generates it.
                    None => self.locals.iter().any(|(_, ty)| self.world.carries(&self.vars, ty)),
                };
                if may_ask {
                    self.unclear_macro(call);
                }
                self.vars.fresh()
            }
            "matches" => {
                let Ok((value, pattern, guard)) = matched.parse2(call.tokens.clone()) else { return self.plain(call) };
                let scope = self.locals.len();
                let value = self.expr(&value, None);
                self.bind(&pattern, &value);
                self.exprs(&guard);
                self.locals.truncate(scope);
                self.vars.fresh_from(Origin::Other)
            }
            _ => self.plain(call),
        }
    }

    /// Analyses the expansion of a call.
    fn analyse_expansion(&mut self, call: &Macro, made: &Block, expected: Option<&Type>) -> Type {
        let module = self.env.module;
        match self.world.block(made) {
            Some(inner) => self.env.module = inner,
            None if made.stmts.iter().any(|made| matches!(made, Stmt::Item(Item::Fn(_) | Item::Impl(_)))) => {
                self.unclear_macro(call);
            }
            None => {}
        }
        let ty = self.statements_here(&made.stmts, expected);
        self.env.module = module;
        ty
    }

    fn unclear_macro(&mut self, call: &Macro) {
        let span = self.span(&call.path);
        let called = call.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
        self.unseen.push(Unseen { span, why: Why::Macro(called) });
    }

    fn plain(&mut self, call: &Macro) -> Type {
        let found = self.parts(call);
        self.value_of(call, &found)
    }

    /// The types of the expressions in a call.
    fn parts(&mut self, call: &Macro) -> Vec<Type> {
        match Block::parse_within.parse2(call.tokens.clone()) {
            Ok(statements) if statements.len() > 1 => {
                self.statements(&statements, None);
                Vec::new()
            }
            _ => self.loose(&call.tokens, call),
        }
    }

    /// The type of a call, of which only the arguments are known.
    fn value_of(&mut self, call: &Macro, found: &[Type]) -> Type {
        let carries = found.iter().any(|ty| self.world.carries(&self.vars, ty));
        if carries && self.is_unknown(call) {
            self.unclear_macro(call);
        }
        let holds = found.iter().any(|ty| self.world.holds(&self.vars, ty) || self.vars.origin(ty) >= Origin::Client);
        self.vars.fresh_from(if holds { Origin::Client } else { Origin::Other })
    }

    /// `true` if nothing is known about a macro of another crate.
    fn is_unknown(&self, call: &Macro) -> bool {
        match resolve(self.world.modules, self.env.module, &use_path(&call.path), Namespace::Macro) {
            Some(Target::Foreign(foreign)) => !self.world.is_well_known(&foreign.path[0]),
            _ => !call.path.get_ident().is_some_and(|ident| EXPRESSIONS.contains(&name(ident).as_str())),
        }
    }

    /// The types of the expressions among the tokens of a call.
    fn loose(&mut self, tokens: &TokenStream, call: &Macro) -> Vec<Type> {
        let (values, rest) = expressions(tokens);
        let mut found: Vec<Type> = values.iter().map(|value| self.expr(value, None)).collect();
        for part in rest {
            let inner = match sides(&part) {
                Some(sides) => sides.into(),
                None => {
                    // Only its names count, because the contents of its groups are analyzed separately.
                    let names: TokenStream = part.iter().map(without_contents).collect();
                    if self.world.may_ask(self.env.module, &names) || self.names_client(names) {
                        self.unclear_macro(call);
                    }
                    contents(part)
                }
            };
            for inner in inner {
                found.extend(self.loose(&inner, call));
            }
        }
        found
    }

    /// `true` if unparsed tokens contain a variable with a client.
    fn names_client(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|tree| match &tree {
            TokenTree::Ident(ident) => {
                let local = self.locals.iter().rev().find(|(local, _)| *local == name(ident));
                local.is_some_and(|(_, ty)| self.world.carries(&self.vars, ty))
            }
            _ => false,
        })
    }

    /// The result of `format!`, with holes for values that are known only at run time.
    fn formatted(&mut self, tokens: &TokenStream) -> String {
        let (values, _) = expressions(tokens);
        let types: Vec<Type> = values.iter().map(|value| self.expr(value, None)).collect();
        let Some(Expr::Lit(ExprLit { lit: Lit::Str(pattern), .. })) = values.first() else { return HOLE.into() };
        let (mut text, mut next) = (String::new(), 1);
        let pattern = pattern.value().replace("{{", "\u{1}").replace("}}", "\u{2}");
        let mut parts = pattern.split('{');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (hole, rest) = part.split_once('}').unwrap_or((part, ""));
            let said = match hole {
                "" => {
                    next += 1;
                    types.get(next - 1).cloned()
                }
                hole => syn::parse_str::<Expr>(hole)
                    .ok()
                    .filter(|named| matches!(named, Expr::Path(_)))
                    .map(|named| self.expr(&named, None)),
            };
            let said = said.and_then(|ty| self.text(&ty));
            text.push_str(said.as_deref().unwrap_or(HOLE));
            text.push_str(rest);
        }
        text.replace('\u{1}', "{").replace('\u{2}', "}")
    }
}

impl World<'_> {
    /// `true` if unparsed tokens contain names of kube that make requests.
    pub fn may_ask(&self, module: ModuleId, tokens: &TokenStream) -> bool {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        trees.iter().enumerate().any(|(at, tree)| match tree {
            TokenTree::Ident(ident) => {
                let called = name(ident);
                let is_sign = |tree: Option<&TokenTree>, sign: char| {
                    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
                };
                let is_method = at > 0 && is_sign(trees.get(at - 1), '.');
                let is_call = matches!(trees.get(at + 1), Some(TokenTree::Group(_)));
                let path = UsePath { global: false, segments: vec![called.clone()] };
                let is_client = || match self.find_segments(module, &path) {
                    Some(Named::Decl(decl)) => self.is_client(decl),
                    _ => false,
                };
                let asks = || {
                    let item = self.value_item(module, &path);
                    item.and_then(|item| self.free.get(&item)).is_some_and(|id| !self.function_of(*id).rules.asks.is_empty())
                };
                let is_of_path = at > 0 && is_sign(trees.get(at - 1), ':');
                match is_method {
                    true => is_call && self.requesting.iter().any(|(method, _)| *method == called),
                    false if is_of_path => matches!(called.as_str(), "Api" | "Client"),
                    false => is_client() || is_call && asks(),
                }
            }
            TokenTree::Group(group) => self.may_ask(module, &group.stream()),
            _ => false,
        })
    }
}

/// Splits tokens at commas and semicolons into expressions and unparsed parts. `%value` and `name = value` are the
/// syntax of logging macros.
fn expressions(tokens: &TokenStream) -> (Vec<Expr>, Vec<Vec<TokenTree>>) {
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    let mut part: Vec<TokenTree> = Vec::new();
    let comma = TokenTree::Punct(proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone));
    for token in tokens.clone().into_iter().chain([comma]) {
        match &token {
            TokenTree::Punct(sign) if matches!(sign.as_char(), ',' | ';') => {
                let is_named = matches!(&part[..], [TokenTree::Ident(_), TokenTree::Punct(sign), TokenTree::Punct(sigil), ..]
                    if sign.as_char() == '=' && matches!(sigil.as_char(), '%' | '?'));
                let named = if is_named { 2 } else { 0 };
                let sigils = part.iter().skip(named).take_while(|token| is_sigil(token)).count();
                let part: Vec<TokenTree> = part.drain(..).skip(named + sigils).collect();
                match syn::parse2::<Expr>(part.iter().cloned().collect()) {
                    Ok(expr) => found.push(expr),
                    Err(_) if part.is_empty() => {}
                    Err(_) => rest.push(part),
                }
            }
            // Only stream macros have `for await`.
            TokenTree::Ident(word)
                if word == "await" && matches!(part.last(), Some(TokenTree::Ident(last)) if last == "for") => {}
            _ => part.push(token),
        }
    }
    let values = found.into_iter().map(|expr| match expr {
        Expr::Assign(assign) => *assign.right,
        expr => expr,
    });
    (values.collect(), rest)
}

fn without_contents(tree: &TokenTree) -> TokenTree {
    match tree {
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), TokenStream::new())),
        tree => tree.clone(),
    }
}

/// The two sides of `key => value` or `key: value`.
fn sides(part: &[TokenTree]) -> Option<[TokenStream; 2]> {
    let is_sign =
        |at: usize, sign: char| matches!(part.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let arrow = (0..part.len()).find(|at| is_sign(*at, '=') && is_sign(at + 1, '>')).map(|at| (at, 2));
    let colon = || {
        let is_single = |at: &usize| is_sign(*at, ':') && !is_sign(at + 1, ':') && !(*at > 0 && is_sign(at - 1, ':'));
        (0..part.len()).find(is_single).map(|at| (at, 1))
    };
    let (at, length) = arrow.or_else(colon)?;
    Some([&part[..at], &part[at + length..]].map(|side| side.iter().cloned().collect()))
}

/// The contents of the groups among tokens.
fn contents(part: Vec<TokenTree>) -> Vec<TokenStream> {
    let groups = part.into_iter().filter_map(|tree| match tree {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    groups.collect()
}

fn is_sigil(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(sign) if matches!(sign.as_char(), '%' | '?'))
}

/// `value, pattern if guard`
fn matched(input: ParseStream) -> syn::Result<(Expr, Pat, Option<Expr>)> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    input.parse::<Option<Token![,]>>()?;
    Ok((value, pattern, guard))
}

fn branches(input: ParseStream) -> syn::Result<Vec<Branch>> {
    let mut found = Vec::new();
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    while !input.is_empty() {
        let is_bare = input.peek(Token![else]) || input.peek(syn::Ident) && input.peek2(Token![=>]);
        let (mut pattern, mut condition) = (None, None);
        if is_bare {
            input.parse::<TokenTree>()?;
        } else {
            let bound = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Token![=]>()?;
            pattern = Some((bound, input.parse()?));
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                condition = Some(input.parse()?);
            }
        }
        input.parse::<Token![=>]>()?;
        let body = if input.peek(syn::token::Brace) {
            Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block: input.parse()? })
        } else {
            input.parse()?
        };
        found.push(Branch { pattern, condition, body });
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(found)
}
