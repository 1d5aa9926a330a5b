//! JSON that stands in the source: `json!({ … })`, `extend("key" = …)`, examples.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use schemars::Schema;
use serde_json::{Map, Value};
use syn::punctuated::Punctuated;
use syn::{Block, Expr, ExprPath, Pat, Stmt, Token};

use super::constants::Constant;
use super::types::{Derived, Deriver, Scope, all};

impl Deriver<'_> {
    /// An expression of no particular type, as JSON: an example.
    pub fn untyped(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match expr {
            Expr::Reference(inner) => self.untyped(&inner.expr, scope),
            Expr::Array(array) => Ok(all(array.elems.iter().map(|value| self.untyped(value, scope)))?.into()),
            Expr::Macro(list) if list.mac.path.is_ident("vec") => {
                let elements = list.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let elements = self.parsed(scope, elements)?;
                Ok(all(elements.iter().map(|value| self.untyped(value, scope)))?.into())
            }
            Expr::Macro(literal) if literal.mac.path.segments.last().is_some_and(|last| last.ident == "json") => {
                self.json(literal.mac.tokens.clone(), scope)
            }
            _ => match self.scalar(expr, scope)? {
                Constant::Text(text) => Ok(text.into()),
                Constant::Bool(value) => Ok(value.into()),
                Constant::Char(letter) => Ok(letter.to_string().into()),
                _ => self.number(expr, scope),
            },
        }
    }

    /// The tokens of a `json!({ … })`, whose values may be constants and `generator.subschema_for::<T>()`.
    pub fn json(&mut self, tokens: TokenStream, scope: &Scope) -> Derived<Value> {
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => {
                let mut object = Map::new();
                for member in split(group.stream()) {
                    let (key, value) = halves(member);
                    let key = syn::parse2::<Expr>(key);
                    let key = self.parsed(scope, key)?;
                    let key = self.text(&key, scope)?;
                    object.insert(key, self.json(value, scope)?);
                }
                Ok(object.into())
            }
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
                Ok(all(split(group.stream()).into_iter().map(|element| self.json(element, scope)))?.into())
            }
            (Some(TokenTree::Ident(word)), None) if word == "null" => Ok(Value::Null),
            _ => {
                let expr = syn::parse2::<Expr>(tokens);
                let expr = self.parsed(scope, expr)?;
                self.json_value(&expr, scope)
            }
        }
    }

    /// A value in `json!`: an expression.
    fn json_value(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match expr {
            Expr::Paren(inner) => self.json_value(&inner.expr, scope),
            Expr::Block(block) => match completed(&block.block) {
                Some((schema, members)) => {
                    let Ok(mut schema) = Schema::try_from(self.json_value(schema, scope)?) else {
                        return self.not_constant(expr, scope);
                    };
                    for (key, value) in members {
                        let (key, value) = (self.text(key, scope)?, self.json_value(value, scope)?);
                        schema.ensure_object().insert(key, value);
                    }
                    Ok(schema.to_value())
                }
                None => self.not_constant(expr, scope),
            },
            Expr::MethodCall(call) if call.method == "subschema_for" => {
                let ty = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                    Some(syn::GenericArgument::Type(ty)) => Some(ty),
                    _ => None,
                });
                match ty {
                    Some(ty) => Ok(self.shape(ty, scope)?.schema.to_value()),
                    None => self.not_constant(expr, scope),
                }
            }
            _ => self.untyped(expr, scope),
        }
    }
}

/// `{ let mut schema = …; schema.ensure_object().insert("key".into(), …); schema }`, as k8s-openapi describes a field:
/// the schema, and what is put into it.
fn completed(block: &Block) -> Option<(&Expr, Vec<(&Expr, &Expr)>)> {
    let [Stmt::Local(local), inserts @ .., Stmt::Expr(Expr::Path(result), None)] = block.stmts.as_slice() else {
        return None;
    };
    let Pat::Ident(binding) = &local.pat else { return None };
    let is_binding = |path: &ExprPath| path.path.is_ident(&binding.ident);
    let members = inserts.iter().map(|statement| {
        let Stmt::Expr(Expr::MethodCall(insert), Some(_)) = statement else { return None };
        let Expr::MethodCall(object) = &*insert.receiver else { return None };
        let receiver = matches!(&*object.receiver, Expr::Path(path) if is_binding(path));
        let is_insert = receiver && object.method == "ensure_object" && insert.method == "insert";
        (is_insert && insert.args.len() == 2).then(|| (&insert.args[0], &insert.args[1]))
    });
    let members = members.collect::<Option<Vec<_>>>()?;
    is_binding(result).then_some((&*local.init.as_ref()?.expr, members))
}

/// Splits at the commas of this level.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for tree in tokens {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            _ => parts.last_mut().expect("never empty").extend([tree]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits at the first single colon.
fn halves(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let colon = |index: usize| matches!(trees.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let at = (0..trees.len())
        .find(|&index| colon(index) && !colon(index + 1) && !(index > 0 && colon(index - 1)))
        .unwrap_or(trees.len());
    let rest = trees.get(at + 1..).unwrap_or_default();
    (trees[..at].iter().cloned().collect(), rest.iter().cloned().collect())
}
