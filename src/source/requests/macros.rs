//! Analyses macro calls in bodies: macros are not expanded, but their comma-separated arguments are mostly expressions.

use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Block, Expr, ExprBlock, Macro, Pat, Token};

use super::body::Body;
use super::types::Type;
use crate::source::modules::name;

/// `pattern = future, if condition => body`
struct Branch {
    pattern: Option<(Pat, Expr)>,
    condition: Option<Expr>,
    body: Expr,
}

impl Body<'_, '_> {
    pub fn macro_call(&mut self, call: &Macro, expected: Option<&Type>) -> Type {
        let called = call.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
        match called.as_str() {
            "select" | "select_biased" => {
                let Ok(branches) = branches.parse2(call.tokens.clone()) else { return self.plain(call) };
                let result = self.vars.fresh();
                self.expect(&result, expected);
                for branch in &branches {
                    let scope = self.locals.len();
                    if let Some((pattern, future)) = &branch.pattern {
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
                for value in expressions(&call.tokens) {
                    self.check(&value, &element);
                }
                list
            }
            "join" | "try_join" => {
                let values: Vec<Type> = expressions(&call.tokens)
                    .iter()
                    .map(|value| {
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
                let values = expressions(&call.tokens);
                values.first().map_or(Type::Unknown, |value| self.expr(value, expected))
            }
            "format" => {
                self.plain(call);
                Type::Named(self.world.known.string, Rc::from([]))
            }
            _ => self.plain(call),
        }
    }

    fn plain(&mut self, call: &Macro) -> Type {
        match Block::parse_within.parse2(call.tokens.clone()) {
            Ok(statements) if statements.len() > 1 => drop(self.statements(&statements, None)),
            _ => self.exprs(&expressions(&call.tokens)),
        }
        self.vars.fresh()
    }
}

/// What stands between commas and semicolons, as far as it is expressions. `%value` and `name = value` are logging's.
fn expressions(tokens: &TokenStream) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let comma = TokenTree::Punct(proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone));
    for token in tokens.clone().into_iter().chain([comma]) {
        match &token {
            TokenTree::Punct(sign) if matches!(sign.as_char(), ',' | ';') => {
                let is_named = matches!(&part[..], [TokenTree::Ident(_), TokenTree::Punct(sign), TokenTree::Punct(sigil), ..]
                    if sign.as_char() == '=' && matches!(sigil.as_char(), '%' | '?'));
                let named = if is_named { 2 } else { 0 };
                let sigils = part.iter().skip(named).take_while(|token| is_sigil(token)).count();
                found.extend(syn::parse2::<Expr>(part.drain(..).skip(named + sigils).collect()).ok());
            }
            _ => part.push(token),
        }
    }
    let values = found.into_iter().map(|expr| match expr {
        Expr::Assign(assign) => *assign.right,
        expr => expr,
    });
    values.collect()
}

fn is_sigil(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(sign) if matches!(sign.as_char(), '%' | '?'))
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
