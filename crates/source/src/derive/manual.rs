//! Hand-written schemas: `impl JsonSchema` and `schema_with`, as far as they can be evaluated.

use schemars::Schema;
use syn::{ExprPath, FnArg, ImplItem, ItemImpl, Pat};

use super::types::Deriver;
use crate::attributes::SchemaOverride;
use crate::diagnostics::{OP013, OP014};
use crate::evaluate::context::{Derived, Reported, Scope};
use crate::evaluate::items::Function;
use crate::evaluate::values::{Hint, Value};
use crate::known::Shape;
use crate::resolve::modules::name;
use opctl_model::diagnostic::Span;

impl Deriver<'_, '_> {
    /// The schema of a hand-written `impl JsonSchema`.
    pub fn manual_schema(&mut self, at: &Scope, implementation: &ItemImpl) -> Derived<Shape> {
        let span = self.cx.span(at, &implementation.self_ty);
        let help = if self.cx.modules.is_foreign(at.module) {
            "specify the schema at the field: `#[schemars(with = \"…\")]`"
        } else {
            "let its `json_schema` be one `json_schema!({ … })` literal, or derive it"
        };
        // schemars' hidden functions change the field that uses the schema.
        let is_hidden = |item: &ImplItem| matches!(item, ImplItem::Fn(item) if name(&item.sig.ident).starts_with('_'));
        let is_plain = !implementation.items.iter().any(is_hidden);
        let function = associated(implementation, "json_schema", at).filter(|_| is_plain);
        self.schema_made_by(function, "this `JsonSchema` is written by hand, and its schema is not evident", span, help)
    }

    /// `schema_name()` of a hand-written `impl JsonSchema`.
    pub fn manual_name(&mut self, at: &Scope, implementation: &ItemImpl) -> Derived<String> {
        let Some(function) = associated(implementation, "schema_name", at) else {
            return self.cx.not_evident(&implementation.self_ty, at);
        };
        match self.evaluator().body(&function.item.block, at, &Hint::Text)? {
            Value::Text(text) => Ok(text),
            _ => self.cx.not_evident(&function.item.block, at),
        }
    }

    /// The schema of `with` or `schema_with`, which replaces that of the type.
    pub fn with(&mut self, with: &SchemaOverride, scope: &Scope) -> Derived<Shape> {
        match with {
            SchemaOverride::Type(ty) => self.shape(ty, scope),
            SchemaOverride::Function(path) => self.schema_function(path, scope),
        }
    }

    /// `schema_with = "function"`.
    fn schema_function(&mut self, path: &ExprPath, scope: &Scope) -> Derived<Shape> {
        let span = self.cx.span(scope, path);
        let help = "let its body be one `json_schema!({ … })` literal, or use `#[schemars(with = \"Type\")]`";
        let function = self.cx.function(path, scope, None);
        self.schema_made_by(function, "this function makes a schema that is not evident", span, help)
    }

    /// The schema that a function returns; otherwise refused at the first expression that cannot be evaluated.
    fn schema_made_by(&mut self, function: Option<Function>, message: &str, span: Span, help: &str) -> Derived<Shape> {
        let made = function.map(|function| {
            let mut scope = function.scope.clone();
            if let Some(FnArg::Typed(parameter)) = function.item.sig.inputs.first()
                && let Pat::Ident(generator) = &*parameter.pat
            {
                scope.hold(&generator.ident, Value::Generator, false);
            }
            self.evaluator().if_needed(|evaluator| evaluator.body(&function.item.block, &scope, &Hint::Schema))
        });
        let place = match made {
            Some(Value::Json(schema)) if Schema::try_from(schema.clone()).is_ok() => {
                return Ok(Schema::try_from(schema).expect("tried").into());
            }
            // A type within it has no schema, for a reason of its own.
            Some(Value::Unknown(reasons)) if reasons.iter().any(|reason| reason.code != OP014) => {
                return self.cx.known(Value::Unknown(reasons)).and(Err(Reported));
            }
            Some(Value::Unknown(reasons)) => reasons.into_iter().find_map(|reason| reason.span),
            _ => None,
        };
        let (place, label) = place.unwrap_or((span, String::new()));
        self.cx.refuse(OP013.error(message).at(place, label).help(help))
    }
}

fn associated(implementation: &ItemImpl, function: &str, at: &Scope) -> Option<Function> {
    Some(Function { scope: at.clone(), item: crate::evaluate::items::function_of(implementation, function)? })
}
