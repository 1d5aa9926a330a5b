//! Mistakes in attributes that a derive refuses. They are collected, because a derive reports all of them at once.

use std::cell::RefCell;

use proc_macro2::Span;
use syn::spanned::Spanned;

use super::names::{self, Level};
use crate::diagnostics::{OP004, OP008, OP009};
use opctl_model::diagnostic::Code;

/// A mistake in an attribute.
pub struct Problem {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    pub code: &'static Code,
}

#[derive(Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    fn push(&self, code: &'static Code, node: &impl Spanned, message: impl Into<String>, help: Option<String>) {
        self.0.borrow_mut().push(Problem { span: node.span(), message: message.into(), help, code });
    }

    /// Reports an attribute that a derive refuses.
    pub fn add(&self, node: &impl Spanned, message: impl Into<String>, help: Option<String>) {
        self.push(OP004, node, message, help);
    }

    /// Reports an attribute that no derive or tool has.
    pub fn unknown_name(&self, node: &impl Spanned, message: impl Into<String>, help: Option<String>) {
        self.push(OP008, node, message, help);
    }

    /// Warns of an attribute that compiles but has no effect.
    pub fn warn(&self, node: &impl Spanned, message: impl Into<String>, help: Option<String>) {
        self.push(OP009, node, message, help);
    }

    /// Reports text that cannot be parsed.
    pub fn syntax(&self, errors: syn::Error) {
        for error in errors {
            self.add(&error.span(), format!("this attribute is not understood: {error}"), None);
        }
    }

    /// Reports errors of serde's own parser. Errors about the whole type are reported at its name, errors without a
    /// span at the next one of `incomplete`.
    pub fn serde(&self, errors: syn::Error, input: &syn::DeriveInput, incomplete: &[Span]) {
        let whole = input.span().byte_range();
        let mut incomplete = incomplete.iter();
        for error in errors {
            let span = match error.span().byte_range() {
                range if range == whole => input.ident.span(),
                range if range.is_empty() => incomplete.next().copied().unwrap_or(input.ident.span()),
                _ => error.span(),
            };
            let message = error.to_string();
            let unknown = |(what, place)| {
                let name = message.strip_prefix(&format!("unknown serde {what} attribute `"))?.strip_suffix('`')?;
                Some(names::help("serde", name, place))
            };
            let places = [("container", Level::Container), ("variant", Level::Variant), ("field", Level::Field)];
            match places.into_iter().find_map(unknown) {
                Some(help) => self.add(&span, message, help),
                None => self.add(&span, format!("serde rejects this attribute: {message}"), None),
            }
        }
    }

    pub fn into_vec(self) -> Vec<Problem> {
        self.0.into_inner()
    }
}
