//! JSON in the source: `json!({ … })`, `extend("key" = …)`, examples.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::{Map, Value};
use syn::Expr;

use super::Evaluator;
use super::context::{Derived, Scope, all};
use super::values::Hint;

impl Evaluator<'_, '_> {
    /// An expression without an expected type, as JSON: an example.
    pub fn untyped(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let value = self.evaluate(expr, scope, &Hint::Free)?;
        self.serialized(value, expr, scope)
    }

    /// The tokens of `json!({ … })`, whose values may be constants and `generator.subschema_for::<T>()`.
    pub fn json(&mut self, tokens: TokenStream, scope: &Scope) -> Derived<Value> {
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => {
                let mut object = Map::new();
                for member in split(group.stream()) {
                    let (key, value) = halves(member);
                    let key = syn::parse2::<Expr>(key);
                    let key = self.cx.parsed(scope, key)?;
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
                // An expression may contain a comma of its own, as in `Map::<K, V>::new()`.
                let expr = syn::parse2::<Expr>(tokens.clone()).ok();
                let expr = self.cx.or_not_evident(expr, &tokens, scope)?;
                self.untyped(&expr, scope)
            }
        }
    }
}

/// Splits at the commas outside of nested groups.
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
