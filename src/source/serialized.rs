//! Values → JSON, as serde's derive of `Serialize` writes them.

use serde_derive_internals::ast::{self, Data, Style};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::{Ctxt, Derive};
use serde_json::{Map, Value, json};
use syn::{DeriveInput, Type};

use super::attributes::derives;
use super::defaults::Fields;
use super::modules::{ModuleId, name};
use super::types::{Derived, Deriver, Resolved, Scope};
use crate::diagnostic::Span;

impl Deriver<'_> {
    /// Whether the type can be serialized; a hand-written `Serialize` is refused, since its output is not evident.
    pub fn serializes(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<bool> {
        if derives(&input.attrs, "Serialize") {
            return Ok(true);
        }
        if self.implementation("Serialize", module, &name(&input.ident)).is_some()
            || derives(&input.attrs, "Serialize_repr")
        {
            let span = self.span(scope, &input.ident);
            return self.not_evident(span);
        }
        Ok(false)
    }

    /// A unit variant as serde writes it; `span` is where it is named.
    pub fn unit_variant(
        &mut self,
        input: &DeriveInput,
        variant: &syn::Ident,
        scope: &Scope,
        span: Span,
    ) -> Derived<Value> {
        let errors = Ctxt::new();
        let private = syn::Ident::new("__private", input.ident.span());
        let container = ast::Container::from_ast(&errors, input, Derive::Serialize, &private);
        self.parsed(scope, errors.check())?;
        let container = container.expect("serde gives a container or an error");
        let found = match &container.data {
            Data::Enum(variants) => {
                variants.iter().find(|found| found.ident == *variant && matches!(found.style, Style::Unit))
            }
            Data::Struct(..) => None,
        };
        let (Some(found), None) = (found, container.attrs.type_into()) else { return self.not_evident(span) };
        if found.attrs.skip_serializing() || found.attrs.serialize_with().is_some() {
            return self.not_evident(span);
        }
        let name = found.attrs.name().serialize_name().value.clone();
        Ok(match container.attrs.tag() {
            _ if found.attrs.untagged() => Value::Null,
            TagType::External => name.into(),
            TagType::None => Value::Null,
            TagType::Internal { tag } | TagType::Adjacent { tag, .. } => json!({ tag: name }),
        })
    }

    /// A struct's value as serde writes it.
    pub fn serialized(&mut self, input: &DeriveInput, mut values: Fields, scope: &Scope) -> Derived<Value> {
        let errors = Ctxt::new();
        let private = syn::Ident::new("__private", input.ident.span());
        let container = ast::Container::from_ast(&errors, input, Derive::Serialize, &private);
        self.parsed(scope, errors.check())?;
        let container = container.expect("serde gives a container or an error");
        let span = self.span(scope, &input.ident);
        let Data::Struct(style, fields) = &container.data else { return self.not_evident(span) };
        if container.attrs.type_into().is_some() || !matches!(container.attrs.tag(), TagType::External) {
            return self.not_evident(span);
        }
        let mut object = Map::new();
        let mut list = Vec::new();
        for field in fields {
            let key = match &field.member {
                syn::Member::Named(ident) => name(ident),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            if field.attrs.skip_serializing() {
                continue;
            }
            let span = self.span(scope, field.original);
            if field.attrs.serialize_with().is_some() {
                return self.not_evident(span);
            }
            let Some(value) = values.remove(&key).flatten() else { return self.not_evident(span) };
            if let Some(skip) = field.attrs.skip_serializing_if()
                && self.skips(skip, &value, field.ty, scope)?
            {
                continue;
            }
            if container.attrs.transparent() && field.attrs.transparent() {
                return Ok(value);
            }
            match (style, value) {
                (Style::Struct, Value::Object(inner)) if field.attrs.flatten() => object.extend(inner),
                (Style::Struct, Value::Null) if field.attrs.flatten() => {}
                // A unit variant among a struct's fields becomes one of them.
                (Style::Struct, Value::String(variant))
                    if field.attrs.flatten() && self.is_enum(field.ty, scope)? =>
                {
                    object.insert(variant, Value::Null);
                }
                (Style::Struct, _) if field.attrs.flatten() => return self.not_evident(span),
                (Style::Struct, value) => {
                    object.insert(field.attrs.name().serialize_name().value.clone(), value);
                }
                (_, value) => list.push(value),
            }
        }
        Ok(match style {
            Style::Struct => object.into(),
            Style::Newtype => list.pop().unwrap_or(Value::Null),
            Style::Tuple => list.into(),
            Style::Unit => Value::Null,
        })
    }

    fn is_enum(&mut self, ty: &Type, scope: &Scope) -> Derived<bool> {
        let resolved = self.resolved(ty, scope)?;
        Ok(matches!(resolved, Resolved::Data { input, .. } if matches!(input.data, syn::Data::Enum(_))))
    }
}
