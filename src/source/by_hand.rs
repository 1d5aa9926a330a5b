//! Schemas that the user wrote by hand: `impl JsonSchema`, `schema_with`, as far as their values are evident.

use schemars::Schema;
use syn::{ExprPath, ItemImpl};

use super::attributes::With;
use super::constants::Function;
use super::known::Shape;
use super::types::{Derived, Deriver, Refused, Scope};
use super::values::Value;
use crate::diagnostic::Diagnostic;

impl Deriver<'_> {
    /// `impl JsonSchema` by hand.
    pub fn manual_schema(&mut self, at: &Scope, implementation: &ItemImpl) -> Derived<Shape> {
        let function = associated(implementation, "json_schema", at);
        let schema = function.map(|function| self.schema_made_by(&function));
        if let Some(Ok(schema)) = schema {
            return Ok(schema.into());
        }
        let span = self.span(at, &implementation.self_ty);
        self.refuse(
            Diagnostic::error("OP013", "this `JsonSchema` is written by hand, and its schema is not evident")
                .at(span, "")
                .help("let its `json_schema` be one `json_schema!({ … })` literal, or derive it"),
        )
    }

    /// `schema_name()` of an `impl JsonSchema` by hand.
    pub fn manual_name(&mut self, at: &Scope, implementation: &ItemImpl) -> Derived<String> {
        let Some(function) = associated(implementation, "schema_name", at) else {
            return self.not_evident(&implementation.self_ty, at);
        };
        match self.block(&function.item.block, at, None)? {
            Value::Text(text) => Ok(text),
            _ => self.not_evident(&function.item.block, at),
        }
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
        let schema = self.function(path, scope).map(|function| self.schema_made_by(&function));
        if let Some(Ok(schema)) = schema {
            return Ok(schema.into());
        }
        let span = self.span(scope, path);
        self.refuse(
            Diagnostic::error("OP013", "this function makes a schema that is not evident")
                .at(span, "")
                .help("let its body be one `json_schema!({ … })` literal, or use `#[schemars(with = \"Type\")]`"),
        )
    }

    fn schema_made_by(&mut self, function: &Function) -> Derived<Schema> {
        match self.block(&function.item.block, &function.scope, None)? {
            Value::Json(schema) => Schema::try_from(schema).map_err(|_| Refused),
            _ => Err(Refused),
        }
    }
}

fn associated(implementation: &ItemImpl, function: &str, at: &Scope) -> Option<Function> {
    Some(Function { scope: at.clone(), item: super::constants::function_of(implementation, function)? })
}
