//! Values of Rust, expected types of expressions, and simple expressions.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use serde_json::Value as Json;
use syn::spanned::Spanned;
use syn::{BinOp, DeriveInput, Expr, ExprClosure, ExprPath, Pat, Type, UnOp};

use super::Evaluator;
use super::context::{Context, Derived, Reported, Resolved, Scope, Typed, all};
use super::numbers::common;
use crate::diagnostics::OP014;
use crate::resolve::modules::{ModuleId, name};
use opctl_model::diagnostic::Diagnostic;

/// A value of Rust. References and smart pointers are transparent.
#[derive(Clone, Debug)]
pub enum Value {
    Unit,
    Bool(bool),
    /// With the name of its type.
    Integer(i128, &'static str),
    Single(f32),
    Double(f64),
    Char(char),
    Text(String),
    /// `std::time::Duration`.
    Duration(std::time::Duration),
    /// The result of `cmp`.
    Ordering(std::cmp::Ordering),
    Option(Option<Box<Value>>),
    /// `Ok` with a value, or an unknown error.
    Result(Option<Box<Value>>),
    /// A collection with its type's name; also an `array` (or slice), a `tuple`, an `iterator`.
    List(&'static str, Vec<Value>),
    /// A map with its type's name, in the order of the keys.
    Map(&'static str, Vec<(Value, Value)>),
    Data(Data),
    /// A closure or a function that is not called yet, and its scope.
    Function(Box<Expr>, Scope),
    /// A value whose type serializes as this JSON, and of which nothing else is known.
    Json(Json),
    /// schemars' `SchemaGenerator`, the argument of a function that builds a schema.
    Generator,
    /// The `Serializer` of a serializing function.
    Serializer,
    /// A value that cannot be evaluated, with the reason; refused where it is needed.
    Unknown(Vec<Diagnostic>),
}

/// A value of a struct or enum in the source.
#[derive(Clone, Debug)]
pub struct Data {
    pub module: ModuleId,
    pub input: Rc<DeriveInput>,
    /// Scope of its fields' types.
    pub scope: Scope,
    pub variant: Option<String>,
    /// By name or index.
    pub fields: BTreeMap<String, Value>,
}

impl Data {
    /// The hint for a field of a struct.
    pub fn field_type(&self, key: &str) -> Hint {
        let syn::Data::Struct(data) = &self.input.data else { return Hint::Unknown };
        let mut fields = data.fields.iter().zip(data.fields.members());
        let found = fields.find(|(_, member)| key_of(member) == key);
        found.map_or(Hint::Unknown, |(field, _)| Hint::exactly((field.ty.clone(), self.scope.clone())))
    }
}

/// The name of a field, or its index.
pub fn key_of(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(ident) => name(ident),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The expected type of an expression.
#[derive(Clone, Debug)]
pub enum Hint {
    /// Code that is not considered may determine it.
    Unknown,
    /// Nothing else determines it: numbers are `i32` and `f64`.
    Free,
    /// schemars' `Schema`, or a result with one.
    Schema,
    Type(Box<Typed>),
    Number(&'static str),
    Text,
    /// `serde_json::Value`.
    Json,
    /// A sequence of these.
    List(Box<Hint>),
    Pair(Box<Hint>, Box<Hint>),
}

impl Hint {
    pub fn of(ty: Option<&Typed>) -> Self {
        ty.map_or(Self::Unknown, |ty| Self::exactly(ty.clone()))
    }

    pub fn exactly(ty: Typed) -> Self {
        Self::Type(Box::new(ty))
    }

    pub fn ty(&self) -> Option<&Typed> {
        match self {
            Self::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// The hint for a value that is compared with this value, or added to it.
    pub fn like(value: &Value) -> Self {
        match value {
            Value::Integer(_, ty) if *ty != super::numbers::ANY => Self::Number(ty),
            Value::Single(_) => Self::Number("f32"),
            Value::Double(_) => Self::Number("f64"),
            Value::Data(data) => Self::of(data.scope.generics.get("Self")),
            _ => Self::Unknown,
        }
    }

    /// The hint for a place whose type a name or branch may also determine.
    pub fn unless_free(&self) -> &Self {
        if matches!(self, Self::Free) { &Self::Unknown } else { self }
    }
}

/// The meaning of a name in a function's body.
#[derive(Clone, Debug)]
pub enum Local {
    /// Statements may modify it if it is `mut` and of the same block.
    Value { value: Rc<Value>, mutable: bool },
    /// A constant argument or item, with its type.
    Constant(Box<Expr>, Scope, Box<Typed>),
    /// The output of a `fmt`; an expression that is not run in order cannot access it.
    Formatter(Rc<RefCell<String>>),
    /// A closure, and its scope.
    Closure(Rc<ExprClosure>, Scope),
    /// An expression whose type follows from its uses; the flag is `true` if one of them was evaluated.
    Waiting(Box<Expr>, Scope, Rc<Cell<bool>>),
    /// A name with an unknown meaning.
    Open,
}

impl Evaluator<'_, '_> {
    /// The value of an expression; `hint` is the expected type.
    pub fn evaluate(&mut self, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let mut value = self.deeper(expr, scope, |evaluator| evaluator.evaluate_unchecked(expr, scope, hint))?;
        // A schema is large, and counts where it becomes part of another one: see `serialized`.
        self.cx.steps += if matches!(value, Value::Json(_)) { 0 } else { size_of(&value) };
        if let Value::Integer(number, super::numbers::ANY) = value
            && let Some(ty) = self.cx.number_of(hint)?
        {
            let typed = super::numbers::in_range(number, ty);
            value = self.cx.or_not_evident(typed, expr, scope)?;
        }
        if let Hint::Type(ty) = hint
            && !matches!(value, Value::Generator | Value::Serializer)
            && !self.cx.is_of(&value, ty)?
        {
            return self.cx.not_evident(expr, scope);
        }
        Ok(value)
    }

    /// Performs one step of an evaluation, within the limits of depth, steps and size.
    pub fn deeper<T, E: From<Reported>>(
        &mut self,
        node: &impl Spanned,
        scope: &Scope,
        step: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.cx.evaluating == 0 {
            self.cx.steps = 0;
        }
        self.cx.steps += 1;
        if self.cx.evaluating > MAX_DEPTH || self.cx.steps > MAX_STEPS {
            return Ok(self.cx.not_evident(node, scope)?);
        }
        self.cx.evaluating += 1;
        let result = step(self);
        self.cx.evaluating -= 1;
        result
    }

    /// As [`evaluate`](Self::evaluate), but a value that is not evident is only refused where it is needed.
    pub fn evaluate_if_needed(&mut self, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        match self.if_needed(|evaluator| evaluator.evaluate(expr, scope, hint)) {
            unknown @ Value::Unknown(_)
                if !has_no_effect(expr.to_token_stream(), scope)
                    || self.cx.panics.may_panic(expr.to_token_stream()) =>
            {
                self.cx.known(unknown)
            }
            value => Ok(value),
        }
    }

    pub fn if_needed(&mut self, evaluate: impl FnOnce(&mut Self) -> Derived<Value>) -> Value {
        let said = std::mem::take(&mut self.cx.diagnostics);
        let before = self.cx.reasons.len();
        let value = evaluate(self);
        self.cx.reasons.truncate(before);
        let reasons = std::mem::replace(&mut self.cx.diagnostics, said);
        value.unwrap_or(Value::Unknown(reasons))
    }

    fn evaluate_unchecked(&mut self, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        match expr {
            Expr::Paren(inner) => self.evaluate(&inner.expr, scope, hint),
            Expr::Group(inner) => self.evaluate(&inner.expr, scope, hint),
            Expr::Reference(inner) if inner.mutability.is_none() => self.evaluate(&inner.expr, scope, hint),
            Expr::Block(syn::ExprBlock { label: None, .. }) | Expr::If(_) | Expr::Match(_) => {
                self.run_apart(expr, scope, hint)
            }
            Expr::Const(block) => self.body(&block.block, scope, hint),
            Expr::Lit(literal) => self.literal(&literal.lit, false, expr, scope, hint),
            Expr::Path(path) => self.path_value(path, scope, hint),
            Expr::Unary(unary) => self.unary(unary, expr, scope, hint),
            Expr::Binary(binary) => self.binary(binary, expr, scope, hint),
            Expr::Cast(cast) => self.cast(cast, expr, scope),
            Expr::Array(array) => {
                let element = match hint {
                    // The elements have one type, and any of them may determine it.
                    Hint::Free if !array.elems.iter().all(super::numbers::is_untyped) => Hint::Unknown,
                    hint => self.cx.element(hint, 0)?,
                };
                Ok(Value::List("array", all(array.elems.iter().map(|value| self.evaluate(value, scope, &element)))?))
            }
            Expr::Repeat(repeat) => {
                let element = self.cx.element(hint, 0)?;
                let value = self.evaluate(&repeat.expr, scope, &element)?;
                self.repeated(value, &repeat.len, scope)
            }
            Expr::Tuple(tuple) => {
                let values = all(tuple.elems.iter().enumerate().map(|(index, value)| {
                    let element = self.cx.element(hint, index)?;
                    self.evaluate(value, scope, &element)
                }))?;
                Ok(if values.is_empty() { Value::Unit } else { Value::List("tuple", values) })
            }
            Expr::Struct(literal) => self.struct_literal(literal, scope, hint),
            Expr::Call(call) => self.call(call, expr, scope, hint),
            Expr::MethodCall(call) => self.method_call(call, expr, scope, hint),
            Expr::Macro(call) => self.macro_value(call, expr, scope, hint),
            Expr::Field(field) => {
                let key = key_of(&field.member);
                let found = match self.evaluate(&field.base, scope, &Hint::Unknown)? {
                    Value::Data(mut data) => data.fields.remove(&key),
                    Value::List("tuple", list) => key.parse().ok().and_then(|index: usize| list.into_iter().nth(index)),
                    _ => None,
                };
                let found = self.cx.or_not_evident(found, expr, scope)?;
                self.cx.known(found)
            }
            Expr::Index(index) => {
                if let Expr::Range(range) = super::numbers::without_parens(&index.index) {
                    let elements = Hint::List(Box::new(self.cx.element(hint, 0)?));
                    let whole = self.evaluate(&index.expr, scope, &elements)?;
                    return self.slice(whole, range, expr, scope);
                }
                let elements = Hint::List(Box::new(hint.unless_free().clone()));
                let list = self.evaluate(&index.expr, scope, &elements)?;
                if let Value::Map(_, entries) = list {
                    let found = super::methods::entry_of(self, entries, &index.index, scope)?;
                    let found = self.cx.or_not_evident(found.flatten(), expr, scope)?;
                    return self.cx.known(found);
                }
                let at = usize::try_from(self.integer(&index.index, scope, "usize")?).ok();
                let found = match (list, at) {
                    (Value::List("array" | "Vec" | "VecDeque", list), Some(at)) => list.into_iter().nth(at),
                    _ => None,
                };
                self.cx.or_not_evident(found, expr, scope)
            }
            Expr::Range(range) => self.range(range, expr, scope, hint),
            Expr::Closure(_) => Ok(Value::Function(Box::new(expr.clone()), scope.clone())),
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// `list[1..]`, `text[..3]`.
    fn slice(&mut self, whole: Value, range: &syn::ExprRange, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let length = match &whole {
            Value::Text(text) => text.len(),
            Value::List("array" | "Vec", list) => list.len(),
            _ => return self.cx.not_evident(expr, scope),
        };
        let range = self.span_of_range(range, length, scope)?;
        let part = match whole {
            Value::Text(text) => text.get(range).map(|part| Value::Text(part.to_owned())),
            Value::List(_, list) => list.get(range).map(|part| Value::List("array", part.to_vec())),
            _ => None,
        };
        self.cx.or_not_evident(part, expr, scope)
    }

    /// The positions of `1..`, `..3` and similar ranges in a list of this length.
    pub fn span_of_range(
        &mut self,
        range: &syn::ExprRange,
        length: usize,
        scope: &Scope,
    ) -> Derived<std::ops::Range<usize>> {
        let mut end_of = |end: &Option<Box<Expr>>, otherwise: usize| match end {
            Some(end) => Ok(usize::try_from(self.integer(end, scope, "usize")?).unwrap_or(usize::MAX)),
            None => Ok(otherwise),
        };
        let (start, end) = (end_of(&range.start, 0)?, end_of(&range.end, length)?);
        let closed = range.end.is_some() && matches!(range.limits, syn::RangeLimits::Closed(_));
        Ok(start..if closed { end.saturating_add(1) } else { end })
    }

    fn unary(&mut self, unary: &syn::ExprUnary, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        if let (UnOp::Neg(_), Expr::Lit(literal)) = (&unary.op, super::numbers::without_parens(&unary.expr)) {
            // 128 is not an `i8`, but -128 is.
            return self.literal(&literal.lit, true, expr, scope, hint);
        }
        let value = self.evaluate(&unary.expr, scope, hint)?;
        let result = match (&unary.op, value) {
            (UnOp::Deref(_), Value::Data(data)) => (!self.cx.dereferences(&data)).then_some(Value::Data(data)),
            (UnOp::Deref(_), value) => Some(value),
            (UnOp::Neg(_), value) => super::numbers::negative(value),
            (UnOp::Not(_), Value::Bool(value)) => Some(Value::Bool(!value)),
            (UnOp::Not(_), Value::Integer(number, ty)) => super::numbers::truncated(!number, ty),
            _ => None,
        };
        self.cx.or_not_evident(result, expr, scope)
    }

    pub fn repeated(&mut self, value: Value, length: &Expr, scope: &Scope) -> Derived<Value> {
        match usize::try_from(self.integer(length, scope, "usize")?) {
            Ok(length) if length.saturating_mul(size_of(&value)) <= MAX_SIZE && self.cx.clones(&value) => {
                Ok(Value::List("array", vec![value; length]))
            }
            _ => self.cx.not_evident(length, scope),
        }
    }

    /// `true` if a value matches a pattern; the pattern's bindings are added to the scope.
    pub fn matches(&mut self, pattern: &Pat, value: &Value, scope: &mut Scope) -> Derived<bool> {
        match pattern {
            Pat::Wild(_) => Ok(true),
            Pat::Paren(inner) => self.matches(&inner.pat, value, scope),
            Pat::Reference(inner) => self.matches(&inner.pat, value, scope),
            Pat::Or(choices) => {
                for choice in &choices.cases {
                    if self.matches(choice, value, scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Pat::Guard(guarded) => {
                if !self.matches(&guarded.pat, value, scope)? {
                    return Ok(false);
                }
                let is_choice = guarded.pat.to_token_stream().to_string().contains('|');
                let holds = self.condition(&guarded.guard, scope)?;
                // The guard is evaluated again for each alternative that matches.
                if !holds && is_choice { self.cx.not_evident(pattern, scope) } else { Ok(holds) }
            }
            Pat::Tuple(parts) => match value {
                Value::List("tuple", list) if list.len() == parts.elems.len() => {
                    for (part, value) in parts.elems.iter().zip(list) {
                        if matches!(part, Pat::Rest(_)) {
                            return self.cx.not_evident(pattern, scope);
                        }
                        if !self.matches(part, value, scope)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                _ => self.cx.not_evident(pattern, scope),
            },
            Pat::Lit(literal) => self.is_constant_value(&Expr::Lit(literal.clone()), value, scope),
            Pat::Path(path) => self.is_constant_value(&Expr::Path(path.clone()), value, scope),
            Pat::Ident(binding) if binding.by_ref.is_none() => {
                if let Some((_, inner)) = &binding.subpat
                    && !self.matches(inner, value, scope)?
                {
                    return Ok(false);
                }
                let ident = &binding.ident;
                let path: ExprPath = syn::parse_quote!(#ident);
                let may_be_item = ident == "None"
                    || matches!(scope.locals.get(&name(ident)), Some(Local::Constant(..) | Local::Open))
                    || ident.to_string().starts_with(char::is_uppercase)
                    || self.cx.modules.maker(scope.module, &name(ident)).is_some()
                    || self.cx.is_item(&path, scope);
                if may_be_item {
                    return self.is_constant_value(&Expr::Path(path), value, scope);
                }
                scope.hold(ident, value.clone(), binding.mutability.is_some());
                Ok(true)
            }
            Pat::TupleStruct(of) => {
                let path = ExprPath { attrs: Vec::new(), qself: of.qself.clone(), path: of.path.clone() };
                let inner: Vec<&Pat> = of.elems.iter().collect();
                match (value, inner.as_slice()) {
                    (Value::Option(option), [inner]) if self.cx.is_option_some(&path, scope) => match option {
                        Some(value) => self.matches(inner, value, scope),
                        None => Ok(false),
                    },
                    (Value::Result(result), [inner]) => match (self.cx.result_variant(&path, scope), result) {
                        (Some("Ok"), Some(value)) => self.matches(inner, value, scope),
                        (Some("Err"), None) => {
                            let unknown = self.if_needed(|evaluator| evaluator.cx.not_evident(pattern, scope));
                            self.matches(inner, &unknown, scope)
                        }
                        (Some(_), _) => Ok(false),
                        (None, _) => self.cx.not_evident(pattern, scope),
                    },
                    (Value::Data(data), inner) => {
                        if !self.cx.is_variant(&path, data, scope)? {
                            return Ok(false);
                        }
                        if matches!(inner, [Pat::Rest(_)]) {
                            return Ok(true);
                        }
                        for (index, inner) in inner.iter().enumerate() {
                            let field = data.fields.get(&index.to_string()).cloned();
                            let field = self.cx.or_not_evident(field, pattern, scope)?;
                            if !self.matches(inner, &field, scope)? {
                                return Ok(false);
                            }
                        }
                        Ok(true)
                    }
                    _ => self.cx.not_evident(pattern, scope),
                }
            }
            Pat::Struct(of) => {
                let Value::Data(data) = value else { return self.cx.not_evident(pattern, scope) };
                let path = ExprPath { attrs: Vec::new(), qself: of.qself.clone(), path: of.path.clone() };
                if !self.cx.is_variant(&path, data, scope)? {
                    return Ok(false);
                }
                for part in &of.fields {
                    let field = data.fields.get(&key_of(&part.member)).cloned();
                    let field = self.cx.or_not_evident(field, pattern, scope)?;
                    if !self.matches(&part.pat, &field, scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Pat::Range(range) => {
                let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
                let ends = [
                    (&range.start, BinOp::Ge(Default::default())),
                    (&range.end, if closed { BinOp::Le(Default::default()) } else { BinOp::Lt(Default::default()) }),
                ];
                for (end, op) in ends {
                    let Some(end) = end else { continue };
                    let end = self.evaluate(end, scope, &Hint::like(value))?;
                    let holds = super::numbers::compared(&op, value, &end);
                    if !self.cx.or_not_evident(holds, pattern, scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Pat::Slice(parts) => {
                let Value::List("array" | "Vec", list) = value else { return self.cx.not_evident(pattern, scope) };
                let rest = parts.elems.iter().position(|part| rest_of(part).is_some());
                let (before, after) = match rest {
                    Some(rest) => (rest, parts.elems.len() - rest - 1),
                    None => (parts.elems.len(), 0),
                };
                if list.len() < before + after || rest.is_none() && list.len() > before {
                    return Ok(false);
                }
                let (first, last) = (&list[..before], &list[list.len() - after..]);
                if let Some(Some(binding)) = rest.and_then(|rest| rest_of(&parts.elems[rest])) {
                    let middle = Value::List("array", list[before..list.len() - after].to_vec());
                    if binding.by_ref.is_some() || binding.mutability.is_some() {
                        return self.cx.not_evident(pattern, scope);
                    }
                    scope.hold(&binding.ident, middle, false);
                }
                for (part, value) in
                    parts.elems.iter().filter(|part| rest_of(part).is_none()).zip(first.iter().chain(last))
                {
                    if !self.matches(part, value, scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => self.cx.not_evident(pattern, scope),
        }
    }

    /// `true` if a value is the constant or the variant of a pattern.
    fn is_constant_value(&mut self, constant: &Expr, value: &Value, scope: &Scope) -> Derived<bool> {
        if let (Expr::Path(path), Value::Data(data)) = (constant, value)
            && !self.cx.is_constant_item(path, scope)
        {
            return self.cx.is_variant(path, data, scope);
        }
        let constant_value = self.evaluate(constant, scope, &Hint::like(value))?;
        let same = match (&constant_value, value) {
            (Value::Option(None), Value::Option(value)) => Some(value.is_none()),
            (Value::Bool(_) | Value::Integer(..) | Value::Char(_) | Value::Text(_), value) => {
                self.cx.equal(&constant_value, value)
            }
            _ => None,
        };
        self.cx.or_not_evident(same, constant, scope)
    }
}

impl Context<'_> {
    /// A value that must be known.
    pub fn known(&mut self, value: Value) -> Derived<Value> {
        let Value::Unknown(reasons) = value else { return Ok(value) };
        for reason in reasons {
            let _ = self.refuse::<()>(reason);
        }
        Err(Reported)
    }

    pub fn not_evident<T>(&mut self, node: &impl Spanned, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, node);
        self.refuse(
            OP014
                .error("the value of this expression is not evident from the source")
                .at(span, "")
                .help("use a literal, a constant, a constructor of std, or a function whose body is one of these"),
        )
    }

    pub fn or_not_evident<T>(&mut self, value: Option<T>, node: &impl Spanned, scope: &Scope) -> Derived<T> {
        value.map_or_else(|| self.not_evident(node, scope), Ok)
    }

    /// `true` if `*` of a value may be another value.
    pub fn dereferences(&mut self, data: &Data) -> bool {
        !self.impls.implementations("Deref", data.module, &name(&data.input.ident)).is_empty()
            || self.derives(&data.input.attrs, "Deref", data.module)
    }

    /// Evaluates without reporting the values that cannot be determined.
    pub fn quietly<T>(&mut self, find: impl FnOnce(&mut Self) -> Derived<T>) -> Derived<T> {
        let said = std::mem::take(&mut self.diagnostics);
        let before = self.reasons.len();
        let found = find(self);
        self.reasons.truncate(before);
        self.diagnostics = said;
        found
    }

    /// `==`, if it is derived at every level.
    pub fn equal(&mut self, left: &Value, right: &Value) -> Option<bool> {
        use Value::{Bool, Char, Data, Double, Duration, Integer, List, Map, Option, Ordering, Single, Text, Unit};
        Some(match (left, right) {
            (Unit, Unit) => true,
            (Bool(left), Bool(right)) => left == right,
            (Integer(left, of), Integer(right, same)) if common(of, same).is_some() => left == right,
            (Single(left), Single(right)) => left == right,
            (Double(left), Double(right)) => left == right,
            (Char(left), Char(right)) => left == right,
            (Text(left), Text(right)) => left == right,
            (Duration(left), Duration(right)) => left == right,
            (Ordering(left), Ordering(right)) => left == right,
            (Option(None), Option(None)) => true,
            (Option(Some(left)), Option(Some(right))) => self.equal(left, right)?,
            (Option(_), Option(_)) => false,
            (List(_, left), List(_, right)) => left.len() == right.len() && self.all_equal(left.iter().zip(right))?,
            (Map(_, left), Map(_, right)) => {
                let values = |entries: &[(Value, Value)]| {
                    entries.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect::<Vec<_>>()
                };
                let (left, right) = (values(left), values(right));
                left.len() == right.len() && self.all_equal(left.iter().zip(&right))?
            }
            (Data(left), Data(right)) => {
                let is_derived =
                    self.derives(&left.input.attrs, "PartialEq", left.module) && Rc::ptr_eq(&left.input, &right.input);
                if !is_derived || self.shadows.is_own_trait("PartialEq", left.module) {
                    return None;
                }
                left.variant == right.variant && self.all_equal(left.fields.values().zip(right.fields.values()))?
            }
            _ => return None,
        })
    }

    fn all_equal<'v>(&mut self, pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Option<bool> {
        let mut equal = true;
        for (left, right) in pairs {
            equal &= self.equal(left, right)?;
        }
        Some(equal)
    }

    /// `true` if a clone is the same value, because `Clone` is derived at every level.
    pub fn clones(&mut self, value: &Value) -> bool {
        match value {
            Value::Data(data) => {
                self.derives(&data.input.attrs, "Clone", data.module)
                    && !self.shadows.is_own_trait("Clone", data.module)
                    && data.fields.values().all(|value| self.clones(value))
            }
            Value::Option(Some(value)) => self.clones(value),
            Value::List(_, list) => list.iter().all(|value| self.clones(value)),
            Value::Map(_, entries) => entries.iter().all(|(key, value)| self.clones(key) && self.clones(value)),
            Value::Unknown(_) => false,
            _ => true,
        }
    }

    /// The resolved type; `None` if it is `_`, or a function type.
    pub fn meaning(&mut self, (ty, scope): &Typed) -> Derived<Option<Resolved>> {
        match ty {
            Type::Infer(_) | Type::ImplTrait(_) | Type::FnPtr(_) | Type::TraitObject(_) => Ok(None),
            Type::Reference(inner) => self.meaning(&((*inner.elem).clone(), scope.clone())),
            Type::Paren(inner) => self.meaning(&((*inner.elem).clone(), scope.clone())),
            Type::Group(inner) => self.meaning(&((*inner.elem).clone(), scope.clone())),
            Type::Path(path) => match path.path.get_ident().and_then(|ident| scope.generics.get(&name(ident))) {
                Some(bound) if path.qself.is_none() => self.meaning(&bound.clone()),
                _ => self.resolved(ty, scope).map(Some),
            },
            _ => self.resolved(ty, scope).map(Some),
        }
    }

    /// The hint for an element: of a list, set, array or pointer the first, of a map the key or value.
    pub fn element(&mut self, of: &Hint, index: usize) -> Derived<Hint> {
        let of = match of {
            Hint::Type(ty) => self.meaning(ty)?,
            Hint::Free => return Ok(Hint::Free),
            Hint::List(element) => return Ok((**element).clone()),
            Hint::Pair(key, value) => return Ok(if index == 0 { (**key).clone() } else { (**value).clone() }),
            _ => None,
        };
        Ok(match of {
            // The elements of a pointer are those of its target, as for `SmallVec<[T; N]>`.
            Some(Resolved::Known { path, arguments, .. })
                if is_pointer(&path) || path.last().is_some_and(|last| last == "SmallVec") =>
            {
                self.element(&Hint::of(arguments.first()), index)?
            }
            Some(Resolved::Known { arguments, .. }) => Hint::of(arguments.get(index)),
            Some(Resolved::Tuple(types)) => Hint::of(types.get(index)),
            Some(Resolved::Array(element, ..) | Resolved::Slice(element)) => Hint::exactly(*element),
            Some(Resolved::Data { .. }) | None => Hint::Unknown,
        })
    }

    /// `true` if a value is of the type. `false` means that the evaluator misunderstood it.
    fn is_of(&mut self, value: &Value, ty: &Typed) -> Derived<bool> {
        let Some(resolved) = self.meaning(ty)? else { return Ok(true) };
        let mut all_of = |values: &mut dyn Iterator<Item = &Value>, ty: Option<&Typed>| {
            let Some(ty) = ty else { return Ok(true) };
            Ok(all(values.map(|value| self.is_of(value, ty)))?.into_iter().all(|is_of| is_of))
        };
        Ok(match (resolved, value) {
            (_, Value::Unknown(_)) => true,
            (Resolved::Tuple(types), Value::Unit) => types.is_empty(),
            (Resolved::Tuple(types), Value::List("tuple", list)) => {
                let pairs = list.iter().zip(&types);
                types.len() == list.len()
                    && all(pairs.map(|(value, ty)| self.is_of(value, ty)))?.into_iter().all(|is_of| is_of)
            }
            (Resolved::Array(element, ..), Value::List("array", list))
            | (Resolved::Slice(element), Value::List("array" | "Vec", list)) => {
                all_of(&mut list.iter(), Some(&element))?
            }
            (Resolved::Data { input, .. }, Value::Data(data)) => Rc::ptr_eq(&input, &data.input),
            (Resolved::Known { path, arguments, .. }, value) => {
                if let ([inner, ..], true) = (arguments.as_slice(), is_pointer(&path)) {
                    return self.is_of(value, inner);
                }
                let last = path.last().map(String::as_str).unwrap_or_default();
                match (last, value) {
                    ("String" | "str" | "SmolStr" | "ArrayString", Value::Text(_)) => true,
                    ("bool" | "AtomicBool", Value::Bool(_)) => true,
                    ("char", Value::Char(_)) => true,
                    ("f32", Value::Single(_)) | ("f64", Value::Double(_)) => true,
                    ("PhantomData", Value::Unit) => true,
                    ("Duration", Value::Duration(_)) => path[0] == "std",
                    ("Ordering", Value::Ordering(_)) => path[0] == "std",
                    (integer, Value::Integer(number, of)) => {
                        let plain = integer.trim_start_matches("NonZero").trim_start_matches("Atomic").to_lowercase();
                        let fits = plain == *of
                            || *of == super::numbers::ANY && super::numbers::integer_type(&plain).is_some();
                        fits && (*number != 0 || !integer.starts_with("NonZero"))
                    }
                    ("Result", Value::Result(value)) => all_of(&mut value.as_deref().into_iter(), arguments.first())?,
                    ("Option", Value::Option(value)) => all_of(&mut value.as_deref().into_iter(), arguments.first())?,
                    (collection, Value::List(kind, list)) => {
                        let element = self.element(&Hint::exactly(ty.clone()), 0)?;
                        *kind == collection
                            && match element.ty() {
                                Some(ty) => {
                                    all(list.iter().map(|value| self.is_of(value, ty)))?.into_iter().all(|is| is)
                                }
                                None => true,
                            }
                    }
                    (map, Value::Map(kind, entries)) => {
                        *kind == map
                            && all_of(&mut entries.iter().map(|(key, _)| key), arguments.first())?
                            && all_of(&mut entries.iter().map(|(_, value)| value), arguments.get(1))?
                    }
                    // Only these types have no other representation than their JSON.
                    ("Value" | "PathBuf" | "Path", Value::Json(_)) => true,
                    (_, Value::Json(_)) => default_of_std(&path).is_none(),
                    _ => false,
                }
            }
            _ => false,
        })
    }
}

/// `..` of a slice pattern, or its binding: `rest @ ..`.
fn rest_of(pattern: &Pat) -> Option<Option<&syn::PatIdent>> {
    match pattern {
        Pat::Rest(_) => Some(None),
        Pat::Ident(binding) => {
            let is_rest = binding.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_)));
            is_rest.then_some(Some(binding))
        }
        _ => None,
    }
}

/// Maximum depth of nested expressions.
const MAX_DEPTH: usize = 40;

/// Maximum number of expressions and parts of values.
const MAX_STEPS: usize = 200_000;

/// Maximum number of parts of a repeated value.
pub const MAX_SIZE: usize = 1 << 16;

/// Number of bytes of a string that count as one part.
const BYTES: usize = 16;

/// The number of parts of a value.
pub fn size_of(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Text(text) => text.len() / BYTES,
        Value::Option(Some(inner)) => size_of(inner),
        Value::List(_, list) => list.iter().map(size_of).sum(),
        Value::Map(_, entries) => entries.iter().map(|(key, value)| size_of(key) + size_of(value)).sum(),
        Value::Data(data) => data.fields.values().map(size_of).sum(),
        Value::Json(json) => size_of_json(json),
        _ => 0,
    };
    1 + inner
}

pub fn size_of_json(json: &Json) -> usize {
    let inner: usize = match json {
        Json::String(text) => text.len() / BYTES,
        Json::Array(values) => values.iter().map(size_of_json).sum(),
        Json::Object(values) => values.values().map(size_of_json).sum(),
        _ => 0,
    };
    1 + inner
}

impl Scope {
    pub fn bind(&mut self, ident: &syn::Ident, local: Local) {
        Rc::make_mut(&mut self.locals).insert(name(ident), local);
    }

    /// Binds a name to a value.
    pub fn hold(&mut self, ident: &syn::Ident, value: Value, mutable: bool) {
        self.bind(ident, Local::Value { value: Rc::new(value), mutable });
    }

    /// The value of a `let mut` of this block.
    pub fn local_mut(&mut self, ident: &syn::Ident) -> Option<&mut Value> {
        match Rc::make_mut(&mut self.locals).get_mut(&name(ident))? {
            Local::Value { value, mutable: true } => Some(Rc::make_mut(value)),
            _ => None,
        }
    }

    /// `true` for the name of a generator.
    pub fn holds_generator(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = super::numbers::without_parens(expr) else { return false };
        let local = path.path.get_ident().and_then(|ident| self.locals.get(&name(ident)));
        matches!(local, Some(Local::Value { value, .. }) if matches!(**value, Value::Generator))
    }

    pub fn formatter(&self, expr: &Expr) -> Option<&Rc<RefCell<String>>> {
        let Expr::Path(path) = super::numbers::without_parens(expr) else { return None };
        match self.locals.get(&name(path.path.get_ident()?))? {
            Local::Formatter(written) => Some(written),
            _ => None,
        }
    }

    /// The scope of an inner block, which modifies no locals of this one.
    pub fn within_block(&self) -> Self {
        let mut inner = self.clone();
        for local in Rc::make_mut(&mut inner.locals).values_mut() {
            if let Local::Value { mutable, .. } = local {
                *mutable = false;
            }
        }
        inner
    }

    /// The scope of a closure, which does not run where it is written.
    pub fn within_closure(&self) -> Self {
        let mut inner = self.within_block();
        for local in Rc::make_mut(&mut inner.locals).values_mut() {
            if let Local::Formatter(_) = local {
                *local = Local::Open;
            }
        }
        inner
    }
}

/// `true` if code that is not evaluated neither reaches a local nor leaves the body, nor panics as far as can be
/// seen.
fn has_no_effect(tokens: TokenStream, scope: &Scope) -> bool {
    const LEAVES: [&str; 11] =
        ["return", "break", "continue", "mut", "unsafe", "await", "loop", "while", "for", "unwrap", "expect"];
    tokens.into_iter().all(|tree| match &tree {
        TokenTree::Ident(ident) => {
            let ident = name(ident);
            !LEAVES.contains(&ident.as_str()) && !scope.locals.contains_key(&ident)
        }
        TokenTree::Group(group) => has_no_effect(group.stream(), scope),
        TokenTree::Punct(punct) => !matches!(punct.as_char(), '?' | '|' | '!'),
        TokenTree::Literal(_) => true,
    })
}

/// `true` if there is an attribute that may change code, such as `#[cfg]`.
pub fn has_attributes(tokens: TokenStream) -> bool {
    let mut hash = false;
    tokens.into_iter().any(|tree| {
        let found = match &tree {
            TokenTree::Group(group) if hash => {
                let first = group.stream().into_iter().next().map(|first| first.to_string());
                !matches!(first.as_deref(), Some("allow" | "expect" | "warn" | "deny" | "rustfmt" | "doc"))
            }
            TokenTree::Group(group) => has_attributes(group.stream()),
            _ => false,
        };
        hash = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#');
        found
    })
}

/// Types that serialize as their content.
pub fn is_pointer(path: &[String]) -> bool {
    matches!(
        path.last().map(String::as_str),
        Some("Box" | "Rc" | "Arc" | "Cow" | "Cell" | "RefCell" | "Mutex" | "RwLock" | "Wrapping" | "Reverse")
    )
}

/// `Default` of a type of std, and of crates like it, unless it depends on a type parameter.
pub fn default_of_std(path: &[String]) -> Option<Value> {
    let last = path.last()?.as_str();
    let plain = last.trim_start_matches("Atomic").to_lowercase();
    if let Some(number) = super::numbers::integer_type(&plain) {
        return Some(Value::Integer(0, number));
    }
    Some(match last {
        "bool" | "AtomicBool" => Value::Bool(false),
        "char" => Value::Char('\0'),
        "f32" => Value::Single(0.0),
        "f64" => Value::Double(0.0),
        "str" | "String" | "SmolStr" | "ArrayString" => Value::Text(String::new()),
        "PathBuf" => Value::Json(String::new().into()),
        "Option" => Value::Option(None),
        "PhantomData" => Value::Unit,
        "Duration" if path[0] == "std" => Value::Duration(Default::default()),
        "Value" => Value::Json(Json::Null),
        _ => return super::conversions::collection(last, Vec::new()),
    })
}
