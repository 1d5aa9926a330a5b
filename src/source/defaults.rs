//! The values that `#[serde(default)]` fills in, as the JSON that serde makes of them.
//!
//! Evaluated is what can only mean one thing: literals, constructors of std, derived and literal `Default`s, functions
//! whose body is such an expression. Anything else is refused; nothing is guessed.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use syn::punctuated::Punctuated;
use syn::{BinOp, Block, DeriveInput, Expr, ExprPath, Path, ReturnType, Stmt, Token, Type, UnOp};

use super::attributes::derives;
use super::constants::{Constant, only_expression, range_of, spelled_out};
use super::modules::name;
use super::types::{Derived, Deriver, Resolved, Scope, all};
use crate::diagnostic::{Diagnostic, Span};

/// The fields of a struct's value, by their Rust names (tuple fields by index); `None`: not serializable.
pub type Fields = BTreeMap<String, Option<Value>>;

/// So many functions and constants deep values are followed; nobody writes more.
const CALLS: u8 = 32;

impl Deriver<'_> {
    /// The value that the function at `path` returns, as JSON. `None`: its type cannot be serialized.
    pub fn made_by(&mut self, path: &ExprPath, ty: &Type, scope: &Scope) -> Derived<Option<Value>> {
        self.evaluate(&call(path.path.clone()), ty, scope)
    }

    /// The fields of the struct that the function at `path` returns.
    pub fn fields_made_by(&mut self, path: &ExprPath, input: &DeriveInput, scope: &Scope) -> Derived<Fields> {
        match self.function(&path.path, scope) {
            Some((at, function)) if function.sig.inputs.is_empty() => {
                let body = (*function.block).clone();
                self.struct_fields(&body, input, scope, &at)
            }
            _ => {
                let span = self.span(scope, path);
                self.not_evident(span)
            }
        }
    }

    /// `Default::default()` or `T::default()`, unless a function of the source has that path.
    fn is_default_call(&mut self, expr: &Expr, scope: &Scope) -> bool {
        let Expr::Call(syn::ExprCall { func, args, .. }) = expr else { return false };
        let Expr::Path(path) = &**func else { return false };
        args.is_empty()
            && path.path.segments.len() > 1
            && ends_with(func, &["default"])
            && self.function(&path.path, scope).is_none()
    }

    /// Goes on in the body of a function or in a constant; one that leads back to itself has no value.
    pub fn followed<T>(&mut self, go_on: impl FnOnce(&mut Self) -> Derived<T>, span: Span) -> Derived<T> {
        if self.calls == CALLS {
            return self.not_evident(span);
        }
        self.calls += 1;
        let answer = go_on(self);
        self.calls -= 1;
        answer
    }

    pub fn not_evident<T>(&mut self, span: Span) -> Derived<T> {
        self.refuse(
            Diagnostic::error("OP014", "the default value is not evident from the source")
                .at(span, "")
                .help("use a literal, a constant, a constructor of std, or a function whose body is one of these"),
        )
    }

    /// `T::default()` as JSON. `None`: the type cannot be serialized, and then schemars gives no default.
    pub fn default_of(&mut self, ty: &Type, scope: &Scope) -> Derived<Option<Value>> {
        match self.resolved(ty, scope)? {
            Resolved::Known { path, entry, arguments } => {
                if let Some(value) = entry.default_value() {
                    return Ok(Some(value));
                }
                // Smart pointers have the default of what they point to.
                if let ([(inner, scope)], true) = (arguments.as_slice(), is_pointer(&path)) {
                    return self.default_of(inner, scope);
                }
                let span = self.span(scope, ty);
                self.not_evident(span)
            }
            Resolved::Tuple(types) => {
                let values = all(types.iter().map(|(ty, scope)| self.default_of(ty, scope)))?;
                let values: Option<Vec<Value>> = values.into_iter().collect();
                Ok(values.map(|values| if values.is_empty() { Value::Null } else { values.into() }))
            }
            Resolved::Array(element, length) => {
                let length = self.integer(&length, &element.1)?;
                let value = self.default_of(&element.0, &element.1)?;
                Ok(value.map(|value| vec![value; usize::try_from(length).unwrap_or(0)].into()))
            }
            Resolved::Slice(_) => Ok(Some(json!([]))),
            Resolved::Data { module, input, scope, .. } => {
                if !self.serializes(module, &input, &scope)? {
                    return Ok(None);
                }
                if let syn::Data::Enum(data) = &input.data
                    && derives(&input.attrs, "Default")
                {
                    let chosen = data
                        .variants
                        .iter()
                        .find(|variant| variant.attrs.iter().any(|attribute| attribute.path().is_ident("default")));
                    if let Some(variant) = chosen {
                        let span = self.span(&scope, variant);
                        return self.unit_variant(&input, &variant.ident, &scope, span).map(Some);
                    }
                }
                if let syn::Data::Enum(_) = &input.data {
                    let implementation = self.implementation("Default", module, &name(&input.ident));
                    if let Some((at, body)) =
                        implementation.and_then(|(at, item)| Some((at, default_body(&item, &input.ident)?)))
                    {
                        let span = self.span(&Scope::of(at), &body);
                        if let Some(Expr::Path(path)) = only_expression(&body)
                            && let Some(last) = path.path.segments.last()
                        {
                            return self.unit_variant(&input, &last.ident, &scope, span).map(Some);
                        }
                    }
                    let span = self.span(&scope, &input.ident);
                    return self.not_evident(span);
                }
                let fields = self.default_fields(&input, &scope)?;
                self.serialized(&input, fields, &scope).map(Some)
            }
        }
    }

    /// The fields of `Self::default()` of a struct.
    pub fn default_fields(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<Fields> {
        if derives(&input.attrs, "Default") {
            let syn::Data::Struct(data) = &input.data else {
                let span = self.span(scope, &input.ident);
                return self.not_evident(span);
            };
            return data
                .fields
                .iter()
                .enumerate()
                .map(|(index, field)| Ok((field_key(field, index), self.default_of(&field.ty, scope)?)))
                .collect();
        }
        let implementation = self.implementation("Default", scope.module, &name(&input.ident));
        match implementation.and_then(|(at, item)| Some((at, default_body(&item, &input.ident)?))) {
            Some((at, body)) => self.struct_fields(&body, input, scope, &Scope::of(at)),
            None => {
                let span = self.span(scope, &input.ident);
                self.not_evident(span)
            }
        }
    }

    /// The fields that a body gives: one struct literal, or a call of another such function.
    fn struct_fields(&mut self, body: &Block, input: &DeriveInput, scope: &Scope, at: &Scope) -> Derived<Fields> {
        let span = self.span(at, body);
        let syn::Data::Struct(data) = &input.data else { return self.not_evident(span) };
        let literal = match only_expression(body) {
            Some(Expr::Struct(literal)) => literal,
            Some(Expr::Call(call)) if call.args.is_empty() => {
                let made = match &*call.func {
                    Expr::Path(path) => self.function(&path.path, at),
                    _ => None,
                };
                return match made {
                    Some((at, function)) => {
                        self.followed(|deriver| deriver.struct_fields(&function.block, input, scope, &at), span)
                    }
                    None => self.not_evident(span),
                };
            }
            Some(Expr::Call(call)) if call.args.len() == data.fields.len() => {
                let values = call.args.iter().zip(&data.fields).enumerate();
                return values
                    .map(|(index, (value, field))| {
                        Ok((field_key(field, index), self.evaluate_in(value, &field.ty, scope, at)?))
                    })
                    .collect();
            }
            _ => return self.not_evident(span),
        };
        let mut fields = Fields::new();
        for (index, field) in data.fields.iter().enumerate() {
            let key = field_key(field, index);
            let given = literal.fields.iter().find(|given| match &given.member {
                syn::Member::Named(ident) => name(ident) == key,
                syn::Member::Unnamed(index) => index.index.to_string() == key,
            });
            let value = match (given, &literal.rest) {
                (Some(given), _) => self.evaluate_in(&given.expr, &field.ty, scope, at)?,
                (None, Some(rest)) if self.is_default_call(rest, at) && derives(&input.attrs, "Default") => {
                    self.default_of(&field.ty, scope)?
                }
                _ => return self.not_evident(span),
            };
            fields.insert(key, value);
        }
        Ok(fields)
    }

    /// An expression of a type, as JSON. `None`: the type cannot be serialized.
    pub fn evaluate(&mut self, expr: &Expr, ty: &Type, scope: &Scope) -> Derived<Option<Value>> {
        self.evaluate_in(expr, ty, scope, scope)
    }

    /// The same where the type stands in `scope` and the expression at `at`, so that their names mean what they mean there.
    fn evaluate_in(&mut self, expr: &Expr, ty: &Type, scope: &Scope, at: &Scope) -> Derived<Option<Value>> {
        let span = self.span(at, expr);
        match expr {
            Expr::Paren(inner) => return self.evaluate_in(&inner.expr, ty, scope, at),
            Expr::Group(inner) => return self.evaluate_in(&inner.expr, ty, scope, at),
            Expr::Reference(inner) => return self.evaluate_in(&inner.expr, ty, scope, at),
            Expr::Block(block) => {
                if let Some(inner) = only_expression(&block.block) {
                    return self.evaluate_in(inner, ty, scope, at);
                }
            }
            _ if self.is_default_call(expr, at) => return self.default_of(ty, scope),
            Expr::Call(call) if call.args.is_empty() => {
                if let Expr::Path(path) = &*call.func
                    && let Some((at, function)) = self.function(&path.path, at)
                    && function.sig.inputs.is_empty()
                    && let ReturnType::Type(_, returned) = &function.sig.output
                    && let Some(inner) = only_expression(&function.block)
                {
                    return self.followed(|deriver| deriver.evaluate(inner, returned, &at), span);
                }
            }
            Expr::Path(path) if path.qself.is_none() => {
                if let Some((at, (ty, value))) = self.const_item(&path.path, at) {
                    return self.followed(|deriver| deriver.evaluate(&value, &ty, &at), span);
                }
            }
            _ => {}
        }
        match self.resolved(ty, scope)? {
            Resolved::Known { path, arguments, .. } => self.known_value(expr, &path, &arguments, at).map(Some),
            Resolved::Data { module, input, scope: inner, .. } => {
                if !self.serializes(module, &input, &inner)? {
                    return Ok(None);
                }
                match (&input.data, expr) {
                    (syn::Data::Enum(_), Expr::Path(path)) => {
                        let last = &path.path.segments.last().expect("a path has a segment").ident;
                        self.unit_variant(&input, last, &inner, span).map(Some)
                    }
                    (syn::Data::Struct(_), Expr::Struct(_) | Expr::Call(_)) => {
                        let body =
                            Block { brace_token: Default::default(), stmts: vec![Stmt::Expr(expr.clone(), None)] };
                        let fields = self.struct_fields(&body, &input, &inner, at)?;
                        self.serialized(&input, fields, &inner).map(Some)
                    }
                    _ => self.not_evident(span),
                }
            }
            Resolved::Array(element, _) | Resolved::Slice(element) => match expr {
                Expr::Array(array) => {
                    let (ty, scope) = *element;
                    let values = all(array.elems.iter().map(|value| self.evaluate_in(value, &ty, &scope, at)))?;
                    Ok(values.into_iter().collect::<Option<Vec<_>>>().map(Value::from))
                }
                _ => self.not_evident(span),
            },
            Resolved::Tuple(types) => match expr {
                Expr::Tuple(tuple) if tuple.elems.len() == types.len() => {
                    let values = tuple.elems.iter().zip(&types);
                    let values = all(values.map(|(value, (ty, scope))| self.evaluate_in(value, ty, scope, at)))?;
                    let values: Option<Vec<Value>> = values.into_iter().collect();
                    Ok(values.map(|values| if values.is_empty() { Value::Null } else { values.into() }))
                }
                _ => self.not_evident(span),
            },
        }
    }

    /// An expression of a type of std.
    fn known_value(
        &mut self,
        expr: &Expr,
        path: &[String],
        arguments: &[(Type, Scope)],
        scope: &Scope,
    ) -> Derived<Value> {
        let last = path.last().expect("a path has a segment").as_str();
        let refused = self.span(scope, expr);
        let Some((inner, inner_scope)) = arguments.first().cloned() else {
            return match (last, self.scalar(expr, scope)?) {
                ("String" | "str" | "PathBuf" | "Path" | "OsString", Constant::Text(text)) => Ok(text.into()),
                ("bool", Constant::Bool(value)) => Ok(value.into()),
                ("String" | "char", Constant::Char(letter)) => Ok(letter.to_string().into()),
                ("f32", Constant::Float(number)) => Ok(json!(number as f32)),
                ("f64", Constant::Float(number)) => Ok(json!(number)),
                (integer, Constant::Integer(number))
                    if range_of(integer).is_some_and(|range| range.contains(&number)) =>
                {
                    let small = u64::try_from(number).map(Value::from);
                    small.or_else(|_| i64::try_from(number).map(Value::from)).or_else(|_| self.not_evident(refused))
                }
                _ => self.not_evident(refused),
            };
        };
        let required =
            |value: Option<Value>, deriver: &mut Self, span| value.map_or_else(|| deriver.not_evident(span), Ok);
        if last == "Option" {
            return match expr {
                Expr::Path(path) if path.path.is_ident("None") => Ok(Value::Null),
                Expr::Call(call) if call.args.len() == 1 && ends_with(&call.func, &["Some"]) => {
                    let value = self.evaluate_in(&call.args[0], &inner, &inner_scope, scope)?;
                    required(value, self, refused)
                }
                _ => self.not_evident(refused),
            };
        }
        if is_pointer(path) {
            let value = match expr {
                Expr::Call(call) if call.args.len() == 1 && ends_with(&call.func, &["new"]) => &call.args[0],
                other => other,
            };
            let value = self.evaluate_in(value, &inner, &inner_scope, scope)?;
            return required(value, self, refused);
        }
        let is_map = last.ends_with("Map");
        match expr {
            Expr::Call(call) if call.args.is_empty() && ends_with(&call.func, &["new"]) => {
                Ok(if is_map { json!({}) } else { json!([]) })
            }
            Expr::Macro(list) if list.mac.path.is_ident("vec") && last == "Vec" => {
                let elements = list.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let elements = self.parsed(scope, elements)?;
                let values = all(elements.iter().map(|value| self.evaluate_in(value, &inner, &inner_scope, scope)))?;
                required(values.into_iter().collect::<Option<Vec<_>>>().map(Value::from), self, refused)
            }
            _ => self.not_evident(refused),
        }
    }

    /// A constant, also through `String::from`, `PathBuf::from` and `String::new`.
    pub fn scalar(&mut self, expr: &Expr, scope: &Scope) -> Derived<Constant> {
        match expr {
            Expr::Call(call) if call.args.is_empty() && ends_with(&call.func, &["String", "new"]) => {
                Ok(Constant::Text(String::new()))
            }
            Expr::Call(call)
                if call.args.len() == 1
                    && (ends_with(&call.func, &["String", "from"]) || ends_with(&call.func, &["PathBuf", "from"])) =>
            {
                self.constant(&call.args[0], scope)
            }
            _ => self.constant(expr, scope),
        }
    }

    /// Whether a `skip_serializing_if` function is true of a value.
    pub fn skips(&mut self, function: &ExprPath, value: &Value, ty: &Type, scope: &Scope) -> Derived<bool> {
        let path = &function.path;
        let last = path.segments.last().expect("a path has a segment").ident.to_string();
        if let Some((at, function)) = self.function(path, scope) {
            let argument = match function.sig.inputs.first() {
                Some(syn::FnArg::Typed(typed)) if function.sig.inputs.len() == 1 => match &*typed.pat {
                    syn::Pat::Ident(pattern) => Some(pattern.ident.clone()),
                    _ => None,
                },
                // `fn is_empty(&self)` of a type of the source.
                _ => None,
            };
            if let (Some(argument), Some(body)) = (argument, only_expression(&function.block))
                && let Some(answer) = self.predicate(body, &argument, value, ty, &at, scope)?
            {
                return Ok(answer);
            }
        } else if path.segments.len() > 1 {
            match (last.as_str(), value) {
                ("is_none", value) if path.segments.iter().any(|segment| segment.ident == "Option") => {
                    return Ok(value.is_null());
                }
                ("is_empty", Value::String(text)) => return Ok(text.is_empty()),
                ("is_empty", Value::Array(list)) => return Ok(list.is_empty()),
                ("is_empty", Value::Object(map)) => return Ok(map.is_empty()),
                ("not", Value::Bool(value)) => return Ok(!value),
                _ => {}
            }
        }
        let span = self.span(scope, function);
        self.refuse(
            Diagnostic::error("OP014", "whether the default is skipped is not evident from the source")
                .at(span, "")
                .help("use `Option::is_none`, `Vec::is_empty`, or a function that is one comparison"),
        )
    }

    /// A one-expression predicate of one argument; `None`: not of a known form.
    fn predicate(
        &mut self,
        body: &Expr,
        argument: &syn::Ident,
        value: &Value,
        ty: &Type,
        at: &Scope,
        scope: &Scope,
    ) -> Derived<Option<bool>> {
        let is_argument = |expr: &Expr| {
            let mut expr = expr;
            loop {
                expr = match expr {
                    Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => &unary.expr,
                    Expr::Reference(reference) => &reference.expr,
                    Expr::Paren(inner) => &inner.expr,
                    Expr::Path(path) => return path.path.is_ident(argument),
                    _ => return false,
                }
            }
        };
        Ok(match body {
            Expr::Block(block) => match only_expression(&block.block) {
                Some(body) => self.predicate(body, argument, value, ty, at, scope)?,
                None => None,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) && is_argument(&unary.expr) => {
                value.as_bool().map(|value| !value)
            }
            expr if is_argument(expr) => value.as_bool(),
            Expr::MethodCall(call) if is_argument(&call.receiver) && call.args.is_empty() => {
                match (call.method.to_string().as_str(), value) {
                    ("is_none", value) => Some(value.is_null()),
                    ("is_some", value) => Some(!value.is_null()),
                    ("is_empty", Value::String(text)) => Some(text.is_empty()),
                    ("is_empty", Value::Array(list)) => Some(list.is_empty()),
                    ("is_empty", Value::Object(map)) => Some(map.is_empty()),
                    _ => None,
                }
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_)) => {
                let other = match (is_argument(&binary.left), is_argument(&binary.right)) {
                    (true, false) => &binary.right,
                    (false, true) => &binary.left,
                    _ => return Ok(None),
                };
                let other = if self.is_default_call(strip(other), at) {
                    self.default_of(ty, scope)?
                } else {
                    self.evaluate_in(other, ty, scope, at)?
                };
                other.map(|other| (other == *value) == matches!(binary.op, BinOp::Eq(_)))
            }
            _ => None,
        })
    }
}

/// Types that serialize as what they hold.
fn is_pointer(path: &[String]) -> bool {
    matches!(
        path.last().map(String::as_str),
        Some("Box" | "Rc" | "Arc" | "Cow" | "Cell" | "RefCell" | "Mutex" | "RwLock" | "Wrapping" | "Reverse")
    )
}

fn strip(mut expr: &Expr) -> &Expr {
    while let Expr::Reference(syn::ExprReference { expr: inner, .. })
    | Expr::Paren(syn::ExprParen { expr: inner, .. }) = expr
    {
        expr = inner;
    }
    expr
}

/// Whether an expression is a path with these last segments.
fn ends_with(expr: &Expr, segments: &[&str]) -> bool {
    let Expr::Path(path) = expr else { return false };
    let path = &path.path.segments;
    path.len() >= segments.len()
        && path.iter().rev().zip(segments.iter().rev()).all(|(left, right)| left.ident == right)
}

fn field_key(field: &syn::Field, index: usize) -> String {
    field.ident.as_ref().map_or_else(|| index.to_string(), name)
}

/// The body of `fn default() -> Self` in an `impl Default` of a type.
fn default_body(item: &syn::ItemImpl, type_name: &syn::Ident) -> Option<Block> {
    item.items.iter().find_map(|item| match item {
        syn::ImplItem::Fn(function) if function.sig.ident == "default" => {
            Some(spelled_out(&function.block, &type_name.to_string()))
        }
        _ => None,
    })
}

fn call(path: Path) -> Expr {
    syn::parse_quote!(#path())
}
