//! Paths, calls and struct literals → values: constants, constructors, functions and methods of the source, and the
//! constructors of std and Kubernetes.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value as Json;
use syn::{
    DeriveInput, Expr, ExprCall, ExprMethodCall, ExprPath, ExprStruct, FnArg, GenericArgument, Pat, ReturnType, Type,
};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope, Typed, all};
use super::items::{Function, Owner};
use super::numbers::{integer_type, range_of};
use super::values::{Data, Hint, Local, Value, has_attributes, is_pointer};
use crate::known::Entry;
use crate::resolve::modules::{ModuleId, name};
use crate::resolve::shadows::OF_ANY;

/// A struct or variant, by its constructor.
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

impl Evaluator<'_, '_> {
    pub fn path_value(&mut self, path: &ExprPath, scope: &Scope, hint: &Hint) -> Derived<Value> {
        if let Some(ident) = path.path.get_ident() {
            match scope.locals.get(&name(ident)).cloned() {
                Some(Local::Value { value, .. }) => return self.cx.known((*value).clone()),
                Some(Local::Constant(value, at, ty)) => return self.evaluate(&value, &at, &Hint::exactly(*ty)),
                // Another use may determine its type.
                Some(Local::Waiting(value, at, evaluated)) => {
                    let value = self.evaluate(&value, &at, hint.unless_free())?;
                    evaluated.set(true);
                    return Ok(value);
                }
                Some(Local::Closure(..)) => return Ok(function_value(path, scope)),
                Some(Local::Open | Local::Formatter(_)) => return self.cx.not_evident(path, scope),
                None => {}
            }
        }
        if let Some((at, (ty, value))) = self.cx.const_item(path, scope) {
            if has_attributes(quote::ToTokens::to_token_stream(&value)) {
                return self.cx.not_evident(&value, &at);
            }
            return match self.cx.made_lazily(&ty, &value, &at) {
                Some((ty, function)) => self.called(&function, Vec::new(), &at, &Hint::exactly((ty, at.clone()))),
                None => self.evaluate(&value, &at, &Hint::exactly((ty, at.clone()))),
            };
        }
        if let Some(constructor) = self.cx.constructor(path, scope, hint)?
            && matches!(constructor.fields, syn::Fields::Unit)
        {
            return Ok(constructor.data(BTreeMap::new()));
        }
        if let Some(Owner { ty, last }) = self.cx.owner(path, scope)
            && let Some(Resolved::Known { path: of, .. }) = self.cx.meaning(&ty)?
        {
            if let Some(value) = super::foreign::constant(&of, &last) {
                return Ok(value);
            }
            let number = of.last().filter(|_| of.len() == 1).and_then(|of| integer_type(of));
            match (of.last().map(String::as_str), last.as_str(), number) {
                (Some("Option"), "None", _) => return Ok(Value::Option(None)),
                (_, limit @ ("MAX" | "MIN"), Some(ty)) if !matches!((ty, limit), ("u128", "MAX")) => {
                    let range = range_of(ty).expect("an integer");
                    return Ok(Value::Integer(if limit == "MAX" { *range.end() } else { *range.start() }, ty));
                }
                (_, "BITS", Some(ty)) => {
                    let bits = if ty.ends_with("size") { Some(64) } else { ty[1..].parse().ok() };
                    return self.cx.or_not_evident(bits.map(|bits| Value::Integer(bits, "u32")), path, scope);
                }
                (Some("f64"), constant, _) => {
                    let value = match constant {
                        "MAX" => f64::MAX,
                        "MIN" => f64::MIN,
                        "EPSILON" => f64::EPSILON,
                        "INFINITY" => f64::INFINITY,
                        "NEG_INFINITY" => f64::NEG_INFINITY,
                        "NAN" => f64::NAN,
                        _ => return self.cx.not_evident(path, scope),
                    };
                    return Ok(Value::Double(value));
                }
                (Some("Duration"), "ZERO", _) if of[0] == "std" => return Ok(Value::Duration(Default::default())),
                (Some("Ordering"), order, _) if of[0] == "std" => {
                    let order = match order {
                        "Less" => std::cmp::Ordering::Less,
                        "Equal" => std::cmp::Ordering::Equal,
                        "Greater" => std::cmp::Ordering::Greater,
                        _ => return self.cx.not_evident(path, scope),
                    };
                    return Ok(Value::Ordering(order));
                }
                (Some(address @ ("Ipv4Addr" | "Ipv6Addr")), constant, _) if of[0] == "std" => {
                    use std::net::{Ipv4Addr, Ipv6Addr};
                    let address = match (address, constant) {
                        ("Ipv4Addr", "LOCALHOST") => Ipv4Addr::LOCALHOST.to_string(),
                        ("Ipv4Addr", "UNSPECIFIED") => Ipv4Addr::UNSPECIFIED.to_string(),
                        ("Ipv6Addr", "LOCALHOST") => Ipv6Addr::LOCALHOST.to_string(),
                        ("Ipv6Addr", "UNSPECIFIED") => Ipv6Addr::UNSPECIFIED.to_string(),
                        _ => return self.cx.not_evident(path, scope),
                    };
                    return Ok(Value::Json(address.into()));
                }
                _ => {}
            }
        }
        if self.cx.function(path, scope, None).is_some() {
            return Ok(function_value(path, scope));
        }
        let foreign = self.cx.foreign(path, scope);
        match foreign.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["std", "f64", "consts", "PI"] => Ok(Value::Double(std::f64::consts::PI)),
            ["std", "f64", "consts", "E"] => Ok(Value::Double(std::f64::consts::E)),
            ["serde_json", "Value", "Null"] => Ok(Value::Json(Json::Null)),
            _ if path.path.is_ident("None") && !self.cx.is_item(path, scope) => Ok(Value::Option(None)),
            _ => self.cx.not_evident(path, scope),
        }
    }

    pub fn struct_literal(&mut self, literal: &ExprStruct, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let path = ExprPath { attrs: Vec::new(), qself: literal.qself.clone(), path: literal.path.clone() };
        let Some(constructor) = self.cx.constructor(&path, scope, hint)? else {
            return self.kubernetes_literal(literal, &path, scope);
        };
        let rest = match &literal.rest {
            Some(rest) => {
                let itself = constructor.scope.generics.get("Self").cloned();
                match self.evaluate(rest, scope, &Hint::of(itself.as_ref()))? {
                    Value::Data(data) => data.fields,
                    _ => return self.cx.not_evident(rest, scope),
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
                    self.evaluate_if_needed(&given.expr, scope, &Hint::exactly(ty))?
                }
                None => match rest.get(&key) {
                    Some(value) => value.clone(),
                    None => return self.cx.not_evident(literal, scope),
                },
            };
            fields.insert(key, value);
        }
        Ok(constructor.data(fields))
    }

    /// `LabelSelector { match_labels: Some(…), ..Default::default() }`; `None` is not serialized.
    fn kubernetes_literal(&mut self, literal: &ExprStruct, path: &ExprPath, scope: &Scope) -> Derived<Value> {
        let known = match self.cx.owner_of_all(path, scope) {
            Some(ty) => self.cx.meaning(&ty)?.map(|known| (ty, known)),
            None => None,
        };
        let Some((ty, Resolved::Known { entry: Entry::Kubernetes(entry), .. })) = known else {
            return self.cx.not_evident(literal, scope);
        };
        let mut object = match &literal.rest {
            Some(rest) => match self.evaluate(rest, scope, &Hint::exactly(ty))? {
                Value::Json(Json::Object(object)) => object,
                _ => return self.cx.not_evident(rest, scope),
            },
            None => Default::default(),
        };
        for given in &literal.fields {
            let syn::Member::Named(ident) = &given.member else { return self.cx.not_evident(literal, scope) };
            let field = entry.field(&name(ident));
            let (property, required, ty) = self.cx.or_not_evident(field, given, scope)?;
            let ty = ty.and_then(|ty| syn::parse_str::<Type>(&ty).ok()).map(|ty| (ty, scope.clone()));
            let ty = ty.filter(|ty| self.cx.quietly(|cx| cx.meaning(ty)).is_ok());
            let value = match (required, ty) {
                (true, ty) => self.evaluate(&given.expr, scope, &Hint::of(ty.as_ref()))?,
                (false, Some((ty, at))) => {
                    let option = syn::parse_quote!(::std::option::Option<#ty>);
                    self.evaluate(&given.expr, scope, &Hint::exactly((option, at)))?
                }
                (false, None) => self.evaluate(&given.expr, scope, &Hint::Unknown)?,
            };
            match (required, value) {
                (false, Value::Option(None)) => _ = object.remove(property),
                (false, Value::Option(Some(value))) => {
                    _ = object.insert(property.into(), self.serialized(*value, given, scope)?);
                }
                (true, value) if !matches!(value, Value::Option(_)) => {
                    _ = object.insert(property.into(), self.serialized(value, given, scope)?);
                }
                _ => return self.cx.not_evident(given, scope),
            }
        }
        Ok(Value::Json(object.into()))
    }

    pub fn call(&mut self, call: &ExprCall, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let path = match super::numbers::without_parens(&call.func) {
            Expr::Path(path) => path,
            Expr::Closure(closure) if call.args.is_empty() => {
                return self.closure_value(closure, Vec::new(), scope, hint.unless_free());
            }
            function => {
                let values = all(call.args.iter().map(|value| self.evaluate(value, scope, &Hint::Unknown)))?;
                return self.called(function, values, scope, hint.unless_free());
            }
        };
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match path.path.get_ident().and_then(|ident| scope.locals.get(&name(ident))).cloned() {
            Some(Local::Closure(closure, at)) => {
                let parameters = closure.inputs.iter().map(|parameter| match parameter {
                    Pat::Type(typed) => Hint::exactly(((*typed.ty).clone(), at.clone())),
                    _ => Hint::Unknown,
                });
                let values = arguments.iter().zip(parameters).map(|(value, hint)| self.evaluate(value, scope, &hint));
                let values = all(values)?;
                return self.closure_value(&closure, values, &at, hint.unless_free());
            }
            // A function that is bound to a local.
            Some(Local::Value { .. }) => {
                let values = all(arguments.iter().map(|value| self.evaluate(value, scope, &Hint::Unknown)))?;
                return self.called(&call.func, values, scope, hint.unless_free());
            }
            Some(_) => return self.cx.not_evident(expr, scope),
            None => {}
        }
        if let Some(function) = self.cx.function(path, scope, hint.ty()) {
            return self.apply(&function, &arguments, None, expr, scope);
        }
        if let Some(constructor) = self.cx.constructor(path, scope, hint)? {
            if !matches!(constructor.fields, syn::Fields::Unnamed(_)) || constructor.fields.len() != arguments.len() {
                return self.cx.not_evident(expr, scope);
            }
            let mut fields = BTreeMap::new();
            for (index, (field, value)) in constructor.fields.iter().zip(&arguments).enumerate() {
                let ty = (field.ty.clone(), constructor.scope.clone());
                fields.insert(index.to_string(), self.evaluate_if_needed(value, scope, &Hint::exactly(ty))?);
            }
            return Ok(constructor.data(fields));
        }
        if let [inner] = arguments[..]
            && self.cx.is_option_some(path, scope)
        {
            let inner_hint = self.cx.element(hint, 0)?;
            return Ok(Value::Option(Some(Box::new(self.evaluate(inner, scope, &inner_hint)?))));
        }
        if let [inner] = arguments[..]
            && let Some(variant) = self.cx.result_variant(path, scope)
        {
            let is_ok = variant == "Ok";
            let inner_hint = self.cx.element(hint, if is_ok { 0 } else { 1 })?;
            let value = self.evaluate(inner, scope, &inner_hint)?;
            return Ok(Value::Result(is_ok.then(|| Box::new(value))));
        }
        let foreign = self.cx.foreign(path, scope);
        let foreign: Vec<&str> = foreign.iter().map(String::as_str).collect();
        match (&foreign[..], arguments.as_slice()) {
            (["std", "cmp", function @ ("max" | "min")], [left, right]) => {
                let both = syn::ExprBinary {
                    attrs: Vec::new(),
                    left: Box::new((*left).clone()),
                    op: syn::BinOp::Lt(Default::default()),
                    right: Box::new((*right).clone()),
                };
                let (left, right) = self.operands(&both, scope, hint.unless_free())?;
                let order = self.cx.ordered(&left, &right);
                let order = self.cx.or_not_evident(order, expr, scope)?;
                return Ok(if order.is_gt() == (*function == "max") { left } else { right });
            }
            (["jiff", "civil", function @ ("date" | "time")], _) => {
                let civil = ["jiff", "civil"].map(String::from);
                let value = super::foreign::foreign_call(self, &civil, function, &arguments, scope)?;
                return self.cx.or_not_evident(value, expr, scope);
            }
            (["std", "str", "from_utf8"], [_]) => {
                let value = super::texts::text_made(self, "str", "from_utf8", &arguments, scope)?;
                return self.cx.or_not_evident(value, expr, scope);
            }
            (["std", "cmp", "Reverse"], [value]) => {
                return Ok(Value::List("Reverse", vec![self.evaluate(value, scope, &Hint::Free)?]));
            }
            (["std", "array", "from_fn"], [function]) => {
                let Some(Resolved::Array(element, length)) = hint.ty().map_or(Ok(None), |ty| self.cx.meaning(ty))?
                else {
                    return self.cx.not_evident(expr, scope);
                };
                let length = usize::try_from(self.integer(&length, &element.1, "usize")?).unwrap_or(usize::MAX);
                if length > super::values::MAX_SIZE {
                    return self.cx.not_evident(expr, scope);
                }
                let values = (0..length).map(|index| {
                    let index = Value::Integer(index as i128, "usize");
                    self.called(function, vec![index], scope, &Hint::exactly((*element).clone()))
                });
                return Ok(Value::List("array", values.collect::<Derived<_>>()?));
            }
            (["std", "iter", "successors"], [first, function]) => {
                let Value::Option(mut next) = self.evaluate(first, scope, &Hint::Unknown)? else {
                    return self.cx.not_evident(expr, scope);
                };
                let mut list = Vec::new();
                while let Some(value) = next {
                    list.push((*value).clone());
                    next = match self.called(function, vec![*value], scope, &Hint::Unknown)? {
                        Value::Option(next) => next,
                        _ => return self.cx.not_evident(expr, scope),
                    };
                }
                return Ok(Value::List("iterator", list));
            }
            (["std", "iter", "once"], [value]) => {
                let element = self.cx.element(hint, 0)?;
                return Ok(Value::List("iterator", vec![self.evaluate(value, scope, &element)?]));
            }
            (["std", "iter", "empty"], []) => return Ok(Value::List("iterator", Vec::new())),
            (["std", "iter", "repeat_n"], [value, count]) => {
                let element = self.cx.element(hint, 0)?;
                let value = self.evaluate(value, scope, &element)?;
                return match self.repeated(value, count, scope)? {
                    Value::List(_, list) => Ok(Value::List("iterator", list)),
                    _ => self.cx.not_evident(expr, scope),
                };
            }
            (["schemars", "Schema", "default"], []) => return Ok(Value::Json(Json::Object(Default::default()))),
            (["serde_json", "from_value"] | ["schemars", "Schema", "try_from"], [json]) => {
                // Only for a schema: another type could serialize the value in another form than it was parsed from.
                if !matches!(hint, Hint::Schema) {
                    return self.cx.not_evident(expr, scope);
                }
                return self.evaluate(json, scope, hint);
            }
            (["serde_json", "Value", "from" | "String" | "Bool"] | ["serde_json", "to_value"], [value]) => {
                let hint = if foreign.last() == Some(&"String") { Hint::Text } else { Hint::Free };
                let value = self.evaluate(value, scope, &hint)?;
                return Ok(Value::Json(self.serialized(value, expr, scope)?));
            }
            _ => {}
        }
        let owner = self.cx.owner(path, scope);
        let function = path.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
        match (function.as_str(), arguments.as_slice(), owner) {
            ("default", [], Some(Owner { ty, .. })) if !is_default_trait(&ty) => {
                let ty = self.cx.or_expected(ty, hint.ty())?;
                self.default_of(&ty.0, &ty.1)
            }
            ("default", [], _) if is_default(path) && !self.cx.is_item_of_type("Default", scope) => match hint.ty() {
                Some((ty, at)) if !self.cx.shadows.is_own_trait("Default", scope.module) => self.default_of(ty, at),
                _ => self.cx.not_evident(expr, scope),
            },
            ("json_schema", [generator], Some(Owner { ty, .. })) => {
                self.generator(generator, scope)?;
                Ok(Value::Json(self.schemas.schema_of(self.cx, &ty.0, &ty.1)?))
            }
            ("serialize", [value, serializer], owner) if self.is_serializer(serializer, scope) => {
                let value = self.evaluate(value, scope, &Hint::Free)?;
                let json = match (owner, &foreign[..]) {
                    (Some(_), _) | (None, ["serde", .., "Serialize", "serialize"]) => {
                        self.serialized(value, expr, scope)?
                    }
                    (None, _) => {
                        let written = self.written_by_function(path, value, scope)?;
                        self.serialized(written, expr, scope)?
                    }
                };
                Ok(Value::Result(Some(Box::new(Value::Json(json)))))
            }
            ("from", [value], Some(Owner { ty, .. })) if self.cx.is_data(&ty)? => {
                self.converted(value, expr, scope, &Hint::exactly(ty))
            }
            _ => self.known_call(path, &arguments, expr, scope, hint),
        }
    }

    /// A call of a function of a type of std or Kubernetes.
    fn known_call(
        &mut self,
        path: &ExprPath,
        arguments: &[&Expr],
        expr: &Expr,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Value> {
        // A tuple struct with one field: `Quantity("1Gi".into())`.
        if let (Some(ty), [value]) = (self.cx.owner_of_all(path, scope), arguments)
            && let Some(Resolved::Known { path, .. }) = self.cx.meaning(&ty)?
            && path.last().is_some_and(|last| last == "Quantity")
        {
            return Ok(Value::Json(self.text(value, scope)?.into()));
        }
        let Some(Owner { ty, last: function }) = self.cx.owner(path, scope) else {
            return self.cx.not_evident(expr, scope);
        };
        let ty = self.cx.or_expected(ty, hint.ty())?;
        let Some(Resolved::Known { path, arguments: of_type, .. }) = self.cx.meaning(&ty)? else {
            return self.cx.not_evident(expr, scope);
        };
        if let Some(value) = super::foreign::foreign_call(self, &path, &function, arguments, scope)? {
            return Ok(value);
        }
        let of = path.last().map(String::as_str).unwrap_or_default();
        match (of, function.as_str(), arguments) {
            ("IntOrString", "Int", [value]) => Ok(Value::Json(
                self.integer(value, scope, "i32")?.to_string().parse().map_or(Json::Null, |number: i64| number.into()),
            )),
            ("IntOrString", "String", [value]) => Ok(Value::Json(self.text(value, scope)?.into())),
            (
                "Duration",
                "from_secs" | "from_millis" | "from_micros" | "from_nanos" | "from_mins" | "from_hours",
                [value],
            ) if path[0] == "std" => {
                let count = u64::try_from(self.integer(value, scope, "u64")?).ok();
                let time = count.and_then(|count| {
                    Some(match function.as_str() {
                        "from_secs" => Duration::from_secs(count),
                        "from_millis" => Duration::from_millis(count),
                        "from_micros" => Duration::from_micros(count),
                        "from_nanos" => Duration::from_nanos(count),
                        "from_mins" => Duration::from_secs(count.checked_mul(60)?),
                        _ => Duration::from_secs(count.checked_mul(3600)?),
                    })
                });
                self.cx.or_not_evident(time.map(Value::Duration), expr, scope)
            }
            ("Duration", "new", [secs, nanos]) if path[0] == "std" => {
                let secs = u64::try_from(self.integer(secs, scope, "u64")?).ok();
                let nanos = u32::try_from(self.integer(nanos, scope, "u32")?).ok();
                let time = secs.zip(nanos).filter(|(_, nanos)| *nanos < 1_000_000_000);
                self.cx.or_not_evident(
                    time.map(|(secs, nanos)| Value::Duration(Duration::new(secs, nanos))),
                    expr,
                    scope,
                )
            }
            ("Cow", "Owned" | "Borrowed", [value]) => self.evaluate(value, scope, &Hint::Unknown),
            ("IpAddr", "V4" | "V6", [value]) if path[0] == "std" => self.evaluate(value, scope, &Hint::Unknown),
            ("Ipv4Addr", "new", [_, _, _, _]) if path[0] == "std" => {
                let bytes = all(arguments.iter().map(|byte| self.integer(byte, scope, "u8")))?;
                let bytes: Vec<String> = bytes.iter().map(i128::to_string).collect();
                Ok(Value::Json(bytes.join(".").into()))
            }
            (_, "from_digit" | "from_u32" | "from_utf8" | "from_utf8_lossy" | "from_str_radix", _)
            | ("char", "from", _) => {
                let value = super::texts::text_made(self, of, &function, arguments, scope)?;
                self.cx.or_not_evident(value, expr, scope)
            }
            (_, "new", []) | (_, "with_capacity", [_]) if !is_pointer(&path) => {
                match super::values::default_of_std(&path) {
                    Some(empty @ (Value::List(..) | Value::Map(..) | Value::Text(_))) => Ok(empty),
                    _ => self.cx.not_evident(expr, scope),
                }
            }
            (nonzero, "new", [value]) if nonzero.starts_with("NonZero") => {
                let ty = integer_type(&nonzero["NonZero".len()..].to_lowercase());
                let ty = self.cx.or_not_evident(ty, expr, scope)?;
                let number = self.integer(value, scope, ty)?;
                Ok(Value::Option((number != 0).then(|| Box::new(Value::Integer(number, ty)))))
            }
            // `Wrapping` and `Reverse` have their own arithmetic and order.
            (pointer, "new", [value]) if is_pointer(&path) && !matches!(pointer, "Wrapping" | "Reverse" | "Cow") => {
                self.evaluate(value, scope, &Hint::of(of_type.first()))
            }
            // `Vec` without arguments does not determine its elements; the expected type may.
            (_, "from" | "from_iter", [value]) if of_type.is_empty() && hint.ty().is_none() => {
                let source = match (of.ends_with("Map"), hint) {
                    (false, Hint::List(_)) => hint.clone(),
                    _ => Hint::Unknown,
                };
                let made = match self.evaluate(value, scope, &source) {
                    Ok(Value::List("array", list)) if super::conversions::collection(of, Vec::new()).is_some() => {
                        super::conversions::collection(of, list)
                    }
                    Ok(_) => return self.converted(value, expr, scope, &Hint::exactly(ty)),
                    Err(refused) => return Err(refused),
                };
                self.cx.or_not_evident(made, expr, scope)
            }
            (_, "from", [value]) => self.converted(value, expr, scope, &Hint::exactly(ty)),
            (number, "try_from", [value]) if path.len() == 1 && integer_type(number).is_some() => {
                let to = integer_type(number).unwrap_or_default();
                match self.evaluate(value, scope, &Hint::Free)? {
                    Value::Integer(value, _) if !matches!(to, "i128" | "u128") => {
                        Ok(Value::Result(super::numbers::in_range(value, to).map(Box::new)))
                    }
                    _ => self.cx.not_evident(expr, scope),
                }
            }
            // `u64::pow(2, 3)` is `2u64.pow(3)`.
            (own, method, [receiver, rest @ ..])
                if path.len() == 1 && integer_type(own).is_some() || WITH_METHODS.contains(&own) =>
            {
                let receiver = self.evaluate(receiver, scope, &Hint::exactly(ty))?;
                let method = quote::format_ident!("{method}");
                let ident = quote::format_ident!("__receiver");
                let mut inner = scope.clone();
                inner.hold(&ident, receiver, false);
                self.evaluate(&syn::parse_quote!(#ident.#method(#(#rest),*)), &inner, hint)
            }
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// A call of a method in the source, or of a known one of std.
    pub fn method_call(&mut self, call: &ExprMethodCall, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let method = call.method.to_string();
        let is_of_any = OF_ANY.contains(&method.as_str());
        if self.cx.shadows.may_be_of_own_trait(&method, scope.module)
            || is_of_any && self.cx.shadows.is_own_method(&method, scope.module)
        {
            return self.cx.not_evident(expr, scope);
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let given = call.turbofish.as_ref().and_then(|list| match list.args.first() {
            Some(GenericArgument::Type(ty)) => Some((ty.clone(), scope.clone())),
            _ => None,
        });
        let of_receiver = match (method.as_str(), arguments.as_slice()) {
            ("into", []) => return self.converted(&call.receiver, expr, scope, hint),
            ("collect", []) => return self.collected(call, expr, scope, hint, given),
            ("subschema_for", []) => {
                self.generator(&call.receiver, scope)?;
                return match given {
                    Some((ty, _)) => Ok(Value::Json(self.schemas.schema_of(self.cx, &ty, scope)?)),
                    None => self.cx.not_evident(expr, scope),
                };
            }
            ("clone" | "to_owned", []) => hint.clone(),
            ("max" | "min", [_]) => hint.unless_free().clone(),
            ("unwrap_or", [_]) | ("unwrap_or_default", []) => Hint::List(Box::new(hint.unless_free().clone())),
            ("unwrap", []) | ("expect", [_]) if matches!(hint, Hint::Schema) => Hint::Schema,
            ("unwrap", []) | ("expect", [_]) => Hint::List(Box::new(hint.unless_free().clone())),
            ("iter" | "into_iter" | "to_vec" | "cloned" | "copied" | "rev", []) | ("skip" | "take" | "chain", [_]) => {
                Hint::List(Box::new(self.cx.element(hint, 0)?))
            }
            ("ok" | "flatten", []) if matches!(hint, Hint::Type(_) | Hint::List(_)) => {
                Hint::List(Box::new(match method.as_str() {
                    "ok" => self.cx.element(hint, 0)?,
                    _ => Hint::List(Box::new(self.cx.element(hint, 0)?)),
                }))
            }
            ("or" | "or_else" | "xor" | "map_err", [_]) => Hint::List(Box::new(self.cx.element(hint, 0)?)),
            ("unwrap_or_else", [_]) => Hint::List(Box::new(hint.unless_free().clone())),
            ("filter" | "step_by" | "take_while" | "skip_while", [_]) => {
                Hint::List(Box::new(self.cx.element(hint, 0)?))
            }
            ("sum" | "product", []) => {
                Hint::List(Box::new(given.clone().map_or_else(|| hint.unless_free().clone(), Hint::exactly)))
            }
            _ if super::numbers::is_untyped(&call.receiver) => Hint::Free,
            _ => Hint::Unknown,
        };
        let receiver = self.evaluate(&call.receiver, scope, &of_receiver)?;
        let value = match (receiver, method.as_str(), arguments.as_slice()) {
            (Value::Serializer, method, arguments) => return self.serializer_method(method, arguments, expr, scope),
            (value, "serialize", [serializer]) if self.is_serializer(serializer, scope) => {
                let json = self.serialized(value, expr, scope)?;
                Some(Value::Result(Some(Box::new(Value::Json(json)))))
            }
            (value, "clone", []) => self.cx.clones(&value).then_some(value),
            // On a type parameter, only methods of traits can be called, independent of its argument.
            (Value::Data(data), method, arguments) if !scope.has_parameters() || is_self(&call.receiver) => {
                return match self.cx.method(&data, method) {
                    Some(function) => self.apply(&function, arguments, Some(Value::Data(data)), expr, scope),
                    None if method == "to_string" && arguments.is_empty() => {
                        let text = self.shown(&Value::Data(data))?;
                        self.cx.or_not_evident(text.map(Value::Text), expr, scope)
                    }
                    None => self.cx.not_evident(expr, scope),
                };
            }
            // Of values that serialize as a string, only paths have `join`.
            (Value::Json(Json::String(base)), "join", [part]) => {
                let part = match self.evaluate(part, scope, &Hint::Text)? {
                    Value::Text(part) | Value::Json(Json::String(part)) => Some(part),
                    _ => None,
                };
                let joined = part.map(|part| std::path::Path::new(&base).join(part));
                joined.and_then(|path| path.to_str().map(|path| Value::Json(path.into())))
            }
            (Value::Json(Json::String(span)), unit, [count]) if super::foreign::UNITS.contains(&unit) => {
                let count = i64::try_from(self.integer(count, scope, "i64")?).ok();
                count.and_then(|count| super::foreign::with_unit(&span, unit, count))
            }
            (Value::Text(text), "to_owned" | "as_str" | "into_owned", []) => Some(Value::Text(text)),
            // `char::to_uppercase` displays as the resulting characters.
            (Value::List("iterator", list), "to_string", []) => {
                super::methods::concatenated_texts(list).map(Value::Text)
            }
            (value, "to_string", []) => super::format::displayed(&value).map(Value::Text),
            (Value::Json(json), "to_value" | "unwrap", []) | (Value::Json(json), "expect", [_]) => {
                Some(Value::Json(json))
            }
            (Value::Json(json), "try_into", []) if matches!(hint, Hint::Schema) => Some(Value::Json(json)),
            (Value::Option(Some(value)), "unwrap", []) | (Value::Option(Some(value)), "expect", [_]) => Some(*value),
            (Value::Option(value), "unwrap_or", [other]) => {
                let other = self.evaluate(other, scope, hint.unless_free())?;
                Some(value.map_or(other, |value| *value))
            }
            (Value::Option(value), "is_none", []) => Some(Value::Bool(value.is_none())),
            (Value::Option(value), "is_some", []) => Some(Value::Bool(value.is_some())),
            (Value::Text(text), "trim", []) => Some(Value::Text(text.trim().into())),
            // The case of other characters may change with the version of std.
            (Value::Text(text), "to_lowercase" | "to_ascii_lowercase", []) if text.is_ascii() => {
                Some(Value::Text(text.to_ascii_lowercase()))
            }
            (Value::Text(text), "to_uppercase" | "to_ascii_uppercase", []) if text.is_ascii() => {
                Some(Value::Text(text.to_ascii_uppercase()))
            }
            (Value::List("array" | "Vec", list), "join", [separator]) => {
                let separator = self.text(separator, scope)?;
                let texts = list.into_iter().map(|value| match value {
                    Value::Text(text) => Some(text),
                    _ => None,
                });
                texts.collect::<Option<Vec<String>>>().map(|texts| Value::Text(texts.join(&separator)))
            }
            (Value::Text(text), "is_empty", []) => Some(Value::Bool(text.is_empty())),
            (Value::Text(text), "len", []) => Some(Value::Integer(text.len() as i128, "usize")),
            (Value::List(kind, list), "is_empty", []) if is_sequence(kind) => Some(Value::Bool(list.is_empty())),
            (Value::List(kind, list), "len", []) if is_sequence(kind) => {
                Some(Value::Integer(list.len() as i128, "usize"))
            }
            (Value::Map(_, entries), "is_empty", []) => Some(Value::Bool(entries.is_empty())),
            (Value::Integer(base, ty), "pow", [exponent]) => {
                let exponent = u32::try_from(self.integer(exponent, scope, "u32")?).ok();
                let power = exponent.and_then(|exponent| base.checked_pow(exponent));
                power.and_then(|power| super::numbers::in_range(power, ty))
            }
            (one @ Value::Integer(..), "max" | "min", [other]) => {
                let other = self.evaluate(other, scope, &Hint::like(&one))?;
                match (one, other) {
                    (Value::Integer(one, of), Value::Integer(other, same)) => super::numbers::common(of, same)
                        .map(|ty| Value::Integer(if method == "max" { one.max(other) } else { one.min(other) }, ty)),
                    _ => None,
                }
            }
            (
                one @ (Value::Integer(..)
                | Value::Text(_)
                | Value::Char(_)
                | Value::Bool(_)
                | Value::Duration(_)
                | Value::Option(_)
                | Value::List("array" | "tuple" | "Vec", _)),
                "cmp" | "partial_cmp" | "max" | "min",
                [other],
            ) => {
                let other = self.evaluate(other, scope, &Hint::like(&one))?;
                super::conversions::order(&one, &other).map(|order| match method.as_str() {
                    "cmp" => Value::Ordering(order),
                    "partial_cmp" => Value::Option(Some(Box::new(Value::Ordering(order)))),
                    "max" if order.is_gt() => one,
                    "max" => other,
                    _ if order.is_gt() => other,
                    _ => one,
                })
            }
            (Value::Double(one), "partial_cmp", [other]) => match self.evaluate(other, scope, &Hint::Number("f64"))? {
                Value::Double(other) => {
                    Some(Value::Option(one.partial_cmp(&other).map(|order| Box::new(Value::Ordering(order)))))
                }
                _ => None,
            },
            (value @ Value::List("array" | "Vec", _), "to_vec", []) => match (self.cx.clones(&value), value) {
                (true, Value::List(_, list)) => Some(Value::List("Vec", list)),
                _ => None,
            },
            (Value::List(kind, list), "iter" | "into_iter", []) if kind != "tuple" => {
                Some(Value::List("iterator", list))
            }
            (value @ Value::List("iterator", _), "cloned" | "copied", []) => self.cx.clones(&value).then_some(value),
            (Value::List("iterator", list), "rev", []) => {
                Some(Value::List("iterator", list.into_iter().rev().collect()))
            }
            (Value::List("iterator", list), "skip" | "take", [count]) => {
                let count = usize::try_from(self.integer(count, scope, "usize")?).unwrap_or_default();
                let list = list.into_iter();
                let kept = if method == "skip" { list.skip(count).collect() } else { list.take(count).collect() };
                Some(Value::List("iterator", kept))
            }
            (Value::List("iterator", mut list), "chain", [more]) => {
                let elements = Hint::List(Box::new(self.cx.element(hint, 0)?));
                match self.evaluate(more, scope, &elements)? {
                    Value::List("array" | "Vec" | "iterator", more) => list.extend(more),
                    _ => return self.cx.not_evident(expr, scope),
                }
                Some(Value::List("iterator", list))
            }
            (Value::List(kind @ ("iterator" | "array"), list), "map", [function]) => {
                let element = self.cx.element(hint, 0)?;
                let values = list.into_iter().map(|value| self.called(function, vec![value], scope, &element));
                Some(Value::List(kind, values.collect::<Derived<_>>()?))
            }
            (receiver, method, arguments) => {
                return super::methods::method_of_std(self, receiver, method, arguments, call, scope, hint);
            }
        };
        self.cx.or_not_evident(value, expr, scope)
    }

    /// Refuses an expression other than the function's own generator: another generator may have other settings.
    fn generator(&mut self, expr: &Expr, scope: &Scope) -> Derived<()> {
        // A name counts no step: a type such as PodTemplateSpec has thousands of these calls.
        if scope.holds_generator(expr) {
            return Ok(());
        }
        match self.evaluate(expr, scope, &Hint::Unknown)? {
            Value::Generator => Ok(()),
            _ => self.cx.not_evident(expr, scope),
        }
    }

    fn is_serializer(&mut self, expr: &Expr, scope: &Scope) -> bool {
        let value = self.if_needed(|evaluator| evaluator.evaluate(expr, scope, &Hint::Unknown));
        matches!(value, Value::Serializer)
    }

    /// Calls a function in the source.
    pub fn apply(
        &mut self,
        function: &Function,
        arguments: &[&Expr],
        receiver: Option<Value>,
        expr: &Expr,
        scope: &Scope,
    ) -> Derived<Value> {
        let mut given = arguments.iter();
        let mut values = Vec::new();
        if let Some(receiver) = receiver {
            values.push((receiver, None));
        }
        for input in function.item.sig.inputs.iter().skip(values.len()) {
            let Some(argument) = given.next() else { return self.cx.not_evident(expr, scope) };
            let ty = function.parameter_type(input);
            values.push((self.evaluate(argument, scope, &Hint::of(ty.as_ref()))?, ty));
        }
        if given.next().is_some() {
            return self.cx.not_evident(expr, scope);
        }
        self.applied(function, values, expr, scope)
    }

    /// Calls a function in the source with these values as its parameters.
    pub fn applied(
        &mut self,
        function: &Function,
        values: Vec<(Value, Option<Typed>)>,
        expr: &impl syn::spanned::Spanned,
        scope: &Scope,
    ) -> Derived<Value> {
        let item = &function.item;
        // A body that was skipped in reading is empty.
        if item.block.stmts.is_empty()
            || item.sig.asyncness.is_some()
            || values.len() != item.sig.inputs.len()
            || !item.attrs.iter().all(changes_nothing)
        {
            return self.cx.not_evident(expr, scope);
        }
        let mut inner = function.scope.clone();
        let writes = values.iter().any(|(value, _)| matches!(value, Value::Serializer));
        for (input, (value, ty)) in item.sig.inputs.iter().zip(values) {
            match input {
                FnArg::Receiver(receiver) => {
                    let mutable = receiver.mutability.is_some() && matches!(receiver.kind, syn::ReceiverKind::Value);
                    if mentions_mut(receiver) && !mutable {
                        return self.cx.not_evident(expr, scope);
                    }
                    inner.hold(&quote::format_ident!("self"), value, mutable);
                }
                FnArg::Typed(typed) => {
                    let pattern = match &*typed.pat {
                        Pat::Ident(pattern) => pattern,
                        Pat::Wild(_) => continue,
                        _ => return self.cx.not_evident(expr, scope),
                    };
                    let is_changed = mentions_mut(&*typed.ty) && !matches!(value, Value::Generator);
                    if pattern.by_ref.is_some() || pattern.subpat.is_some() || is_changed {
                        return self.cx.not_evident(expr, scope);
                    }
                    // The argument determines the type parameter `T` of the function.
                    if let (Some(parameter), Some(ty)) = (function.generic(&typed.ty), &ty) {
                        Rc::make_mut(&mut inner.generics).insert(parameter, ty.clone());
                    }
                    inner.hold(&pattern.ident, value, pattern.mutability.is_some());
                }
            }
        }
        let returned = match &item.sig.output {
            // `Result<S::Ok, S::Error>` gives no information.
            _ if writes => Hint::Unknown,
            ReturnType::Type(_, ty) if is_schema(ty) => Hint::Schema,
            ReturnType::Type(_, ty) if is_plain_result(ty) => Hint::Unknown,
            ReturnType::Type(_, ty) => Hint::exactly(((**ty).clone(), inner.clone())),
            ReturnType::Default => Hint::Unknown,
        };
        let value = self.body(&item.block, &inner, &returned)?;
        self.cx.known(value)
    }
}

impl Context<'_> {
    /// The type and the function of `LazyLock::new(function)`, whose value is used through `Deref`.
    fn made_lazily(&self, ty: &Type, value: &Expr, scope: &Scope) -> Option<(Type, Expr)> {
        let path = self.foreign_type(ty, scope)?;
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_lazy = matches!(
            path[..],
            ["std", "sync", "LazyLock"] | ["std", "cell", "LazyCell"] | ["once_cell", "sync" | "unsync", "Lazy"]
        );
        let (Type::Path(ty), Expr::Call(call), true) = (ty, value, is_lazy) else { return None };
        let syn::PathArguments::AngleBracketed(arguments) = &ty.path.segments.last()?.arguments else { return None };
        let (Some(GenericArgument::Type(inner)), Expr::Path(new)) = (arguments.args.first(), &*call.func) else {
            return None;
        };
        let is_new = new.path.segments.last().is_some_and(|last| last.ident == "new") && call.args.len() == 1;
        is_new.then(|| (inner.clone(), call.args[0].clone()))
    }

    /// `true` if a path is `Some` of std.
    pub fn is_option_some(&mut self, path: &ExprPath, scope: &Scope) -> bool {
        if path.path.is_ident("Some") {
            return !self.is_item(path, scope);
        }
        match self.owner(path, scope) {
            Some(Owner { ty, last }) if last == "Some" => {
                matches!(self.meaning(&ty), Ok(Some(Resolved::Known { path, .. })) if path.last().is_some_and(|last| last == "Option"))
            }
            _ => false,
        }
    }

    /// The variant of std's `Result` that a path names.
    pub fn result_variant(&mut self, path: &ExprPath, scope: &Scope) -> Option<&'static str> {
        let variant = ["Ok", "Err"].into_iter().find(|variant| path.path.is_ident(variant))?;
        (!self.is_item(path, scope)).then_some(variant)
    }

    /// `true` if a value is of the struct or variant that a path in a pattern names.
    pub fn is_variant(&mut self, path: &ExprPath, data: &Data, scope: &Scope) -> Derived<bool> {
        match self.constructor(path, scope, &Hint::Unknown)? {
            Some(constructor) if Rc::ptr_eq(&constructor.input, &data.input) => Ok(constructor.variant == data.variant),
            _ => self.not_evident(path, scope),
        }
    }

    /// The struct or variant that a path constructs.
    fn constructor(&mut self, path: &ExprPath, scope: &Scope, hint: &Hint) -> Derived<Option<Constructor>> {
        let owned = match self.owner_of_all(path, scope) {
            Some(ty) => Some((ty, None)),
            None => {
                let owner = self.owner(path, scope).or_else(|| self.importing(path, scope));
                owner.map(|Owner { ty, last }| (ty, Some(last)))
            }
        };
        let Some((ty, variant)) = owned else { return Ok(None) };
        let Some(Resolved::Data { module, input, scope: inner, .. }) = self.meaning(&ty)? else { return Ok(None) };
        let fields = match (&input.data, &variant) {
            (syn::Data::Struct(data), None) => Some(data.fields.clone()),
            (syn::Data::Enum(data), Some(variant)) => {
                data.variants.iter().find(|found| name(&found.ident) == *variant).map(|found| found.fields.clone())
            }
            _ => None,
        };
        let Some(fields) = fields else { return Ok(None) };
        // `Outer { … }` does not specify its type arguments; the expected type does.
        let expected = match hint.ty() {
            Some(ty) => self.meaning(ty)?,
            None => None,
        };
        let mut scope = match expected {
            Some(Resolved::Data { input: other, scope, .. }) if Rc::ptr_eq(&input, &other) => scope,
            _ => inner,
        };
        scope.leave_open(&input.generics);
        Ok(Some(Constructor { module, input, scope, variant, fields }))
    }

    fn is_data(&mut self, ty: &Typed) -> Derived<bool> {
        Ok(matches!(self.meaning(ty)?, Some(Resolved::Data { .. })))
    }

    /// `Vec` does not specify its argument; the expected type does.
    pub fn or_expected(&mut self, ty: Typed, expected: Option<&Typed>) -> Derived<Typed> {
        let Some(expected) = expected else { return Ok(ty) };
        if matches!(ty.0, Type::Infer(_)) {
            return Ok(expected.clone());
        }
        Ok(match (self.meaning(&ty)?, self.meaning(expected)?) {
            (Some(Resolved::Known { path: left, arguments, .. }), Some(Resolved::Known { path: right, .. }))
                if left == right && arguments.is_empty() =>
            {
                expected.clone()
            }
            (Some(Resolved::Data { input: left, arguments, .. }), Some(Resolved::Data { input: right, .. }))
                if Rc::ptr_eq(&left, &right) && arguments.is_empty() =>
            {
                expected.clone()
            }
            _ => ty,
        })
    }
}

/// Types whose functions with a receiver are evaluated as methods.
const WITH_METHODS: [&str; 8] = ["bool", "char", "f32", "f64", "str", "Option", "String", "Vec"];

fn function_value(path: &ExprPath, scope: &Scope) -> Value {
    Value::Function(Box::new(Expr::Path(path.clone())), scope.clone())
}

fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

/// `true` for `&mut T`, a type that contains one, and `mut self`.
fn mentions_mut(ty: &impl quote::ToTokens) -> bool {
    crate::resolve::modules::mentions(ty.to_token_stream(), "mut")
}

/// `true` if an attribute of a function does not change it; `cfg` was evaluated when the function was read.
pub fn changes_nothing(attribute: &syn::Attribute) -> bool {
    const INERT: [&str; 12] = [
        "allow",
        "cfg",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "inline",
        "must_use",
        "track_caller",
        "warn",
    ];
    attribute.path().segments.first().is_some_and(|first| {
        INERT.iter().any(|inert| first.ident == inert) || first.ident == "rustfmt" || first.ident == "clippy"
    })
}

fn is_sequence(kind: &str) -> bool {
    !matches!(kind, "tuple" | "iterator")
}

/// `true` for `Default::default`.
fn is_default(path: &ExprPath) -> bool {
    let mut segments = path.path.segments.iter().rev().skip(1);
    segments.next().is_some_and(|of| of.ident == "Default")
}

fn is_default_trait(ty: &Typed) -> bool {
    matches!(&ty.0, Type::Path(path) if path.qself.is_none() && path.path.segments.last().is_some_and(|last| last.ident == "Default"))
}

/// `true` for `fmt::Result`, or another alias without type arguments.
fn is_plain_result(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Result" && last.arguments.is_none())
}

/// schemars' `Schema` is not a type of fields.
fn is_schema(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Schema"))
}
