//! Evaluates expressions whose value the source determines uniquely.
//!
//! Literals, constants, arithmetic, constructors, struct literals, functions and methods of the source whose bodies are
//! made of these, and what std does to such values without surprise. All else is OP014; nothing is guessed. Everything
//! here is pure, so evaluating twice changes nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use quote::ToTokens;
use serde_json::Value as Json;
use syn::punctuated::Punctuated;
use syn::{BinOp, Block, DeriveInput, Expr, ExprMacro, Lit, Pat, Stmt, Token, Type, UnOp};

use super::modules::{ModuleId, name};
use super::types::{Derived, Deriver, Resolved, Scope, Typed, all};
use crate::diagnostic::Diagnostic;

/// A value of Rust.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Unit,
    Bool(bool),
    Integer(i128),
    /// An `f32` is the `f64` that it is exactly.
    Float(f64),
    Char(char),
    Text(String),
    Option(Option<Box<Value>>),
    /// Any sequence, also a set, an array, a tuple.
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Data(Data),
    /// A value whose type serializes as this, and of which nothing else is known.
    Json(Json),
    /// Not evident, for this reason; refused where it is needed.
    Unknown(Vec<Diagnostic>),
}

/// A value of a struct or enum of the source.
#[derive(Clone, Debug)]
pub struct Data {
    pub module: ModuleId,
    pub input: Rc<DeriveInput>,
    /// Where its fields' types stand.
    pub scope: Scope,
    pub variant: Option<String>,
    /// By their names, or their indices.
    pub fields: BTreeMap<String, Value>,
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.input, &other.input) && self.variant == other.variant && self.fields == other.fields
    }
}

/// What a name of a function's body stands for.
#[derive(Clone, Debug)]
pub enum Local {
    Value(Box<(Value, Option<Typed>)>),
    /// A constant argument, or what is of the type that its use expects.
    Expression(Box<Expr>, Scope),
}

impl Local {
    pub fn value(value: Value, ty: Option<Typed>) -> Self {
        Self::Value(Box::new((value, ty)))
    }
}

impl Deriver<'_> {
    /// The value of an expression, of this type if one is expected.
    pub fn evaluate(&mut self, expr: &Expr, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        // Deeper than anyone writes a constant.
        if self.evaluating > 40 {
            return self.not_evident(expr, scope);
        }
        self.evaluating += 1;
        let value = self.evaluate_unchecked(expr, scope, expected);
        self.evaluating -= 1;
        match expected {
            Some(expected) => self.fit(value?, expected, expr, scope),
            None => value,
        }
    }

    /// As [`evaluate`](Self::evaluate), but a value that is not evident is only refused where it is needed.
    pub fn evaluate_if_needed(&mut self, expr: &Expr, scope: &Scope, expected: Option<&Typed>) -> Value {
        self.if_needed(|deriver| deriver.evaluate(expr, scope, expected))
    }

    pub fn if_needed(&mut self, evaluate: impl FnOnce(&mut Self) -> Derived<Value>) -> Value {
        let said = std::mem::take(&mut self.diagnostics);
        let before = self.reasons.len();
        let value = evaluate(self);
        self.reasons.truncate(before);
        let reasons = std::mem::replace(&mut self.diagnostics, said);
        value.unwrap_or(Value::Unknown(reasons))
    }

    /// A value that is needed.
    pub fn known(&mut self, value: Value) -> Derived<Value> {
        let Value::Unknown(reasons) = value else { return Ok(value) };
        for reason in reasons {
            let _ = self.refuse::<()>(reason);
        }
        Err(super::types::Refused)
    }

    pub fn not_evident<T>(&mut self, node: &impl syn::spanned::Spanned, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, node);
        self.refuse(
            Diagnostic::error("OP014", "the value of this expression is not evident from the source")
                .at(span, "")
                .help("use a literal, a constant, a constructor of std, or a function whose body is one of these"),
        )
    }

    fn evaluate_unchecked(&mut self, expr: &Expr, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        match expr {
            Expr::Paren(inner) => self.evaluate(&inner.expr, scope, expected),
            Expr::Group(inner) => self.evaluate(&inner.expr, scope, expected),
            Expr::Reference(inner) => self.evaluate(&inner.expr, scope, expected),
            Expr::Block(block) if block.label.is_none() => self.block(&block.block, scope, expected),
            Expr::Const(block) => self.block(&block.block, scope, expected),
            Expr::Lit(literal) => self.literal(&literal.lit, expr, scope, expected),
            Expr::Path(path) => self.path_value(path, scope, expected),
            Expr::Unary(unary) => {
                // 128 is no `i8`, but -128 is.
                let value = self.evaluate_unchecked(&unary.expr, scope, expected)?;
                match (&unary.op, value) {
                    (UnOp::Deref(_), value) => Ok(value),
                    (UnOp::Neg(_), Value::Integer(number)) => Ok(Value::Integer(-number)),
                    (UnOp::Neg(_), Value::Float(number)) => Ok(Value::Float(-number)),
                    (UnOp::Not(_), Value::Bool(value)) => Ok(Value::Bool(!value)),
                    _ => self.not_evident(expr, scope),
                }
            }
            Expr::Binary(binary) => self.binary(binary, expr, scope, expected),
            Expr::Cast(cast) => self.cast(cast, expr, scope),
            Expr::Array(array) => {
                let element = self.element_type(expected, 0)?;
                Ok(Value::List(all(array.elems.iter().map(|value| self.evaluate(value, scope, element.as_ref())))?))
            }
            Expr::Repeat(repeat) => {
                let element = self.element_type(expected, 0)?;
                let value = self.evaluate(&repeat.expr, scope, element.as_ref())?;
                self.repeated(value, &repeat.len, scope)
            }
            Expr::Tuple(tuple) => {
                let values = all(tuple.elems.iter().enumerate().map(|(index, value)| {
                    let element = self.element_type(expected, index)?;
                    self.evaluate(value, scope, element.as_ref())
                }))?;
                Ok(if values.is_empty() { Value::Unit } else { Value::List(values) })
            }
            Expr::Struct(literal) => self.struct_literal(literal, scope, expected),
            Expr::Call(call) => self.call(call, expr, scope, expected),
            Expr::MethodCall(call) => self.method_call(call, expr, scope, expected),
            Expr::Macro(call) => self.macro_value(call, expr, scope, expected),
            Expr::Field(field) => {
                let key = match &field.member {
                    syn::Member::Named(ident) => name(ident),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                let found = match self.evaluate(&field.base, scope, None)? {
                    Value::Data(mut data) => data.fields.remove(&key),
                    Value::List(list) => key.parse().ok().and_then(|index: usize| list.into_iter().nth(index)),
                    _ => None,
                };
                match found {
                    Some(value) => self.known(value),
                    None => self.not_evident(expr, scope),
                }
            }
            Expr::If(branch) => match (self.condition(&branch.cond, scope)?, &branch.else_branch) {
                (Some(inner), _) => self.block(&branch.then_branch, &inner, expected),
                (None, Some((_, other))) => self.evaluate(other, scope, expected),
                (None, None) => self.not_evident(expr, scope),
            },
            Expr::Match(choice) => {
                let value = self.evaluate(&choice.expr, scope, None)?;
                for arm in &choice.arms {
                    if arm.attrs.iter().any(is_cfg) {
                        return self.not_evident(arm, scope);
                    }
                    let mut inner = scope.clone();
                    if self.matches(&arm.pat, &value, &mut inner)? {
                        return self.evaluate(&arm.body, &inner, expected);
                    }
                }
                self.not_evident(expr, scope)
            }
            _ => self.not_evident(expr, scope),
        }
    }

    /// The scope in which a condition holds, with what `if let` binds; `None`: it does not hold.
    fn condition(&mut self, condition: &Expr, scope: &Scope) -> Derived<Option<Scope>> {
        if let Expr::Let(binding) = condition {
            let value = self.evaluate(&binding.expr, scope, None)?;
            let mut inner = scope.clone();
            return Ok(self.matches(&binding.pat, &value, &mut inner)?.then_some(inner));
        }
        match self.evaluate(condition, scope, None)? {
            Value::Bool(holds) => Ok(holds.then(|| scope.clone())),
            _ => self.not_evident(condition, scope),
        }
    }

    /// The value of a body: `let`s, changes of what they bind, an expression.
    pub fn block(&mut self, block: &Block, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let mut scope = scope.clone();
        let result = match block.stmts.last() {
            Some(Stmt::Expr(Expr::Path(path), None)) => path.path.get_ident().map(name),
            _ => None,
        };
        for (index, statement) in block.stmts.iter().enumerate() {
            match statement {
                Stmt::Expr(expr, end) if index + 1 == block.stmts.len() => {
                    if end.is_none() {
                        return self.evaluate(expr, &scope, expected);
                    }
                    return self.not_evident(expr, &scope);
                }
                Stmt::Macro(statement) if index + 1 == block.stmts.len() && statement.semi_token.is_none() => {
                    let call = Expr::Macro(ExprMacro { attrs: Vec::new(), mac: statement.mac.clone() });
                    return self.evaluate(&call, &scope, expected);
                }
                Stmt::Local(local) if local.attrs.is_empty() => {
                    let (pattern, ty) = match &local.pat {
                        Pat::Type(typed) => (&*typed.pat, Some(((*typed.ty).clone(), scope.clone()))),
                        pattern => (pattern, None),
                    };
                    let (Pat::Ident(pattern), Some(init)) = (pattern, &local.init) else {
                        return self.not_evident(local, &scope);
                    };
                    if init.diverge.is_some() {
                        return self.not_evident(local, &scope);
                    }
                    // What the body gives in the end has the type that is expected of the body.
                    let is_result = result.as_ref() == Some(&name(&pattern.ident));
                    let ty = ty.or_else(|| expected.filter(|_| is_result).cloned());
                    let value = self.evaluate(&init.expr, &scope, ty.as_ref())?;
                    let local = match (&value, &ty) {
                        // Single or double, its use decides.
                        (Value::Float(_), None) => Local::Expression(init.expr.clone(), scope.clone()),
                        _ => Local::value(value, ty),
                    };
                    scope.bind(&pattern.ident, local);
                }
                Stmt::Expr(Expr::MethodCall(call), Some(_)) if call.attrs.is_empty() => {
                    self.change(call, &mut scope)?;
                }
                _ => return self.not_evident(statement, &scope),
            }
        }
        match block.stmts.is_empty() {
            true => Ok(Value::Unit),
            false => self.not_evident(block, &scope),
        }
    }

    /// The value of a function's body, which may end with `return`.
    pub fn body(&mut self, block: &Block, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let mut block = block.clone();
        if let Some(Stmt::Expr(Expr::Return(returned), _)) = block.stmts.last()
            && let Some(value) = returned.expr.clone()
        {
            block.stmts.pop();
            block.stmts.push(Stmt::Expr(*value, None));
        }
        self.block(&block, scope, expected)
    }

    /// `list.push(…)`, `map.insert(…)`, `schema.ensure_object().insert(…)` on a name of this body.
    fn change(&mut self, call: &syn::ExprMethodCall, scope: &mut Scope) -> Derived<()> {
        let mut receiver = &*call.receiver;
        if let Expr::MethodCall(inner) = receiver
            && inner.method == "ensure_object"
        {
            receiver = &inner.receiver;
        }
        let local = match receiver {
            Expr::Path(path) => path.path.get_ident().map(name),
            _ => None,
        };
        let Some(local) = local else { return self.not_evident(call, scope) };
        let Some(Local::Value(bound)) = scope.locals.get(&local).cloned() else {
            return self.not_evident(call, scope);
        };
        let (mut value, ty) = *bound;
        let method = call.method.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (&mut value, method.as_str(), arguments.as_slice()) {
            (Value::Json(Json::Object(object)), "insert", [key, new]) => {
                let key = self.text(key, scope)?;
                let new = self.evaluate(new, scope, None)?;
                object.insert(key, self.serialized(new, call, scope)?);
            }
            (Value::Json(Json::Object(object)), "remove", [key]) => {
                object.remove(&self.text(key, scope)?);
            }
            (Value::List(list), "push" | "push_back", [new]) => {
                let element = self.element_type(ty.as_ref(), 0)?;
                list.push(self.evaluate(new, scope, element.as_ref())?);
            }
            (Value::Map(entries), "insert", [key, new]) => {
                let (key_type, new_type) = (self.element_type(ty.as_ref(), 0)?, self.element_type(ty.as_ref(), 1)?);
                let key = self.evaluate(key, scope, key_type.as_ref())?;
                let new = self.evaluate(new, scope, new_type.as_ref())?;
                entries.push((key, new));
            }
            _ => return self.not_evident(call, scope),
        }
        Rc::make_mut(&mut scope.locals).insert(local, Local::value(value, ty));
        Ok(())
    }

    fn literal(&mut self, literal: &Lit, expr: &Expr, scope: &Scope, expected: Option<&Typed>) -> Derived<Value> {
        let is_single = match literal {
            Lit::Float(number) if number.suffix() == "f64" => false,
            Lit::Float(number) if number.suffix().is_empty() => match expected {
                Some((ty, at)) => {
                    matches!(self.resolved(ty, at)?, Resolved::Known { path, .. } if path == ["f32"])
                }
                None => false,
            },
            Lit::Float(_) => true,
            Lit::Int(number) => number.suffix() == "f32",
            _ => false,
        };
        let float = |digits: &str| {
            if is_single { digits.parse::<f32>().map(f64::from).ok() } else { digits.parse::<f64>().ok() }
        };
        let value = match literal {
            Lit::Str(text) => Some(Value::Text(text.value())),
            Lit::Bool(value) => Some(Value::Bool(value.value)),
            Lit::Char(letter) => Some(Value::Char(letter.value())),
            Lit::Byte(byte) => Some(Value::Integer(byte.value().into())),
            Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => {
                float(number.base10_digits()).map(Value::Float)
            }
            Lit::Int(number) => number.base10_parse().ok().map(Value::Integer),
            Lit::Float(number) => float(number.base10_digits()).map(Value::Float),
            _ => None,
        };
        value.map_or_else(|| self.not_evident(expr, scope), Ok)
    }

    fn binary(
        &mut self,
        binary: &syn::ExprBinary,
        expr: &Expr,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        let compares = matches!(
            binary.op,
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
        );
        let operands = if compares {
            local_type(&binary.left, scope).or_else(|| local_type(&binary.right, scope))
        } else {
            expected.cloned().filter(|_| !matches!(binary.op, BinOp::And(_) | BinOp::Or(_)))
        };
        let left = self.evaluate(&binary.left, scope, operands.as_ref())?;
        match (&binary.op, &left) {
            (BinOp::And(_), Value::Bool(false)) | (BinOp::Or(_), Value::Bool(true)) => return Ok(left),
            _ => {}
        }
        // The right side of a shift has a type of its own.
        let operands = operands.filter(|_| !matches!(binary.op, BinOp::Shl(_) | BinOp::Shr(_)));
        let right = self.evaluate(&binary.right, scope, operands.as_ref())?;
        let value = match (&binary.op, left, right) {
            (BinOp::And(_) | BinOp::Or(_), Value::Bool(_), Value::Bool(right)) => Some(Value::Bool(right)),
            (BinOp::Eq(_), left, right) => Some(Value::Bool(self.equal(&left, &right, expr, scope)?)),
            (BinOp::Ne(_), left, right) => Some(Value::Bool(!self.equal(&left, &right, expr, scope)?)),
            (op, left, right) => arithmetic(op, left, right),
        };
        value.map_or_else(|| self.not_evident(expr, scope), Ok)
    }

    /// `==`, where it is derived all the way down.
    fn equal(&mut self, left: &Value, right: &Value, expr: &Expr, scope: &Scope) -> Derived<bool> {
        fn is_derived(deriver: &Deriver, value: &Value) -> bool {
            let is_derived = |value: &Value| is_derived(deriver, value);
            match value {
                Value::Data(data) => {
                    deriver.derives(&data.input.attrs, "PartialEq", data.module) && data.fields.values().all(is_derived)
                }
                Value::Option(Some(value)) => is_derived(value),
                Value::List(list) => list.iter().all(is_derived),
                Value::Map(entries) => entries.iter().all(|(key, value)| is_derived(key) && is_derived(value)),
                Value::Unknown(_) => false,
                _ => true,
            }
        }
        if !is_derived(self, left) || !is_derived(self, right) {
            return self.not_evident(expr, scope);
        }
        Ok(left == right)
    }

    fn cast(&mut self, cast: &syn::ExprCast, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let to = match &*cast.ty {
            Type::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
            _ => String::new(),
        };
        let value = match (self.evaluate(&cast.expr, scope, None)?, to.as_str()) {
            (Value::Integer(number), "f64") => Some(Value::Float(number as f64)),
            (Value::Integer(number), "f32") => Some(Value::Float(f64::from(number as f32))),
            (Value::Float(number), "f64") => Some(Value::Float(number)),
            (Value::Float(number), "f32") => Some(Value::Float(f64::from(number as f32))),
            (Value::Integer(number), to) => truncated(number, to).map(Value::Integer),
            (Value::Bool(value), to) => truncated(value.into(), to).map(Value::Integer),
            (Value::Char(letter), to) => truncated(u32::from(letter).into(), to).map(Value::Integer),
            (Value::Data(data), to) => match (&data.variant, data.fields.is_empty()) {
                (Some(variant), true) => {
                    let number = self.discriminant(&data.input, variant, &data.scope)?;
                    truncated(number, to).map(Value::Integer)
                }
                _ => None,
            },
            _ => None,
        };
        value.map_or_else(|| self.not_evident(expr, scope), Ok)
    }

    pub fn repeated(&mut self, value: Value, length: &Expr, scope: &Scope) -> Derived<Value> {
        match usize::try_from(self.integer(length, scope)?) {
            Ok(length) if length <= 4096 => Ok(Value::List(vec![value; length])),
            _ => self.not_evident(length, scope),
        }
    }

    fn macro_value(
        &mut self,
        call: &ExprMacro,
        expr: &Expr,
        scope: &Scope,
        expected: Option<&Typed>,
    ) -> Derived<Value> {
        let macro_name = call.mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        match macro_name.as_str() {
            "vec" => {
                let list: proc_macro2::TokenStream = call.mac.tokens.clone();
                let list: syn::Result<Expr> = syn::parse2(quote::quote!([#list]));
                let list = self.parsed(scope, list)?;
                self.evaluate_unchecked(&list, scope, expected)
            }
            "json" | "json_schema" => Ok(Value::Json(self.json(call.mac.tokens.clone(), scope)?)),
            "concat" => {
                let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let parts = self.parsed(scope, parts)?;
                Ok(Value::Text(all(parts.iter().map(|part| self.text(part, scope)))?.concat()))
            }
            "stringify" => {
                let mut words = call.mac.tokens.clone().into_iter();
                match (words.next(), words.next()) {
                    (Some(proc_macro2::TokenTree::Ident(word)), None) => Ok(Value::Text(word.to_string())),
                    _ => self.not_evident(expr, scope),
                }
            }
            "include_str" => {
                let path: syn::Result<Expr> = call.mac.parse_body();
                let path = self.parsed(scope, path)?;
                let path = self.text(&path, scope)?;
                let text = self.included(&path, scope);
                text.map_or_else(|| self.not_evident(expr, scope), |text| Ok(Value::Text(text)))
            }
            "format" => self.formatted(call, expr, scope),
            "matches" => {
                let parts = call.mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
                    let value: Expr = input.parse()?;
                    input.parse::<Token![,]>()?;
                    let pattern = Pat::parse_multi_with_leading_vert(input)?;
                    input.parse::<Option<Token![,]>>()?;
                    Ok((value, pattern))
                });
                let Ok((value, pattern)) = parts else { return self.not_evident(expr, scope) };
                let value = self.evaluate(&value, scope, None)?;
                Ok(Value::Bool(self.matches(&pattern, &value, &mut scope.clone())?))
            }
            _ => self.not_evident(expr, scope),
        }
    }

    /// `format!` with `{}` and `{name}` only.
    fn formatted(&mut self, call: &ExprMacro, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let parts = self.parsed(scope, parts)?;
        let mut parts = parts.into_iter();
        let Some(Expr::Lit(syn::ExprLit { lit: Lit::Str(pattern), .. })) = parts.next() else {
            return self.not_evident(expr, scope);
        };
        let pattern = pattern.value();
        let mut text = String::new();
        let mut rest = pattern.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                text.push_str(brace);
                rest = after;
                continue;
            }
            let Some((argument, after)) = rest.split_once('}').filter(|_| brace == "{") else {
                return self.not_evident(expr, scope);
            };
            rest = after;
            let value: Option<Expr> = if argument.is_empty() {
                parts.next()
            } else {
                syn::parse_str::<syn::Ident>(argument).ok().map(|name| syn::parse_quote!(#name))
            };
            let Some(value) = value else { return self.not_evident(expr, scope) };
            match self.evaluate(&value, scope, None)? {
                Value::Text(part) => text.push_str(&part),
                Value::Char(part) => text.push(part),
                Value::Integer(part) => text.push_str(&part.to_string()),
                Value::Bool(part) => text.push_str(&part.to_string()),
                _ => return self.not_evident(expr, scope),
            }
        }
        text.push_str(rest);
        Ok(Value::Text(text))
    }

    /// Whether a value has the form of a pattern; what the pattern binds is added to the scope.
    fn matches(&mut self, pattern: &Pat, value: &Value, scope: &mut Scope) -> Derived<bool> {
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
            Pat::Lit(literal) => {
                let literal = self.evaluate(&Expr::Lit(literal.clone()), scope, None)?;
                Ok(literal == *value)
            }
            Pat::Ident(binding) if binding.ident == "None" => Ok(*value == Value::Option(None)),
            Pat::Ident(binding)
                if binding.subpat.is_none() && binding.ident.to_string().starts_with(char::is_lowercase) =>
            {
                scope.bind(&binding.ident, Local::value(value.clone(), None));
                Ok(true)
            }
            Pat::Path(path) => {
                let expected = self.evaluate(&Expr::Path(path.clone()), scope, None)?;
                match (expected, value) {
                    (Value::Data(left), Value::Data(right)) => Ok(left.variant == right.variant),
                    (left, right) => Ok(left == *right),
                }
            }
            Pat::TupleStruct(of) => {
                let last = of.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
                let inner: Vec<&Pat> = of.elems.iter().collect();
                match (value, inner.as_slice()) {
                    (Value::Option(Some(value)), [inner]) if last == "Some" => self.matches(inner, value, scope),
                    (Value::Option(None), _) if last == "Some" => Ok(false),
                    (Value::Data(data), [Pat::Rest(_)]) => Ok(data.variant.as_ref().is_none_or(|own| *own == last)),
                    (Value::Data(data), inner) => {
                        if data.variant.as_ref().is_some_and(|own| *own != last) {
                            return Ok(false);
                        }
                        for (index, inner) in inner.iter().enumerate() {
                            let Some(value) = data.fields.get(&index.to_string()).cloned() else {
                                return self.not_evident(pattern, scope);
                            };
                            if !self.matches(inner, &value, scope)? {
                                return Ok(false);
                            }
                        }
                        Ok(true)
                    }
                    _ => self.not_evident(pattern, scope),
                }
            }
            Pat::Struct(of) if of.fields.is_empty() => match value {
                Value::Data(data) => {
                    let last = of.path.segments.last().map(|last| name(&last.ident));
                    Ok(data.variant.is_none() || data.variant == last)
                }
                _ => self.not_evident(pattern, scope),
            },
            _ => self.not_evident(pattern, scope),
        }
    }

    /// The type of an element: of a list, set, array or pointer the first, of a map the key or value.
    pub fn element_type(&mut self, of: Option<&Typed>, index: usize) -> Derived<Option<Typed>> {
        let Some((ty, scope)) = of else { return Ok(None) };
        Ok(match self.resolved(ty, scope)? {
            Resolved::Known { path, arguments, .. } if is_pointer(&path) => {
                let inner = arguments.into_iter().next();
                self.element_type(inner.as_ref(), index)?
            }
            // An array behind `SmallVec<[T; N]>` has the elements.
            Resolved::Known { path, arguments, .. } if path.last().is_some_and(|last| last == "SmallVec") => {
                let inner = arguments.into_iter().next();
                self.element_type(inner.as_ref(), index)?
            }
            Resolved::Known { arguments, .. } => arguments.into_iter().nth(index),
            Resolved::Tuple(types) => types.into_iter().nth(index),
            Resolved::Array(element, ..) | Resolved::Slice(element) => Some(*element),
            Resolved::Data { .. } => None,
        })
    }

    /// The value as one of its type: a number in the range of an integer, a single float, a set in order. What is not of
    /// the type was not understood.
    pub fn fit(&mut self, value: Value, ty: &Typed, expr: &Expr, scope: &Scope) -> Derived<Value> {
        if matches!(value, Value::Unknown(_)) {
            return Ok(value);
        }
        let fitted = match (self.resolved(&ty.0, &ty.1)?, value) {
            (Resolved::Tuple(types), Value::Unit) if types.is_empty() => Some(Value::Unit),
            (Resolved::Tuple(types), Value::List(list)) if types.len() == list.len() => {
                let values = list.into_iter().zip(&types);
                Some(Value::List(all(values.map(|(value, ty)| self.fit(value, ty, expr, scope)))?))
            }
            (Resolved::Array(element, ..) | Resolved::Slice(element), Value::List(list)) => {
                Some(Value::List(all(list.into_iter().map(|value| self.fit(value, &element, expr, scope)))?))
            }
            (Resolved::Data { input, .. }, Value::Data(data)) => {
                Rc::ptr_eq(&input, &data.input).then_some(Value::Data(data))
            }
            (Resolved::Known { path, arguments, .. }, value) => {
                if let ([inner, ..], true) = (arguments.as_slice(), is_pointer(&path)) {
                    return self.fit(value, inner, expr, scope);
                }
                let last = path.last().map(String::as_str).unwrap_or_default();
                let element = |index: usize| arguments.get(index);
                match (last, value) {
                    ("String" | "str" | "PathBuf" | "Path" | "SmolStr" | "ArrayString", Value::Text(text)) => {
                        Some(Value::Text(text))
                    }
                    ("bool" | "AtomicBool", Value::Bool(value)) => Some(Value::Bool(value)),
                    ("char", Value::Char(letter)) => Some(Value::Char(letter)),
                    ("f32", Value::Float(number)) => Some(Value::Float(f64::from(number as f32))),
                    ("f64", Value::Float(number)) => Some(Value::Float(number)),
                    ("PhantomData", value @ Value::Unit) => Some(value),
                    (integer, Value::Integer(number)) => range_of(integer)
                        .is_some_and(|range| {
                            range.contains(&number) && (number != 0 || !integer.starts_with("NonZero"))
                        })
                        .then_some(Value::Integer(number)),
                    ("Option", Value::Option(None)) => Some(Value::Option(None)),
                    ("Option", Value::Option(Some(value))) => match element(0) {
                        Some(inner) => Some(Value::Option(Some(Box::new(self.fit(*value, inner, expr, scope)?)))),
                        None => None,
                    },
                    (collection, Value::List(list)) if !collection.ends_with("Map") => {
                        let element = self.element_type(Some(ty), 0)?;
                        let list = match &element {
                            Some(element) => all(list.into_iter().map(|value| self.fit(value, element, expr, scope)))?,
                            None => list,
                        };
                        in_order(collection, list).map(Value::List)
                    }
                    (map, Value::Map(entries)) if map.ends_with("Map") => {
                        let types = (self.element_type(Some(ty), 0)?, self.element_type(Some(ty), 1)?);
                        let mut fitted = Vec::new();
                        for (key, value) in entries {
                            let (Some(key_type), Some(value_type)) = &types else {
                                return self.not_evident(expr, scope);
                            };
                            fitted.push((
                                self.fit(key, key_type, expr, scope)?,
                                self.fit(value, value_type, expr, scope)?,
                            ));
                        }
                        Some(Value::Map(fitted))
                    }
                    (map, Value::List(pairs)) if map.ends_with("Map") => {
                        let entries = pairs.into_iter().map(|pair| match pair {
                            Value::List(pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
                            _ => None,
                        });
                        match entries.collect() {
                            Some(entries) => return self.fit(Value::Map(entries), ty, expr, scope),
                            None => None,
                        }
                    }
                    // Only such types are told by the JSON that they make.
                    (_, Value::Json(json)) if default_of_std(&path).is_none_or(|_| last == "Value") => {
                        Some(Value::Json(json))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        fitted.map_or_else(|| self.not_evident(expr, scope), Ok)
    }
}

impl Scope {
    pub fn bind(&mut self, ident: &syn::Ident, local: Local) {
        Rc::make_mut(&mut self.locals).insert(name(ident), local);
    }
}

/// The type of a name of the body, seen through `*` and `&`.
fn local_type(expr: &Expr, scope: &Scope) -> Option<Typed> {
    match expr {
        Expr::Path(path) => match scope.locals.get(&name(path.path.get_ident()?))? {
            Local::Value(bound) => bound.1.clone(),
            Local::Expression(..) => None,
        },
        Expr::Unary(unary) => local_type(&unary.expr, scope),
        Expr::Reference(inner) => local_type(&inner.expr, scope),
        Expr::Paren(inner) => local_type(&inner.expr, scope),
        _ => None,
    }
}

/// The elements as the collection has them. `None`: the order is not evident.
fn in_order(collection: &str, mut list: Vec<Value>) -> Option<Vec<Value>> {
    match collection {
        "Vec" | "VecDeque" | "LinkedList" | "IndexSet" | "SmallVec" | "ArrayVec" => Some(list),
        "BTreeSet" if list.iter().all(|value| matches!(value, Value::Text(_))) => {
            list.sort_by(|a, b| text(a).cmp(text(b)));
            list.dedup();
            Some(list)
        }
        "BTreeSet" if list.iter().all(|value| matches!(value, Value::Integer(_))) => {
            list.sort_by_key(|value| match value {
                Value::Integer(number) => *number,
                _ => 0,
            });
            list.dedup();
            Some(list)
        }
        "BTreeSet" | "HashSet" | "BinaryHeap" => (list.len() < 2).then_some(list),
        _ => None,
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

fn arithmetic(op: &BinOp, left: Value, right: Value) -> Option<Value> {
    use Value::{Bool, Float, Integer};
    match (left, right) {
        (Integer(left), Integer(right)) => {
            let shift = || u32::try_from(right).ok();
            Some(Integer(match op {
                BinOp::Add(_) => left.checked_add(right)?,
                BinOp::Sub(_) => left.checked_sub(right)?,
                BinOp::Mul(_) => left.checked_mul(right)?,
                BinOp::Div(_) => left.checked_div(right)?,
                BinOp::Rem(_) => left.checked_rem(right)?,
                BinOp::Shl(_) => left.checked_shl(shift()?)?,
                BinOp::Shr(_) => left.checked_shr(shift()?)?,
                BinOp::BitOr(_) => left | right,
                BinOp::BitAnd(_) => left & right,
                BinOp::BitXor(_) => left ^ right,
                BinOp::Lt(_) => return Some(Bool(left < right)),
                BinOp::Le(_) => return Some(Bool(left <= right)),
                BinOp::Gt(_) => return Some(Bool(left > right)),
                BinOp::Ge(_) => return Some(Bool(left >= right)),
                _ => return None,
            }))
        }
        (Float(left), Float(right)) => Some(match op {
            BinOp::Add(_) => Float(left + right),
            BinOp::Sub(_) => Float(left - right),
            BinOp::Mul(_) => Float(left * right),
            BinOp::Div(_) => Float(left / right),
            BinOp::Lt(_) => Bool(left < right),
            BinOp::Le(_) => Bool(left <= right),
            BinOp::Gt(_) => Bool(left > right),
            BinOp::Ge(_) => Bool(left >= right),
            _ => return None,
        }),
        _ => None,
    }
}

/// The values of an integer type, as far as `i128` has them.
pub fn range_of(ty: &str) -> Option<std::ops::RangeInclusive<i128>> {
    let plain = ty.strip_prefix("NonZero").or_else(|| ty.strip_prefix("Atomic")).unwrap_or(ty).to_lowercase();
    Some(match plain.as_str() {
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "i32" => i32::MIN.into()..=i32::MAX.into(),
        "i64" | "isize" => i64::MIN.into()..=i64::MAX.into(),
        "i128" => i128::MIN..=i128::MAX,
        "u8" => 0..=u8::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "u32" => 0..=u32::MAX.into(),
        "u64" | "usize" => 0..=u64::MAX.into(),
        "u128" => 0..=i128::MAX,
        _ => return None,
    })
}

/// `number as to`: the bits that fit.
fn truncated(number: i128, to: &str) -> Option<i128> {
    Some(match to {
        "i8" => (number as i8).into(),
        "i16" => (number as i16).into(),
        "i32" => (number as i32).into(),
        "i64" | "isize" => (number as i64).into(),
        "i128" => number,
        "u8" => (number as u8).into(),
        "u16" => (number as u16).into(),
        "u32" => (number as u32).into(),
        "u64" | "usize" => (number as u64).into(),
        _ => return None,
    })
}

/// Types that serialize as what they hold.
pub fn is_pointer(path: &[String]) -> bool {
    matches!(
        path.last().map(String::as_str),
        Some("Box" | "Rc" | "Arc" | "Cow" | "Cell" | "RefCell" | "Mutex" | "RwLock" | "Wrapping" | "Reverse")
    )
}

/// What `Default` gives for a type of std, and of crates like it, where that does not depend on a type parameter.
pub fn default_of_std(path: &[String]) -> Option<Value> {
    let last = path.last()?.as_str();
    if range_of(last).is_some() {
        return (!last.starts_with("NonZero")).then_some(Value::Integer(0));
    }
    Some(match last {
        "bool" | "AtomicBool" => Value::Bool(false),
        "char" => Value::Char('\0'),
        "f32" | "f64" => Value::Float(0.0),
        "str" | "String" | "PathBuf" | "SmolStr" | "ArrayString" => Value::Text(String::new()),
        "Option" => Value::Option(None),
        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" | "BTreeSet" | "HashSet" | "IndexSet" | "SmallVec"
        | "ArrayVec" => Value::List(Vec::new()),
        "BTreeMap" | "HashMap" | "IndexMap" | "Map" => Value::Map(Vec::new()),
        "PhantomData" => Value::Unit,
        "Value" => Value::Json(Json::Null),
        _ => return None,
    })
}

fn is_cfg(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// Whether two paths of types have the same text.
pub fn same_text(left: &impl ToTokens, right: &impl ToTokens) -> bool {
    left.to_token_stream().to_string() == right.to_token_stream().to_string()
}
