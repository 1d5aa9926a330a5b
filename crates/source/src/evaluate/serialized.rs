//! Serializes values to JSON as serde_json and serde's `Serialize` derive do.

use std::rc::Rc;

use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Data as Shape, Field, Style};
use serde_derive_internals::attr::TagType;
use serde_json::{Map, Value as Json, json};
use syn::spanned::Spanned;
use syn::{DeriveInput, Expr, ExprPath, GenericParam, Generics, Type, TypeParamBound, TypePath, WherePredicate};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope, Typed};
use super::values::{Data, Hint, Value, size_of_json};
use crate::diagnostics::OP014;
use crate::resolve::modules::name;

impl Evaluator<'_, '_> {
    /// A value as JSON.
    pub fn serialized(&mut self, value: Value, node: &impl Spanned, scope: &Scope) -> Derived<Json> {
        match self.cx.known(value)? {
            Value::Unit | Value::Option(None) => Ok(Json::Null),
            Value::Bool(value) => Ok(value.into()),
            Value::Integer(number, _) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Ok(number.into()),
                (_, Ok(number)) => Ok(number.into()),
                _ => self.cx.not_evident(node, scope),
            },
            Value::Single(number) => Ok(json!(number)),
            Value::Double(number) => Ok(json!(number)),
            Value::Char(letter) => Ok(letter.to_string().into()),
            Value::Text(text) => Ok(text.into()),
            Value::Duration(time) => Ok(json!({ "secs": time.as_secs(), "nanos": time.subsec_nanos() })),
            Value::Option(Some(value)) => self.serialized(*value, node, scope),
            Value::List(kind, list) if kind != "Reverse" => {
                let mut values = Vec::new();
                for value in list {
                    values.push(self.serialized(value, node, scope)?);
                }
                Ok(values.into())
            }
            Value::Map(_, entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    // serde_json refuses optional keys, and schemars then omits the default.
                    if has_option(&key) {
                        return self.cx.not_evident(node, scope);
                    }
                    let key = match self.serialized(key, node, scope)? {
                        Json::String(key) => key,
                        Json::Number(key) => key.to_string(),
                        Json::Bool(key) => key.to_string(),
                        _ => return self.cx.not_evident(node, scope),
                    };
                    object.insert(key, self.serialized(value, node, scope)?);
                }
                Ok(object.into())
            }
            Value::Data(data) => self.serialized_data(data),
            Value::Json(json) => {
                self.cx.steps += size_of_json(&json);
                Ok(json)
            }
            Value::List(..)
            | Value::Ordering(_)
            | Value::Function(..)
            | Value::Result(_)
            | Value::Generator
            | Value::Serializer
            | Value::Unknown(_) => self.cx.not_evident(node, scope),
        }
    }

    /// The output of the function of `serialize_with`; for `with`, that is the module's `serialize`.
    pub fn written_by_function(&mut self, function: &ExprPath, value: Value, scope: &Scope) -> Derived<Value> {
        if let Some(found) = self.cx.function(function, scope, None) {
            let written = self.applied(&found, vec![(value, None), (Value::Serializer, None)], function, scope)?;
            return match written {
                Value::Result(Some(json)) if matches!(*json, Value::Json(_)) => Ok(*json),
                _ => self.cx.not_evident(function, scope),
            };
        }
        let written = match self.cx.foreign(function, scope).join("::").as_str() {
            "humantime_serde::serialize" | "humantime_serde::option::serialize" => super::foreign::by_humantime(value),
            _ => None,
        };
        self.cx.or_not_evident(written.map(Value::Json), function, scope)
    }

    /// `serializer.serialize_str(…)` and similar methods.
    pub fn serializer_method(
        &mut self,
        method: &str,
        arguments: &[&Expr],
        expr: &Expr,
        scope: &Scope,
    ) -> Derived<Value> {
        let json = match (method, arguments) {
            ("is_human_readable", []) => return Ok(Value::Bool(true)),
            ("serialize_none" | "serialize_unit", []) => Json::Null,
            ("serialize_str", [text]) => self.text(text, scope)?.into(),
            ("collect_str", [value]) => {
                let value = self.evaluate(value, scope, &Hint::Free)?;
                let text = match &value {
                    Value::Data(_) => self.shown(&value)?,
                    value => super::format::displayed(value),
                };
                self.cx.or_not_evident(text, expr, scope)?.into()
            }
            ("serialize_some" | "serialize_bool" | "serialize_char", [value]) => self.untyped(value, scope)?,
            (method, [number]) => {
                let ty = method.strip_prefix("serialize_").and_then(|ty| match ty {
                    "f32" => Some("f32"),
                    "f64" => Some("f64"),
                    ty => super::numbers::integer_type(ty),
                });
                let ty = self.cx.or_not_evident(ty, expr, scope)?;
                let number_value = self.evaluate(number, scope, &Hint::Number(ty))?;
                self.serialized(number_value, number, scope)?
            }
            _ => return self.cx.not_evident(expr, scope),
        };
        Ok(Value::Result(Some(Box::new(Value::Json(json)))))
    }

    fn serialized_data(&mut self, data: Data) -> Derived<Json> {
        let Data { module, input, scope, variant, fields: mut values } = data;
        let ident = &input.ident;
        if let Some(variant) = &variant
            && self.cx.derives(&input.attrs, "Serialize_repr", module)
        {
            let number = self.discriminant(&input, variant, &scope)?;
            return self.cx.or_not_evident(i64::try_from(number).ok().map(Json::from), ident, &scope);
        }
        if !self.cx.derives(&input.attrs, "Serialize", module)
            || !self.cx.impls.implementations("Serialize", module, &name(ident)).is_empty()
        {
            return self.cx.written_by_hand(ident, &scope);
        }
        let input = self.cx.with_serde_with(&input, &scope);
        let container = self.cx.parsed(&scope, crate::attributes::container(&input, Derive::Serialize))?;
        if container.attrs.type_into().is_some() {
            return self.cx.not_evident(ident, &scope);
        }
        match (&container.data, variant) {
            (Shape::Struct(style, fields), None) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|field| field.attrs.transparent());
                    let field = field.filter(|field| field.attrs.serialize_with().is_none());
                    let value = field.and_then(|field| values.remove(&key(field)));
                    return match value {
                        Some(value) => self.serialized(value, ident, &scope),
                        None => self.cx.not_evident(ident, &scope),
                    };
                }
                let json = self.serialized_fields(*style, fields, values, &input, &scope)?;
                let name = &container.attrs.name().serialize_name().value;
                match (container.attrs.tag(), json) {
                    (TagType::External | TagType::None, json) => Ok(json),
                    (TagType::Internal { tag }, Json::Object(object)) => Ok(tagged(tag, name, object)),
                    _ => self.cx.not_evident(ident, &scope),
                }
            }
            (Shape::Enum(variants), Some(variant)) => {
                let Some(found) = variants.iter().find(|found| crate::resolve::modules::name(&found.ident) == variant)
                else {
                    return self.cx.not_evident(ident, &scope);
                };
                if found.attrs.skip_serializing() || found.attrs.serialize_with().is_some() {
                    return self.cx.not_evident(&found.ident, &scope);
                }
                let style = match found.style {
                    Style::Newtype if found.fields.iter().any(|field| field.attrs.skip_serializing()) => Style::Unit,
                    style => style,
                };
                let json = self.serialized_fields(style, &found.fields, values, &input, &scope)?;
                let name = found.attrs.name().serialize_name().value.clone();
                let is_unit = matches!(style, Style::Unit);
                match container.attrs.tag() {
                    _ if found.attrs.untagged() => Ok(json),
                    TagType::None => Ok(json),
                    TagType::External if is_unit => Ok(name.into()),
                    TagType::External => Ok(json!({ name: json })),
                    TagType::Adjacent { tag, .. } if is_unit => Ok(json!({ tag: name })),
                    TagType::Adjacent { tag, content } => Ok(json!({ tag: name, content: json })),
                    TagType::Internal { tag } => match json {
                        Json::Null if is_unit => Ok(json!({ tag: name })),
                        Json::Object(object) => Ok(tagged(tag, &name, object)),
                        _ => self.cx.not_evident(&found.ident, &scope),
                    },
                }
            }
            _ => self.cx.not_evident(ident, &scope),
        }
    }

    /// The JSON of the fields of a struct or variant.
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
        // serde does not check if the field of a newtype is skipped.
        let may_skip = !matches!(style, Style::Newtype);
        for field in fields.iter().filter(|_| !matches!(style, Style::Unit)) {
            if may_skip && field.attrs.skip_serializing() {
                continue;
            }
            let Some(value) = values.remove(&key(field)) else { return self.cx.not_evident(&input.ident, scope) };
            let value = self.cx.known(value)?;
            if let Some(skip) = field.attrs.skip_serializing_if().filter(|_| may_skip)
                && self.skips(skip, &value, &(field.ty.clone(), scope.clone()))?
            {
                continue;
            }
            let value = match field.attrs.serialize_with() {
                Some(function) => self.written_by_function(function, value, scope)?,
                None => value,
            };
            let json = self.serialized(value, field.original, scope)?;
            match (style, json) {
                (Style::Struct, Json::Object(inner)) if field.attrs.flatten() => object.extend(inner),
                (Style::Struct, Json::Null) if field.attrs.flatten() => {}
                (Style::Struct, _) if field.attrs.flatten() => return self.cx.not_evident(field.original, scope),
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

impl Context<'_> {
    /// `true` if schemars can serialize values of the type. It checks this in the derive's code, so that a type
    /// parameter of the container counts by its bounds alone (`generics`), not by its argument.
    pub fn serializes(&mut self, ty: &Type, scope: &Scope, generics: Option<&Generics>) -> Derived<bool> {
        if let (Some(generics), Type::Path(TypePath { qself: None, path, .. })) = (generics, ty)
            && let Some(ident) = path.get_ident()
            && generics.type_params().any(|parameter| parameter.ident == *ident)
        {
            return self.is_bound_to_serialize(ident, generics, scope);
        }
        // Bounds on `T::Item` are not considered.
        if let (Some(generics), Type::Path(TypePath { qself, path, .. })) = (generics, ty)
            && (qself.is_some() || path.segments.len() == 2)
            && generics
                .type_params()
                .any(|parameter| crate::resolve::modules::mentions(quote::quote!(#ty), &name(&parameter.ident)))
        {
            return self.not_evident(ty, scope);
        }
        let resolved = self.resolved(ty, scope)?;
        let inner: Vec<Typed> = match &resolved {
            Resolved::Tuple(types) => types.clone(),
            Resolved::Array(element, ..) | Resolved::Slice(element) => vec![(**element).clone()],
            Resolved::Known { arguments, entry, .. } => arguments.iter().take(entry.parameters()).cloned().collect(),
            Resolved::Data { arguments, .. } => arguments.clone(),
        };
        if let Resolved::Data { input, scope: inner, .. } = &resolved {
            self.check_attribute_macros(input, inner)?;
        }
        if let Resolved::Data { module, input, scope: inner, .. } = &resolved
            && !self.derives(&input.attrs, "Serialize", *module)
        {
            let is_by_hand = !self.impls.implementations("Serialize", *module, &name(&input.ident)).is_empty();
            let is_by_hand = is_by_hand
                || self.derives(&input.attrs, "Serialize_repr", *module)
                || self.is_root(*module, &name(&input.ident));
            let may_be_by_macro = self.other_derive(&input.attrs, *module).is_some()
                || self.modules.implementor(&name(&input.ident), "Serialize").is_some();
            // An `impl` for a generic type may hold for some arguments only.
            return match (is_by_hand, input.generics.type_params().next()) {
                (true, None) => Ok(true),
                (false, _) if !may_be_by_macro => Ok(false),
                _ => self.written_by_hand(&input.ident, inner),
            };
        }
        for mut argument in inner {
            // The parameter of an alias is bound to its argument, which may be a parameter of the container.
            while !Rc::ptr_eq(&argument.1.generics, &scope.generics)
                && let Type::Path(TypePath { qself: None, path, .. }) = &argument.0
                && let Some(given) = path.get_ident().and_then(|ident| argument.1.generics.get(&name(ident)))
            {
                argument = given.clone();
            }
            let (ty, at) = argument;
            let generics = generics.filter(|_| Rc::ptr_eq(&at.generics, &scope.generics));
            if !matches!(ty, Type::Verbatim(_)) && !self.serializes(&ty, &at, generics)? {
                return Ok(false);
            }
        }
        Ok(true)
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
                // A trait in the source may have `Serialize` as a supertrait.
                return self.not_evident(&bound.path, scope);
            }
        }
        Ok(false)
    }

    fn written_by_hand<T>(&mut self, ident: &syn::Ident, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ident);
        let message =
            format!("the default is a `{ident}`, which is written by code of its own, and only a compiler can run it");
        let help = "derive `Serialize`, or set the schema's default: `#[schemars(!default, extend(\"default\" = …))]`";
        self.refuse(OP014.error(message).at(span, "").help(help))
    }
}

fn has_option(value: &Value) -> bool {
    match value {
        Value::Option(_) => true,
        Value::Data(data) => data.fields.values().any(has_option),
        _ => false,
    }
}

/// The tag is first, so a field of the same name replaces it.
fn tagged(tag: &str, name: &str, fields: Map<String, Json>) -> Json {
    let mut object = Map::from_iter([(tag.to_string(), name.into())]);
    object.extend(fields);
    object.into()
}

fn key(field: &Field<'_>) -> String {
    match &field.member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}
