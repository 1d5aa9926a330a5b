//! Schemas that the user wrote by hand: `impl JsonSchema`, `schema_with`, as far as they are one literal.

use schemars::Schema;
use syn::{Expr, ExprPath, ItemImpl};

use super::attributes::With;
use super::known::Shape;
use super::types::{Derived, Deriver, Scope};
use crate::diagnostic::Diagnostic;

impl Deriver<'_> {
    /// `impl JsonSchema` by hand: derivable when its `json_schema` is one literal.
    pub fn manual_schema(&mut self, scope: &Scope, implementation: &ItemImpl) -> Derived<Shape> {
        let function = implementation.items.iter().find_map(|item| match item {
            syn::ImplItem::Fn(function) if function.sig.ident == "json_schema" => Some(function),
            _ => None,
        });
        let literal = function.and_then(|function| self.schema_literal(&function.block, scope));
        match literal {
            Some(schema) => Ok(schema.into()),
            None => {
                let span = self.span(scope, &implementation.self_ty);
                let help = if self.modules.is_foreign(scope.module) {
                    "say the schema at the field: `#[schemars(with = \"…\")]`"
                } else {
                    "let its `json_schema` be one `json_schema!({ … })` literal, or derive it"
                };
                self.refuse(
                    Diagnostic::error("OP013", "this `JsonSchema` is written by hand: only a compiler can run it")
                        .at(span, "")
                        .help(help),
                )
            }
        }
    }

    /// The literal that a function's body consists of: `json_schema!({…})`, or `json!({…})` turned into a schema.
    fn schema_literal(&mut self, block: &syn::Block, scope: &Scope) -> Option<Schema> {
        let [syn::Stmt::Expr(expr, None)] = block.stmts.as_slice() else {
            let [syn::Stmt::Macro(statement)] = block.stmts.as_slice() else { return None };
            return self.literal_of_macro(&statement.mac, scope);
        };
        let mut expr = expr;
        loop {
            expr = match expr {
                Expr::Macro(literal) => return self.literal_of_macro(&literal.mac, scope),
                Expr::MethodCall(call) if ["unwrap", "expect", "into"].iter().any(|name| call.method == name) => {
                    &call.receiver
                }
                Expr::Call(call) if call.args.len() == 1 => &call.args[0],
                Expr::Paren(inner) => &inner.expr,
                _ => return None,
            };
        }
    }

    fn literal_of_macro(&mut self, literal: &syn::Macro, scope: &Scope) -> Option<Schema> {
        let name = literal.path.segments.last()?.ident.to_string();
        let value =
            matches!(name.as_str(), "json_schema" | "json").then(|| self.json(literal.tokens.clone(), scope))?;
        Schema::try_from(value.ok()?).ok()
    }

    /// What `with` or `schema_with` says instead of the type.
    pub fn with(&mut self, with: &With, scope: &Scope) -> Derived<Shape> {
        match with {
            With::Type(ty) => self.shape(ty, scope),
            With::Function(path) => self.schema_function(path, scope),
        }
    }

    /// `schema_with = "function"`.
    fn schema_function(&mut self, path: &ExprPath, scope: &Scope) -> Derived<Shape> {
        let literal =
            self.function(&path.path, scope).and_then(|(at, function)| self.schema_literal(&function.block, &at));
        match literal {
            Some(schema) => Ok(schema.into()),
            None => {
                let span = self.span(scope, path);
                self.refuse(
                    Diagnostic::error("OP013", "this function makes a schema, and only a compiler can run it")
                        .at(span, "")
                        .help(
                            "let its body be one `json_schema!({ … })` literal, or use `#[schemars(with = \"Type\")]`",
                        ),
                )
            }
        }
    }
}
