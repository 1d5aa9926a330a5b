//! Paths, calls and struct literals → values: constants, constructors, functions and methods of the source, and the
//! constructors of std and Kubernetes.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value as Json, json};
use syn::{
    DeriveInput, Expr, ExprCall, ExprMethodCall, ExprPath, ExprStruct, FnArg, GenericArgument, Pat, ReturnType, Type,
};

use super::constants::{Function, Owner};
use super::derives;
use super::modules::{ModuleId, name};
use super::types::{Derived, Deriver, Resolved, Scope, Typed};
use super::values::{Data, Local, Value, is_pointer, range_of, same_text};

/// A struct or a variant, as what makes its values is named.
struct Constructor {
    module: ModuleId,
    input: Rc<DeriveInput>,
    scope: Scope,
    variant: Option<String>,
    fields: syn::Fields,
}

impl Constructor {
    fn data(&self, fields: BTreeMap<String, Value>) -> Value {
        Value::Data(Data {
            module: self.module,
            input: self.input.clone(),
            scope: self.scope.clone(),
            variant: self.variant.clone(),
            fields,
        })
    }
}

impl Deriver<'_> {
    pub fn path_value(&mut self, path: &ExprPath, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        if let Some(ident) = path.path.get_ident() {
            match scope.locals.get(&name(ident)).cloned() {
                Some(Local::Value(bound)) => return self.known(bound.0),
                Some(Local::Expression(value, at)) => return self.evaluate(&value, &at, expected),
                None => {}
            }
        }
        let segments: Vec<String> = path.path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let words: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let Some((at, (ty, value))) = self.const_item(path, scope) {
            return self.evaluate(&value, &at, Some(&(ty, at.clone())));
        }
        if let Some(constructor) = self.constructor(path, scope, expected)?
            && matches!(constructor.fields, syn::Fields::Unit)
        {
            return Ok(constructor.data(BTreeMap::new()));
        }
        match words[..] {
            ["None"] | [.., "Option", "None"] => Ok(Value::Option(None)),
            [.., ty, limit @ ("MAX" | "MIN")] if range_of(ty).is_some() && ty != "u128" => {
                let range = range_of(ty).expect("checked");
                Ok(Value::Integer(if limit == "MAX" { *range.end() } else { *range.start() }))
            }
            [.., "Value", "Null"] => Ok(Value::Json(Json::Null)),
            _ => self.not_evident(path, scope),
        }
    }

    pub fn struct_literal(&mut self, literal: &ExprStruct, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let path = ExprPath { attrs: Vec::new(), qself: literal.qself.clone(), path: literal.path.clone() };
        let Some(constructor) = self.constructor(&path, scope, expected)? else {
            return self.not_evident(literal, scope);
        };
        let rest = match &literal.rest {
            Some(rest) => {
                let itself = constructor.scope.generics.get("Self").cloned();
                match self.evaluate(rest, scope, itself.as_ref())? {
                    Value::Data(data) => data.fields,
                    _ => return self.not_evident(rest, scope),
                }
            }
            None => BTreeMap::new(),
        };
        let mut fields = BTreeMap::new();
        for (index, field) in constructor.fields.iter().enumerate() {
            let key = field.ident.as_ref().map_or_else(|| index.to_string(), name);
            let given = literal.fields.iter().find(|given| match &given.member {
                syn::Member::Named(ident) => name(ident) == key,
                syn::Member::Unnamed(index) => index.index.to_string() == key,
            });
            let value = match given {
                Some(given) => {
                    let ty = (field.ty.clone(), constructor.scope.clone());
                    self.evaluate_if_needed(&given.expr, scope, Some(&ty))
                }
                None => match rest.get(&key) {
                    Some(value) => value.clone(),
                    None => return self.not_evident(literal, scope),
                },
            };
            fields.insert(key, value);
        }
        Ok(constructor.data(fields))
    }

    /// What a path makes values of: a struct, or a variant of an enum.
    fn constructor(
        &mut self,
        path: &ExprPath,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Option<Constructor>> {
        let owned = match self.owner_of_all(path, scope) {
            Some(ty) => Some((ty, None)),
            None => {
                let owner = self.owner(path, scope).or_else(|| self.importing(path, scope));
                owner.map(|Owner { ty, last }| (ty, Some(last)))
            }
        };
        let Some((ty, variant)) = owned else { return Ok(None) };
        let Resolved::Data { module, input, scope: inner, .. } = self.resolved(&ty.0, &ty.1)? else {
            return Ok(None);
        };
        let fields = match (&input.data, &variant) {
            (syn::Data::Struct(data), None) => Some(data.fields.clone()),
            (syn::Data::Enum(data), Some(variant)) => {
                data.variants.iter().find(|found| name(&found.ident) == *variant).map(|found| found.fields.clone())
            }
            _ => None,
        };
        let Some(fields) = fields else { return Ok(None) };
        // `Outer { … }` does not say its arguments; what is expected does.
        let scope = match expected {
            Some((ty, at)) => match self.resolved(ty, at)? {
                Resolved::Data { input: other, scope, .. } if Rc::ptr_eq(&input, &other) => scope,
                _ => inner,
            },
            None => inner,
        };
        Ok(Some(Constructor { module, input, scope, variant, fields }))
    }

    pub fn call(&mut self, call: &ExprCall, expr: &Expr, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let Expr::Path(path) = &*call.func else { return self.not_evident(expr, scope) };
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if let Some(function) = self.function(path, scope, expected) {
            let value = self.apply(&function, &arguments, None, expr, scope, expected)?;
            return Ok(value);
        }
        if let Some(constructor) = self.constructor(path, scope, expected)? {
            if !matches!(constructor.fields, syn::Fields::Unnamed(_)) || constructor.fields.len() != arguments.len() {
                return self.not_evident(expr, scope);
            }
            let mut fields = BTreeMap::new();
            for (index, (field, value)) in constructor.fields.iter().zip(&arguments).enumerate() {
                let ty = (field.ty.clone(), constructor.scope.clone());
                fields.insert(index.to_string(), self.evaluate_if_needed(value, scope, Some(&ty)));
            }
            return Ok(constructor.data(fields));
        }
        let segments: Vec<String> = path.path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let words: Vec<&str> = segments.iter().map(String::as_str).collect();
        match (&words[..], arguments.as_slice()) {
            (["Some"] | [.., "Option", "Some"], [inner]) => {
                let ty = self.element_type(expected, 0)?;
                Ok(Value::Option(Some(Box::new(self.evaluate(inner, scope, ty.as_ref())?))))
            }
            ([.., "default"], []) => match (self.owner(path, scope), expected) {
                (Some(Owner { ty, .. }), _) if !is_default_trait(&ty) => {
                    let ty = self.or_expected(ty, expected)?;
                    self.default_of(&ty.0, &ty.1)
                }
                (_, Some((ty, at))) => self.default_of(ty, at),
                _ => self.not_evident(expr, scope),
            },
            ([.., "json_schema"], [_]) => match self.owner(path, scope) {
                Some(Owner { ty, .. }) => Ok(Value::Json(self.shape(&ty.0, &ty.1)?.schema.to_value())),
                None => self.not_evident(expr, scope),
            },
            ([.., "from_value"] | [.., "Schema", "try_from"], [json]) => {
                // Only a schema: another type could write the value in another way than it was read.
                if expected.is_some() {
                    return self.not_evident(expr, scope);
                }
                self.evaluate(json, scope, None)
            }
            ([.., "Value", "from" | "String" | "Bool"], [value]) | ([.., "to_value"], [value]) => {
                let value = self.evaluate(value, scope, None)?;
                Ok(Value::Json(self.serialized(value, expr, scope)?))
            }
            ([.., "from"], [value]) if self.owner_is_data(path, scope)? => {
                let owner = self.owner(path, scope).map(|owner| owner.ty);
                self.converted(value, expr, scope, owner.as_ref())
            }
            _ => self.known_call(path, &arguments, expr, scope, expected),
        }
    }

    fn owner_is_data(&mut self, path: &ExprPath, scope: &Scope) -> Derived<bool> {
        let Some(Owner { ty, .. }) = self.owner(path, scope) else { return Ok(false) };
        Ok(matches!(self.resolved(&ty.0, &ty.1)?, Resolved::Data { .. }))
    }

    /// A function of a type of std or Kubernetes.
    fn known_call(
        &mut self,
        path: &ExprPath,
        arguments: &[&Expr],
        expr: &Expr,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        // A type of one field, such as `Quantity("1Gi".into())`.
        if let (Some(ty), [value]) = (self.owner_of_all(path, scope), arguments)
            && let Resolved::Known { path, .. } = self.resolved(&ty.0, &ty.1)?
            && matches!(path.last().map(String::as_str), Some("Quantity" | "Wrapping" | "Reverse"))
        {
            let inner = self.element_type(expected, 0)?.filter(|_| arguments.is_empty());
            let value = self.evaluate(value, scope, inner.as_ref())?;
            return Ok(match value {
                Value::Text(text) => Value::Json(text.into()),
                value => value,
            });
        }
        let Some(Owner { ty, last: function }) = self.owner(path, scope) else { return self.not_evident(expr, scope) };
        let Resolved::Known { path, .. } = self.resolved(&ty.0, &ty.1)? else { return self.not_evident(expr, scope) };
        let ty = self.or_expected(ty, expected)?;
        let of = path.last().map(String::as_str).unwrap_or_default();
        match (of, function.as_str(), arguments) {
            ("IntOrString", "Int" | "String", [value]) => {
                let value = self.evaluate(value, scope, None)?;
                Ok(Value::Json(self.serialized(value, expr, scope)?))
            }
            ("Duration", "from_secs" | "from_millis", [value]) if path[0] == "std" => {
                match (self.evaluate(value, scope, None)?, function.as_str()) {
                    (Value::Integer(secs), "from_secs") => Ok(Value::Json(json!({ "secs": secs as u64, "nanos": 0 }))),
                    (Value::Integer(millis), _) => Ok(Value::Json(
                        json!({ "secs": (millis / 1000) as u64, "nanos": (millis % 1000 * 1_000_000) as u64 }),
                    )),
                    _ => self.not_evident(expr, scope),
                }
            }
            (_, "new" | "with_capacity", []) | (_, "with_capacity", [_]) if !is_pointer(&path) => {
                match super::values::default_of_std(&path) {
                    Some(empty @ (Value::List(_) | Value::Map(_) | Value::Text(_))) => Ok(empty),
                    _ => self.not_evident(expr, scope),
                }
            }
            (nonzero, "new", [value]) if nonzero.starts_with("NonZero") => {
                let value = self.evaluate(value, scope, None)?;
                Ok(Value::Option((value != Value::Integer(0)).then(|| Box::new(value))))
            }
            (atomic, "new", [value]) if atomic.starts_with("Atomic") => self.evaluate(value, scope, None),
            (_, "new" | "from", [value]) if is_pointer(&path) => {
                let inner = match self.resolved(&ty.0, &ty.1)? {
                    Resolved::Known { arguments, .. } => arguments.into_iter().next(),
                    _ => None,
                };
                self.evaluate(value, scope, inner.as_ref())
            }
            ("Option", "from", [value]) => {
                let inner = self.element_type(expected, 0)?;
                Ok(Value::Option(Some(Box::new(self.evaluate(value, scope, inner.as_ref())?))))
            }
            ("f32" | "f64", "from", [value]) => match self.evaluate(value, scope, None)? {
                Value::Integer(number) => Ok(Value::Float(number as f64)),
                value @ Value::Float(_) => Ok(value),
                _ => self.not_evident(expr, scope),
            },
            (_, "from" | "from_iter", [value]) => self.converted(value, expr, scope, Some(&ty)),
            _ => self.not_evident(expr, scope),
        }
    }

    /// `Vec` does not say its argument; what is expected does.
    pub fn or_expected(&mut self, ty: Typed, expected: Option<&Typed>) -> Derived<Typed> {
        let Some(expected) = expected else { return Ok(ty) };
        Ok(match (self.resolved(&ty.0, &ty.1)?, self.resolved(&expected.0, &expected.1)?) {
            (Resolved::Known { path: left, .. }, Resolved::Known { path: right, .. }) if left == right => {
                expected.clone()
            }
            (Resolved::Data { input: left, .. }, Resolved::Data { input: right, .. }) if Rc::ptr_eq(&left, &right) => {
                expected.clone()
            }
            _ => ty,
        })
    }

    /// `value.into()`, `T::from(value)`.
    fn converted(&mut self, value: &Expr, expr: &Expr, scope: &Scope, to: Option<&Typed>) -> Derived<Value> {
        let Some((ty, at)) = to else { return self.evaluate(value, scope, None) };
        match self.resolved(ty, at)? {
            Resolved::Data { module, input, scope: inner, .. } => {
                // Another derive may make conversions that are not seen.
                let is_plain = !derives::may_convert(self.modules, module, &input.attrs);
                let conversion = self.implementation("From", module, &name(&input.ident)).filter(|_| is_plain);
                let Some((at, item)) = conversion else {
                    // `T` is `From<T>`, too.
                    let value = self.evaluate(value, scope, None)?;
                    return match &value {
                        Value::Data(data) if Rc::ptr_eq(&data.input, &input) => Ok(value),
                        _ => self.not_evident(expr, scope),
                    };
                };
                match Function::in_impl(&item, "from", at, &input, &inner) {
                    Some(function) => self.apply(&function, &[value], None, expr, scope, to),
                    None => self.not_evident(expr, scope),
                }
            }
            Resolved::Known { path, .. } if is_pointer(&path) => {
                let inner = self.pointee(to)?;
                self.converted(value, expr, scope, inner.as_ref())
            }
            Resolved::Known { path, .. } if path.last().is_some_and(|last| last == "Option") => {
                let inner = self.element_type(to, 0)?;
                match self.evaluate(value, scope, None)? {
                    value @ Value::Option(_) => Ok(value),
                    _ => Ok(Value::Option(Some(Box::new(self.evaluate(value, scope, inner.as_ref())?)))),
                }
            }
            Resolved::Known { path, .. } if path.last().is_some_and(|last| last == "String") => {
                Ok(match self.evaluate(value, scope, None)? {
                    Value::Char(letter) => Value::Text(letter.to_string()),
                    value => value,
                })
            }
            // The elements of a literal list are of the type that the collection has.
            Resolved::Known { .. } if matches!(value, Expr::Array(_) | Expr::Macro(_) | Expr::Repeat(_)) => {
                self.list_as(value, scope, to)
            }
            _ => self.evaluate(value, scope, None),
        }
    }

    fn pointee(&mut self, pointer: Option<&Typed>) -> Derived<Option<Typed>> {
        let Some((ty, scope)) = pointer else { return Ok(None) };
        Ok(match self.resolved(ty, scope)? {
            Resolved::Known { arguments, .. } => arguments.into_iter().next(),
            _ => None,
        })
    }

    /// A literal list as what a collection is made from; a map is made from pairs.
    fn list_as(&mut self, list: &Expr, scope: &Scope, to: Option<&Typed>) -> Derived<Value> {
        let (key, value) = (self.element_type(to, 0)?, self.element_type(to, 1)?);
        let (Expr::Array(array), Some(key), Some(value)) = (list, key, value) else {
            return self.evaluate_unfitted_list(list, scope, to);
        };
        let mut entries = Vec::new();
        for pair in &array.elems {
            match pair {
                Expr::Tuple(pair) if pair.elems.len() == 2 => entries.push((
                    self.evaluate(&pair.elems[0], scope, Some(&key))?,
                    self.evaluate(&pair.elems[1], scope, Some(&value))?,
                )),
                _ => return self.not_evident(pair, scope),
            }
        }
        Ok(Value::Map(entries))
    }

    pub fn method_call(
        &mut self,
        call: &ExprMethodCall,
        expr: &Expr,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        let method = call.method.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (method.as_str(), arguments.as_slice()) {
            ("into", []) => return self.converted(&call.receiver, expr, scope, expected),
            ("subschema_for", []) => {
                let ty = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                    Some(GenericArgument::Type(ty)) => Some(ty),
                    _ => None,
                });
                return match ty {
                    Some(ty) => Ok(Value::Json(self.shape(ty, scope)?.schema.to_value())),
                    None => self.not_evident(expr, scope),
                };
            }
            (
                "clone" | "to_owned" | "to_vec" | "into_iter" | "iter" | "collect" | "to_value" | "as_ref" | "as_slice"
                | "cloned" | "copied",
                [],
            ) if matches!(&*call.receiver, Expr::Array(_) | Expr::Macro(_) | Expr::MethodCall(_)) => {
                return self.evaluate_unfitted_list(&call.receiver, scope, expected);
            }
            _ => {}
        }
        let receiver = self.evaluate(&call.receiver, scope, None)?;
        match (receiver, method.as_str(), arguments.as_slice()) {
            (Value::Data(data), method, arguments) => {
                if method == "clone" && arguments.is_empty() {
                    return Ok(Value::Data(data));
                }
                match self.method(&data, method) {
                    Some(function) => self.apply(&function, arguments, Some(Value::Data(data)), expr, scope, expected),
                    None => self.not_evident(expr, scope),
                }
            }
            (Value::Integer(number), "to_string", []) => Ok(Value::Text(number.to_string())),
            (Value::Bool(value), "to_string", []) => Ok(Value::Text(value.to_string())),
            (Value::Char(letter), "to_string", []) => Ok(Value::Text(letter.to_string())),
            (
                Value::Text(text),
                "to_string" | "to_owned" | "as_str" | "as_ref" | "to_lowercase" | "to_uppercase",
                [],
            ) => Ok(Value::Text(match method.as_str() {
                "to_lowercase" => text.to_lowercase(),
                "to_uppercase" => text.to_uppercase(),
                _ => text,
            })),
            (value, "clone" | "to_vec" | "into_iter" | "iter" | "collect" | "as_ref" | "copied" | "cloned", []) => {
                Ok(value)
            }
            (Value::Json(json), "to_value" | "unwrap", []) | (Value::Json(json), "expect", [_]) => {
                Ok(Value::Json(json))
            }
            (Value::Json(json), "try_into", []) if expected.is_none() => Ok(Value::Json(json)),
            (Value::Option(Some(value)), "unwrap", []) | (Value::Option(Some(value)), "expect", [_]) => Ok(*value),
            (Value::Option(value), "is_none", []) => Ok(Value::Bool(value.is_none())),
            (Value::Option(value), "is_some", []) => Ok(Value::Bool(value.is_some())),
            (Value::Text(text), "is_empty", []) => Ok(Value::Bool(text.is_empty())),
            (Value::List(list), "is_empty", []) => Ok(Value::Bool(list.is_empty())),
            (Value::Map(entries), "is_empty", []) => Ok(Value::Bool(entries.is_empty())),
            (Value::Text(text), "len", []) => Ok(Value::Integer(text.len() as i128)),
            (Value::List(list), "len", []) => Ok(Value::Integer(list.len() as i128)),
            (Value::Integer(base), "pow", [exponent]) => {
                let exponent = u32::try_from(self.integer(exponent, scope)?).ok();
                match exponent.and_then(|exponent| base.checked_pow(exponent)) {
                    Some(power) => Ok(Value::Integer(power)),
                    None => self.not_evident(expr, scope),
                }
            }
            (Value::List(list), "map", [Expr::Path(path)])
                if ["String::from", "ToString::to_string", "str::to_string", "str::to_owned", "ToOwned::to_owned"]
                    .iter()
                    .any(|known| same_text(path, &syn::parse_str::<ExprPath>(known).expect("a path")))
                    && list.iter().all(|value| matches!(value, Value::Text(_))) =>
            {
                Ok(Value::List(list))
            }
            (Value::List(list), "map", [Expr::Closure(closure)]) => {
                let [Pat::Ident(parameter)] = closure.inputs.iter().collect::<Vec<_>>()[..] else {
                    return self.not_evident(expr, scope);
                };
                let mut values = Vec::new();
                for value in list {
                    let mut inner = scope.clone();
                    inner.bind(&parameter.ident, Local::value(value, None));
                    values.push(self.evaluate(&closure.body, &inner, None)?);
                }
                Ok(Value::List(values))
            }
            _ => self.not_evident(expr, scope),
        }
    }

    /// A list before it is what is expected: what is done to it comes in between.
    fn evaluate_unfitted_list(&mut self, list: &Expr, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let element = self.element_type(expected, 0)?;
        match list {
            Expr::Array(array) => {
                let values = array.elems.iter().map(|value| self.evaluate(value, scope, element.as_ref()));
                Ok(Value::List(super::types::all(values)?))
            }
            _ => self.evaluate(list, scope, None),
        }
    }

    /// A function of the source, called.
    pub fn apply(
        &mut self,
        function: &Function,
        arguments: &[&Expr],
        receiver: Option<Value>,
        expr: &Expr,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        let mut given = arguments.iter();
        let mut values = Vec::new();
        if let Some(receiver) = receiver {
            values.push((receiver, None));
        }
        for input in function.item.sig.inputs.iter().skip(values.len()) {
            let Some(argument) = given.next() else { return self.not_evident(expr, scope) };
            let ty = function.parameter_type(input);
            values.push((self.evaluate(argument, scope, ty.as_ref())?, ty));
        }
        if given.next().is_some() {
            return self.not_evident(expr, scope);
        }
        self.applied(function, values, expr, scope, expected)
    }

    /// A function of the source, with what its parameters are.
    pub fn applied(
        &mut self,
        function: &Function,
        values: Vec<(Value, Option<Typed>)>,
        expr: &impl syn::spanned::Spanned,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        let item = &function.item;
        // A body that was skipped in reading is empty.
        let gives = matches!(item.sig.output, ReturnType::Type(..));
        if gives && item.block.stmts.is_empty() || item.sig.asyncness.is_some() || values.len() != item.sig.inputs.len()
        {
            return self.not_evident(expr, scope);
        }
        let mut inner = function.scope.clone();
        for (input, (value, ty)) in item.sig.inputs.iter().zip(values) {
            match input {
                FnArg::Receiver(_) => {
                    let itself = inner.generics.get("Self").cloned();
                    inner.bind(&quote::format_ident!("self"), Local::value(value, itself));
                }
                FnArg::Typed(typed) => {
                    let Pat::Ident(pattern) = &*typed.pat else { return self.not_evident(expr, scope) };
                    // `T` of the function is what is given for it.
                    if let (Some(parameter), Some(ty)) = (function.generic(&typed.ty), &ty) {
                        Rc::make_mut(&mut inner.generics).insert(parameter, ty.clone());
                    }
                    inner.bind(&pattern.ident, Local::value(value, ty));
                }
            }
        }
        let returned = match &item.sig.output {
            ReturnType::Type(_, ty) if !matches!(**ty, Type::ImplTrait(_)) && !is_schema(ty) => {
                Some(((**ty).clone(), inner.clone()))
            }
            _ => None,
        };
        let value = self.body(&item.block, &inner, returned.as_ref().or(expected))?;
        self.known(value)
    }
}

fn is_default_trait(ty: &Typed) -> bool {
    matches!(&ty.0, Type::Path(path) if path.qself.is_none() && path.path.segments.last().is_some_and(|last| last.ident == "Default"))
}

/// schemars' `Schema` is no type that a field has.
fn is_schema(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Schema"))
}
