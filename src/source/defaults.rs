//! What `Default` gives, the values that `#[serde(default)]` fills in, and whether `skip_serializing_if` keeps them.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use syn::{DeriveInput, ExprPath, ImplItem, Type};

use super::constants::Function;
use super::modules::{ModuleId, name};
use super::types::{Derived, Deriver, Resolved, Scope, Typed, all};
use super::values::{Data, Value, default_of_std, is_pointer};
use crate::diagnostic::Diagnostic;

impl Deriver<'_> {
    /// The value that the function at `path` returns.
    pub fn made_by(&mut self, path: &ExprPath, ty: &Typed, scope: &Scope) -> Derived<Value> {
        self.evaluate(&syn::parse_quote!(#path()), scope, Some(ty))
    }

    /// The fields of a value of the type that `scope` is in.
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

    /// `T::default()`.
    pub fn default_of(&mut self, ty: &Type, scope: &Scope) -> Derived<Value> {
        match self.resolved(ty, scope)? {
            Resolved::Known { path, entry, arguments } => {
                // Smart pointers have the default of what they point to.
                if let ([(inner, scope), ..], true) = (arguments.as_slice(), is_pointer(&path)) {
                    return self.default_of(inner, scope);
                }
                let value = default_of_std(&path).or_else(|| entry.default_value().map(Value::Json));
                value.map_or_else(|| self.not_evident(ty, scope), Ok)
            }
            Resolved::Tuple(types) if types.is_empty() => Ok(Value::Unit),
            Resolved::Tuple(types) => Ok(Value::List(all(types.iter().map(|(ty, scope)| self.default_of(ty, scope)))?)),
            Resolved::Array(element, length) => {
                let value = self.default_of(&element.0, &element.1)?;
                self.repeated(value, &length, &element.1)
            }
            Resolved::Slice(_) => Ok(Value::List(Vec::new())),
            Resolved::Data { module, input, scope, .. } => {
                // serde calls `<T>::default()`: a function of the type itself goes before the trait's.
                if self.has_own_default(module, &name(&input.ident)) {
                    return self.not_evident(&input.ident, &scope);
                }
                if !self.derives(&input.attrs, "Default", module) {
                    let implementation = self.implementation("Default", module, &name(&input.ident));
                    let function =
                        implementation.and_then(|(at, item)| Function::in_impl(&item, "default", at, &input, &scope));
                    return match function {
                        Some(function) => {
                            let itself = scope.generics.get("Self").cloned();
                            let value = self.applied(&function, Vec::new(), &input.ident, &scope, itself.as_ref())?;
                            match &value {
                                Value::Data(data) if std::rc::Rc::ptr_eq(&data.input, &input) => Ok(value),
                                _ => self.not_evident(&input.ident, &scope),
                            }
                        }
                        None => self.not_evident(&input.ident, &scope),
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
                let Some(fields) = fields else { return self.not_evident(&input.ident, &scope) };
                let fields = fields.iter().enumerate().map(|(index, field)| {
                    let value = self.if_needed(|deriver| deriver.default_of(&field.ty, &scope));
                    (field.ident.as_ref().map_or_else(|| index.to_string(), name), value)
                });
                let fields = fields.collect();
                Ok(Value::Data(Data { module, input, scope, variant, fields }))
            }
        }
    }

    fn has_own_default(&mut self, module: ModuleId, type_name: &str) -> bool {
        let inherent = self.implementations("", module, type_name);
        let mut items = inherent.iter().flat_map(|(_, item)| &item.items);
        items.any(|item| matches!(item, ImplItem::Fn(function) if function.sig.ident == "default"))
            || self.modules.implementor(type_name, "default").is_some()
    }

    /// The default of a container, by its fields: `#[serde(default)]`.
    pub fn default_fields(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<BTreeMap<String, Value>> {
        let itself = self.itself(input, scope);
        let value = self.default_of(&itself.0, &itself.1)?;
        self.fields_of(value, &input.ident, scope)
    }

    /// The same, of a container that says `#[serde(default = "path")]`.
    pub fn fields_made_by(
        &mut self,
        path: &ExprPath,
        input: &DeriveInput,
        scope: &Scope,
    ) -> Derived<BTreeMap<String, Value>> {
        let itself = self.itself(input, scope);
        let value = self.made_by(path, &itself, scope)?;
        self.fields_of(value, path, scope)
    }

    fn itself(&self, input: &DeriveInput, scope: &Scope) -> Typed {
        let ident = &input.ident;
        scope.generics.get("Self").cloned().unwrap_or_else(|| (syn::parse_quote!(#ident), scope.clone()))
    }

    /// The JSON of a field's default; `None`: it is skipped, or schemars sees no `Serialize` for its type.
    pub fn default_json(
        &mut self,
        value: Value,
        ty: &Typed,
        skip: Option<&ExprPath>,
        generics: &syn::Generics,
        node: &impl syn::spanned::Spanned,
    ) -> Derived<Option<Json>> {
        if !self.serializes(&ty.0, &ty.1, Some(generics))? {
            return Ok(None);
        }
        let value = self.known(value)?;
        if let Some(skip) = skip
            && self.skips(skip, &value, ty)?
        {
            return Ok(None);
        }
        self.serialized(value, node, &ty.1).map(Some)
    }

    /// Whether a `skip_serializing_if` function is true of a value.
    pub fn skips(&mut self, function: &ExprPath, value: &Value, ty: &Typed) -> Derived<bool> {
        let scope = &ty.1;
        if let Some(found) = self.function(function, scope, None) {
            let argument = (value.clone(), Some(ty.clone()));
            if let Value::Bool(skips) = self.applied(&found, vec![argument], function, scope, None)? {
                return Ok(skips);
            }
        }
        let last = function.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
        match (last.as_str(), value) {
            ("is_none", Value::Option(value)) => return Ok(value.is_none()),
            ("is_some", Value::Option(value)) => return Ok(value.is_some()),
            ("is_empty", Value::Text(text)) => return Ok(text.is_empty()),
            ("is_empty", Value::List(list)) => return Ok(list.is_empty()),
            ("is_empty", Value::Map(entries)) => return Ok(entries.is_empty()),
            ("not", Value::Bool(value)) => return Ok(!value),
            _ => {}
        }
        let span = self.span(scope, function);
        self.refuse(
            Diagnostic::error("OP014", "whether the default is skipped is not evident from the source")
                .at(span, "")
                .help("use `Option::is_none`, `Vec::is_empty`, or a function that is one comparison"),
        )
    }
}
