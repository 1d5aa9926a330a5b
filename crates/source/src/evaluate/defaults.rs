//! Results of `Default`, the values that `#[serde(default)]` fills in, and the evaluation of `skip_serializing_if`.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use syn::{DeriveInput, ExprPath, ImplItem, Type};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope, Typed, all};
use super::items::{Function, Owner};
use super::values::{Data, Hint, Value, default_of_std, is_pointer};
use crate::diagnostics::OP014;
use crate::resolve::modules::{ModuleId, name};

impl Evaluator<'_, '_> {
    /// The value that the function at `path` returns.
    pub fn made_by(&mut self, path: &ExprPath, ty: &Typed, scope: &Scope) -> Derived<Value> {
        self.evaluate(&syn::parse_quote!(#path()), scope, &Hint::exactly(ty.clone()))
    }

    /// `T::default()`.
    pub fn default_of(&mut self, ty: &Type, scope: &Scope) -> Derived<Value> {
        let typed = (ty.clone(), scope.clone());
        let Some(resolved) = self.cx.meaning(&typed)? else { return self.cx.not_evident(ty, scope) };
        match resolved {
            Resolved::Known { path, entry, arguments } => {
                // Smart pointers have the default of their target.
                if let ([(inner, scope), ..], true) = (arguments.as_slice(), is_pointer(&path)) {
                    return self.default_of(inner, scope);
                }
                let value = default_of_std(&path).or_else(|| entry.default_value().map(Value::Json));
                let value = value.or_else(|| super::foreign::default_of(self.cx, &path, &arguments));
                value.map_or_else(|| self.cx.not_evident(ty, scope), Ok)
            }
            Resolved::Tuple(types) if types.is_empty() => Ok(Value::Unit),
            Resolved::Tuple(types) => {
                Ok(Value::List("tuple", all(types.iter().map(|(ty, scope)| self.default_of(ty, scope)))?))
            }
            Resolved::Array(element, length) => {
                let value = self.default_of(&element.0, &element.1)?;
                self.repeated(value, &length, &element.1)
            }
            Resolved::Slice(_) => Ok(Value::List("array", Vec::new())),
            Resolved::Data { module, input, scope, .. } => {
                // serde calls `<T>::default()`: an inherent function takes precedence over the trait's.
                let is_own = self.cx.shadows.is_own_trait("Default", module);
                if is_own || self.cx.has_own_default(module, &name(&input.ident)) {
                    return self.cx.not_evident(&input.ident, &scope);
                }
                if !self.cx.derives(&input.attrs, "Default", module) {
                    let implementation = self.cx.impls.implementation("Default", module, &name(&input.ident));
                    let function =
                        implementation.and_then(|(at, item)| Function::in_impl(&item, "default", at, &input, &scope));
                    return match function {
                        Some(function) => {
                            let value = self.applied(&function, Vec::new(), &input.ident, &scope)?;
                            match &value {
                                Value::Data(data) if std::rc::Rc::ptr_eq(&data.input, &input) => Ok(value),
                                _ => self.cx.not_evident(&input.ident, &scope),
                            }
                        }
                        None => self.cx.not_evident(&input.ident, &scope),
                    };
                }
                let (variant, fields) = match &input.data {
                    syn::Data::Struct(data) => (None, Some(&data.fields)),
                    syn::Data::Enum(data) => {
                        let mut variants = data.variants.iter();
                        let chosen =
                            variants.find(|variant| variant.attrs.iter().any(|found| found.path().is_ident("default")));
                        (chosen.map(|chosen| name(&chosen.ident)), chosen.map(|chosen| &chosen.fields))
                    }
                    syn::Data::Union(_) => (None, None),
                };
                let Some(fields) = fields else { return self.cx.not_evident(&input.ident, &scope) };
                let fields = all(fields.iter().enumerate().map(|(index, field)| {
                    let mut value = self.if_needed(|evaluator| evaluator.default_of(&field.ty, &scope));
                    if matches!(value, Value::Unknown(_)) {
                        let makes = self.cx.default_function(&(field.ty.clone(), scope.clone()))?;
                        value = if self.cx.panics.may_panic(makes) { self.cx.known(value)? } else { value };
                    }
                    Ok((field.ident.as_ref().map_or_else(|| index.to_string(), name), value))
                }))?;
                let fields = fields.into_iter().collect();
                Ok(Value::Data(Data { module, input, scope, variant, fields }))
            }
        }
    }

    /// The default of a container, by its fields: `#[serde(default)]`.
    pub fn default_fields(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<BTreeMap<String, Value>> {
        let itself = self.cx.itself(input, scope);
        let value = self.default_of(&itself.0, &itself.1)?;
        self.cx.fields_of(value, &input.ident, scope)
    }

    /// The default of a container with `#[serde(default = "path")]`, by its fields.
    pub fn fields_made_by(
        &mut self,
        path: &ExprPath,
        input: &DeriveInput,
        scope: &Scope,
    ) -> Derived<BTreeMap<String, Value>> {
        let itself = self.cx.itself(input, scope);
        let value = self.made_by(path, &itself, scope)?;
        self.cx.fields_of(value, path, scope)
    }

    /// The JSON of a field's default; `None` if it is skipped, or schemars sees no `Serialize` for its type.
    pub fn default_json(
        &mut self,
        value: Value,
        ty: &Typed,
        skip: Option<&ExprPath>,
        generics: &syn::Generics,
        node: &impl syn::spanned::Spanned,
    ) -> Derived<Option<Json>> {
        if !self.cx.serializes(&ty.0, &ty.1, Some(generics))? {
            return Ok(None);
        }
        let value = self.cx.known(value)?;
        if let Some(skip) = skip
            && self.skips(skip, &value, ty)?
        {
            return Ok(None);
        }
        self.serialized(value, node, &ty.1).map(Some)
    }

    /// `true` if a `skip_serializing_if` function returns `true` for a value.
    pub fn skips(&mut self, function: &ExprPath, value: &Value, ty: &Typed) -> Derived<bool> {
        let scope = &ty.1;
        let skips = match self.cx.function(function, scope, None) {
            Some(found) => {
                let argument = (value.clone(), Some(ty.clone()));
                match self.applied(&found, vec![argument], function, scope)? {
                    Value::Bool(skips) => Some(skips),
                    _ => None,
                }
            }
            None => self.cx.skips_by_std(function, value, scope)?,
        };
        if let Some(skips) = skips {
            return Ok(skips);
        }
        let span = self.cx.span(scope, function);
        self.cx.refuse(
            OP014
                .error("whether the default is skipped is not evident from the source")
                .at(span, "")
                .help("use `Option::is_none`, `Vec::is_empty`, or a function that is one comparison"),
        )
    }
}

impl Context<'_> {
    /// The fields of a value of the type that is `Self` in `scope`.
    pub fn fields_of(
        &mut self,
        value: Value,
        node: &impl syn::spanned::Spanned,
        scope: &Scope,
    ) -> Derived<BTreeMap<String, Value>> {
        match value {
            Value::Data(data) => Ok(data.fields),
            _ => self.not_evident(node, scope),
        }
    }

    /// The code of `Default` for a type of the source.
    pub fn default_function(&mut self, ty: &Typed) -> Derived<proc_macro2::TokenStream> {
        let Some(Resolved::Data { module, input, .. }) = self.meaning(ty)? else { return Ok(Default::default()) };
        let implementation = self.impls.implementation("Default", module, &name(&input.ident));
        let function = implementation.and_then(|(_, item)| super::items::function_of(&item, "default"));
        Ok(function.map(|function| quote::ToTokens::to_token_stream(&function.block)).unwrap_or_default())
    }

    fn has_own_default(&mut self, module: ModuleId, type_name: &str) -> bool {
        let inherent = self.impls.implementations("", module, type_name);
        let mut items = inherent.iter().flat_map(|(_, item)| &item.items);
        items.any(|item| matches!(item, ImplItem::Fn(function) if function.sig.ident == "default"))
            || self.modules.implementor(type_name, "default").is_some()
    }

    fn itself(&self, input: &DeriveInput, scope: &Scope) -> Typed {
        let ident = &input.ident;
        scope.generics.get("Self").cloned().unwrap_or_else(|| (syn::parse_quote!(#ident), scope.clone()))
    }

    /// `Option::is_none`, `Vec::is_empty`, `std::ops::Not::not` and similar functions.
    fn skips_by_std(&mut self, function: &ExprPath, value: &Value, scope: &Scope) -> Derived<Option<bool>> {
        let path = self.foreign(function, scope);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        if let (["std", "ops", "Not", "not"], Value::Bool(value)) = (path.as_slice(), value) {
            return Ok(Some(!value));
        }
        let Some(Owner { ty, last: method }) = self.owner(function, scope) else { return Ok(None) };
        let of = match self.meaning(&ty)? {
            Some(Resolved::Known { path, .. }) => path.last().cloned().unwrap_or_default(),
            Some(Resolved::Slice(_)) => "array".into(),
            _ => return Ok(None),
        };
        Ok(match (of.as_str(), method.as_str(), value) {
            ("Option", "is_none", Value::Option(value)) => Some(value.is_none()),
            ("Option", "is_some", Value::Option(value)) => Some(value.is_some()),
            ("String" | "str" | "SmolStr", "is_empty", Value::Text(text)) => Some(text.is_empty()),
            (of, "is_empty", Value::List(kind, list)) if *kind == of || of == "array" => Some(list.is_empty()),
            (of, "is_empty", Value::Map(kind, entries)) if *kind == of => Some(entries.is_empty()),
            _ => None,
        })
    }
}
