//! Serializes values to JSON as serde_json and serde's `Serialize` derive do.

use serde_derive_internals::ast::{self, Data as Shape, Field, Style};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::{Ctxt, Derive};
use serde_json::{Map, Value as Json, json};
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericParam, Generics, Type, TypeParamBound, TypePath, WherePredicate};

use super::modules::name;
use super::types::{Derived, Deriver, Resolved, Scope};
use super::values::{Data, Value};
use crate::diagnostic::Diagnostic;

impl Deriver<'_> {
    /// Whether schemars can write values of the type: it asks where the derive stands, so that a type parameter of the
    /// container counts by its bounds alone (`generics`), whatever it stands for.
    pub fn serializes(&mut self, ty: &Type, scope: &Scope, generics: Option<&Generics>) -> Derived<bool> {
        if let (Some(generics), Type::Path(TypePath { qself: None, path, .. })) = (generics, ty)
            && let Some(ident) = path.get_ident()
            && generics.type_params().any(|parameter| parameter.ident == *ident)
        {
            return self.is_bound_to_serialize(ident, generics, scope);
        }
        // Arguments that stand here are seen as they stand; those of an alias are what they mean.
        let arguments = |ty: &Type| match ty {
            Type::Path(path) => match path.path.segments.last().map(|last| &last.arguments) {
                Some(syn::PathArguments::AngleBracketed(list)) => list
                    .args
                    .iter()
                    .filter_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(ty.clone()),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let resolved = self.resolved(ty, scope)?;
        let own: Vec<Type> = match &resolved {
            Resolved::Tuple(types) => match ty {
                Type::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
                _ => types.iter().map(|(ty, _)| ty.clone()).collect(),
            },
            Resolved::Array(element, ..) | Resolved::Slice(element) => vec![element.0.clone()],
            _ => arguments(ty),
        };
        if let Resolved::Data { input, scope: inner, .. } = &resolved {
            self.check_attribute_macros(input, inner)?;
        }
        if let Resolved::Data { module, input, scope: inner, .. } = &resolved
            && !self.derives(&input.attrs, "Serialize", *module)
        {
            let is_by_hand = !self.implementations("Serialize", *module, &name(&input.ident)).is_empty();
            let is_by_hand = is_by_hand
                || self.derives(&input.attrs, "Serialize_repr", *module)
                || self.is_root(*module, &name(&input.ident));
            let may_be_by_macro = self.other_derive(&input.attrs, *module).is_some()
                || self.modules.implementor(&name(&input.ident), "Serialize").is_some();
            // One of a generic type may hold for some arguments only.
            return match (is_by_hand, input.generics.type_params().next()) {
                (true, None) => Ok(true),
                (false, _) if !may_be_by_macro => Ok(false),
                _ => self.written_by_hand(&input.ident, inner),
            };
        }
        let is_phantom =
            matches!(&resolved, Resolved::Known { path, .. } if path.last().is_some_and(|last| last == "PhantomData"));
        for argument in own {
            let is_type = !matches!(argument, Type::Verbatim(_)) && !is_phantom;
            if is_type && !self.serializes_argument(&argument, scope, generics)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Arguments that are no types of values, such as a hasher or a time zone, do not count.
    fn serializes_argument(&mut self, ty: &Type, scope: &Scope, generics: Option<&Generics>) -> Derived<bool> {
        let (before, reasons) = (self.diagnostics.len(), self.reasons.len());
        match self.serializes(ty, scope, generics) {
            Ok(answer) => Ok(answer),
            Err(_) if self.diagnostics[before..].iter().all(|said| matches!(said.code, "OP010" | "OP011")) => {
                self.diagnostics.truncate(before);
                self.reasons.truncate(reasons);
                Ok(true)
            }
            Err(refused) => Err(refused),
        }
    }

    fn is_bound_to_serialize(&mut self, ident: &syn::Ident, generics: &Generics, scope: &Scope) -> Derived<bool> {
        let mut bounds: Vec<&TypeParamBound> = Vec::new();
        for parameter in &generics.params {
            if let GenericParam::Type(parameter) = parameter
                && parameter.ident == *ident
            {
                bounds.extend(&parameter.bounds);
            }
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            if let WherePredicate::Type(predicate) = predicate
                && matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident(ident))
            {
                bounds.extend(&predicate.bounds);
            }
        }
        const PLAIN: &[&str] = &[
            "Clone",
            "Copy",
            "Debug",
            "Default",
            "Deserialize",
            "DeserializeOwned",
            "Display",
            "Eq",
            "Hash",
            "JsonSchema",
            "Ord",
            "PartialEq",
            "PartialOrd",
            "Send",
            "Sized",
            "Sync",
            "Unpin",
        ];
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            let last = bound.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            if last == "Serialize" {
                return Ok(true);
            }
            if !PLAIN.contains(&last.as_str()) {
                // A trait of its own may ask for `Serialize`.
                return self.not_evident(&bound.path, scope);
            }
        }
        Ok(false)
    }

    /// A value as JSON.
    pub fn serialized(&mut self, value: Value, node: &impl Spanned, scope: &Scope) -> Derived<Json> {
        match self.known(value)? {
            Value::Unit | Value::Option(None) => Ok(Json::Null),
            Value::Bool(value) => Ok(value.into()),
            Value::Integer(number, _) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Ok(number.into()),
                (_, Ok(number)) => Ok(number.into()),
                _ => self.not_evident(node, scope),
            },
            Value::Single(number) => Ok(json!(number)),
            Value::Double(number) => Ok(json!(number)),
            Value::Char(letter) => Ok(letter.to_string().into()),
            Value::Text(text) => Ok(text.into()),
            Value::Option(Some(value)) => self.serialized(*value, node, scope),
            Value::List(_, list) => {
                let mut values = Vec::new();
                for value in list {
                    values.push(self.serialized(value, node, scope)?);
                }
                Ok(values.into())
            }
            Value::Map(_, entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    let key = match self.serialized(key, node, scope)? {
                        Json::String(key) => key,
                        Json::Number(key) => key.to_string(),
                        Json::Bool(key) => key.to_string(),
                        _ => return self.not_evident(node, scope),
                    };
                    object.insert(key, self.serialized(value, node, scope)?);
                }
                Ok(object.into())
            }
            Value::Data(data) => self.serialized_data(data),
            Value::Json(json) => Ok(json),
            Value::Unknown(_) => self.not_evident(node, scope),
        }
    }

    fn written_by_hand<T>(&mut self, ident: &syn::Ident, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ident);
        let message =
            format!("the default is a `{ident}`, which is written by code of its own, and only a compiler can run it");
        let help = "derive `Serialize`, or set the schema's default: `#[schemars(!default, extend(\"default\" = …))]`";
        self.refuse(Diagnostic::error("OP014", message).at(span, "").help(help))
    }

    fn serialized_data(&mut self, data: Data) -> Derived<Json> {
        let Data { module, input, scope, variant, fields: mut values } = data;
        let ident = &input.ident;
        if !self.derives(&input.attrs, "Serialize", module)
            || !self.implementations("Serialize", module, &name(ident)).is_empty()
        {
            return self.written_by_hand(ident, &scope);
        }
        let errors = Ctxt::new();
        let private = syn::Ident::new("__private", input.ident.span());
        let container = ast::Container::from_ast(&errors, &input, Derive::Serialize, &private);
        self.parsed(&scope, errors.check())?;
        let container = container.expect("serde gives a container or an error");
        if container.attrs.type_into().is_some() {
            return self.not_evident(ident, &scope);
        }
        match (&container.data, variant) {
            (Shape::Struct(style, fields), None) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|field| field.attrs.transparent());
                    let value = field.and_then(|field| values.remove(&key(field)));
                    return match value {
                        Some(value) => self.serialized(value, ident, &scope),
                        None => self.not_evident(ident, &scope),
                    };
                }
                let json = self.serialized_fields(*style, fields, values, &input, &scope)?;
                let name = &container.attrs.name().serialize_name().value;
                match (container.attrs.tag(), json) {
                    (TagType::External | TagType::None, json) => Ok(json),
                    (TagType::Internal { tag }, Json::Object(mut object)) => {
                        object.insert(tag.clone(), name.clone().into());
                        Ok(object.into())
                    }
                    _ => self.not_evident(ident, &scope),
                }
            }
            (Shape::Enum(variants), Some(variant)) => {
                let Some(found) = variants.iter().find(|found| super::modules::name(&found.ident) == variant) else {
                    return self.not_evident(ident, &scope);
                };
                if found.attrs.skip_serializing() || found.attrs.serialize_with().is_some() {
                    return self.not_evident(&found.ident, &scope);
                }
                let json = self.serialized_fields(found.style, &found.fields, values, &input, &scope)?;
                let name = found.attrs.name().serialize_name().value.clone();
                let is_unit = matches!(found.style, Style::Unit);
                match container.attrs.tag() {
                    _ if found.attrs.untagged() => Ok(json),
                    TagType::None => Ok(json),
                    TagType::External if is_unit => Ok(name.into()),
                    TagType::External => Ok(json!({ name: json })),
                    TagType::Adjacent { tag, .. } if is_unit => Ok(json!({ tag: name })),
                    TagType::Adjacent { tag, content } => Ok(json!({ tag: name, content: json })),
                    TagType::Internal { tag } => match json {
                        Json::Null if is_unit => Ok(json!({ tag: name })),
                        Json::Object(mut object) => {
                            object.insert(tag.clone(), name.into());
                            Ok(object.into())
                        }
                        _ => self.not_evident(&found.ident, &scope),
                    },
                }
            }
            _ => self.not_evident(ident, &scope),
        }
    }

    /// What a struct or a variant holds.
    fn serialized_fields(
        &mut self,
        style: Style,
        fields: &[Field<'_>],
        mut values: std::collections::BTreeMap<String, Value>,
        input: &DeriveInput,
        scope: &Scope,
    ) -> Derived<Json> {
        let mut object = Map::new();
        let mut list = Vec::new();
        for field in fields {
            if field.attrs.skip_serializing() {
                continue;
            }
            if field.attrs.serialize_with().is_some() {
                return self.not_evident(field.original, scope);
            }
            let Some(value) = values.remove(&key(field)) else { return self.not_evident(&input.ident, scope) };
            let value = self.known(value)?;
            if let Some(skip) = field.attrs.skip_serializing_if()
                && self.skips(skip, &value, &(field.ty.clone(), scope.clone()))?
            {
                continue;
            }
            let json = self.serialized(value, field.original, scope)?;
            match (style, json) {
                (Style::Struct, Json::Object(inner)) if field.attrs.flatten() => object.extend(inner),
                (Style::Struct, Json::Null) if field.attrs.flatten() => {}
                (Style::Struct, _) if field.attrs.flatten() => return self.not_evident(field.original, scope),
                (Style::Struct, json) => {
                    object.insert(field.attrs.name().serialize_name().value.clone(), json);
                }
                (_, json) => list.push(json),
            }
        }
        Ok(match style {
            Style::Struct => object.into(),
            Style::Newtype => list.pop().unwrap_or(Json::Null),
            Style::Tuple => list.into(),
            Style::Unit => Json::Null,
        })
    }
}

fn key(field: &Field<'_>) -> String {
    match &field.member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}
