//! A small evaluator: constants in attributes, and the values that `#[serde(default)]` fills in, as JSON.
//!
//! It evaluates what can only mean one thing: literals, constants, constructors of std, derived and literal `Default`s,
//! functions whose body is such an expression. Anything else is refused; nothing is guessed.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_derive_internals::ast::{self, Data, Style};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::{Ctxt, Derive};
use serde_json::{Map, Value, json};
use syn::punctuated::Punctuated;
use syn::{BinOp, Block, DeriveInput, Expr, ExprPath, ItemFn, Lit, Path, ReturnType, Stmt, Token, Type, UnOp};

use super::attributes::derives;
use super::modules::{UsePath, name};
use super::resolve::{Namespace, Target, resolve};
use super::types::{Derived, Deriver, Resolved, Scope, all};
use crate::diagnostic::Diagnostic;

/// The fields of a struct's value, by their Rust names (tuple fields by index); `None`: not serializable.
pub type Fields = BTreeMap<String, Option<Value>>;

/// A constant of a primitive type.
#[derive(Clone, Debug, PartialEq)]
enum Constant {
    Integer(i128),
    Float(f64),
    Text(String),
    Bool(bool),
    Char(char),
}

impl Deriver<'_> {
    /// A string known at compile time: a literal, `concat!`, `include_str!` of a file of the package, a constant.
    pub fn text(&mut self, expr: &Expr, scope: &Scope) -> Derived<String> {
        match self.constant(expr, scope)? {
            Constant::Text(text) => Ok(text),
            Constant::Char(letter) => Ok(letter.to_string()),
            Constant::Integer(number) => Ok(number.to_string()),
            Constant::Bool(value) => Ok(value.to_string()),
            Constant::Float(_) => self.not_constant(expr, scope),
        }
    }

    pub fn integer(&mut self, expr: &Expr, scope: &Scope) -> Derived<i128> {
        match self.constant(expr, scope)? {
            Constant::Integer(number) => Ok(number),
            _ => self.not_constant(expr, scope),
        }
    }

    /// A number as it stands in a schema.
    pub fn number(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match self.constant(expr, scope)? {
            Constant::Integer(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Ok(number.into()),
                (_, Ok(number)) => Ok(number.into()),
                _ => self.not_constant(expr, scope),
            },
            Constant::Float(number) => Ok(json!(number)),
            _ => self.not_constant(expr, scope),
        }
    }

    fn not_constant<T>(&mut self, expr: &Expr, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, expr);
        self.refuse(
            Diagnostic::error("OP014", "the value of this expression is not evident from the source")
                .at(span, "")
                .help("use a literal, or a constant made of literals"),
        )
    }

    fn constant(&mut self, expr: &Expr, scope: &Scope) -> Derived<Constant> {
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Ok(Constant::Text(text.value())),
                Lit::Bool(value) => Ok(Constant::Bool(value.value)),
                Lit::Char(letter) => Ok(Constant::Char(letter.value())),
                Lit::Byte(byte) => Ok(Constant::Integer(byte.value().into())),
                Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => {
                    let parsed = number.base10_digits().parse();
                    parsed.map(Constant::Float).or_else(|_| self.not_constant(expr, scope))
                }
                Lit::Int(number) => number.base10_parse().map(Constant::Integer).or_else(|_| self.not_constant(expr, scope)),
                // `to_value` of an `f32` is the nearest `f64`, digits and all.
                Lit::Float(number) if number.suffix() == "f32" => {
                    let parsed = number.base10_digits().parse::<f32>();
                    parsed.map(|number| Constant::Float(number.into())).or_else(|_| self.not_constant(expr, scope))
                }
                Lit::Float(number) => {
                    number.base10_digits().parse().map(Constant::Float).or_else(|_| self.not_constant(expr, scope))
                }
                _ => self.not_constant(expr, scope),
            },
            Expr::Paren(inner) => self.constant(&inner.expr, scope),
            Expr::Group(inner) => self.constant(&inner.expr, scope),
            Expr::Reference(inner) => self.constant(&inner.expr, scope),
            Expr::Block(block) => match only_expression(&block.block) {
                Some(inner) => self.constant(inner, scope),
                None => self.not_constant(expr, scope),
            },
            Expr::Unary(unary) => match (&unary.op, self.constant(&unary.expr, scope)?) {
                (UnOp::Neg(_), Constant::Integer(number)) => Ok(Constant::Integer(-number)),
                (UnOp::Neg(_), Constant::Float(number)) => Ok(Constant::Float(-number)),
                (UnOp::Not(_), Constant::Bool(value)) => Ok(Constant::Bool(!value)),
                _ => self.not_constant(expr, scope),
            },
            Expr::Binary(binary) => {
                let (left, right) = (self.constant(&binary.left, scope)?, self.constant(&binary.right, scope)?);
                arithmetic(&binary.op, left, right).map_or_else(|| self.not_constant(expr, scope), Ok)
            }
            Expr::Cast(cast) => {
                let to = match &*cast.ty {
                    Type::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
                    _ => String::new(),
                };
                match (self.constant(&cast.expr, scope)?, to.as_str()) {
                    (Constant::Integer(number), "f64") => Ok(Constant::Float(number as f64)),
                    (Constant::Integer(number), "f32") => Ok(Constant::Float(f64::from(number as f32))),
                    (Constant::Integer(number), to) if range_of(to).is_some_and(|range| range.contains(&number)) => {
                        Ok(Constant::Integer(number))
                    }
                    _ => self.not_constant(expr, scope),
                }
            }
            Expr::Macro(call) => self.constant_macro(expr, call, scope),
            Expr::Path(path) if path.qself.is_none() => self.constant_path(expr, &path.path, scope),
            Expr::MethodCall(call) if call.args.is_empty() && is_conversion(&call.method) => {
                self.constant(&call.receiver, scope)
            }
            _ => self.not_constant(expr, scope),
        }
    }

    fn constant_macro(&mut self, expr: &Expr, call: &syn::ExprMacro, scope: &Scope) -> Derived<Constant> {
        let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "concat" => {
                let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let parts = self.parsed(scope, parts)?;
                Ok(Constant::Text(all(parts.iter().map(|part| self.text(part, scope)))?.concat()))
            }
            _ => self.not_constant(expr, scope),
        }
    }

    fn constant_path(&mut self, expr: &Expr, path: &Path, scope: &Scope) -> Derived<Constant> {
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        if let [.., ty, limit @ ("MAX" | "MIN")] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && let Some(range) = range_of(ty)
        {
            return Ok(Constant::Integer(if limit == "MAX" { *range.end() } else { *range.start() }));
        }
        if let Some((at, item)) = self.const_item(path, scope) {
            return self.constant(&item.1, &at);
        }
        self.not_constant(expr, scope)
    }

    /// A constant of the source, free or associated: where it stands, its type and its value.
    fn const_item(&mut self, path: &Path, scope: &Scope) -> Option<(Scope, (Type, Expr))> {
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let global = path.leading_colon.is_some();
        let whole = UsePath { global, segments: segments.clone() };
        if let Some(Target::Item(module, name)) = resolve(self.modules, scope.module, &whole, Namespace::Value) {
            let item = self.modules.module(module).consts.get(&name)?;
            return Some((Scope::of(module), ((*item.ty).clone(), (*item.expr).clone())));
        }
        let (last, owner) = segments.split_last()?;
        let owner = UsePath { global, segments: owner.to_vec() };
        let Some(Target::Item(module, type_name)) = resolve(self.modules, scope.module, &owner, Namespace::Type) else {
            return None;
        };
        let found = self.associated(module, &type_name).find_map(|(at, item)| {
            item.items.iter().find_map(|item| match item {
                syn::ImplItem::Const(item) if item.ident == last => {
                    Some((Scope::of(at), (item.ty.clone(), item.expr.clone())))
                }
                _ => None,
            })
        });
        found
    }

    /// A function of the source, free or associated, and where its body stands.
    pub fn function(&mut self, path: &Path, scope: &Scope) -> Option<(Scope, Rc<ItemFn>)> {
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let global = path.leading_colon.is_some();
        let whole = UsePath { global, segments: segments.clone() };
        if let Some(Target::Item(module, name)) = resolve(self.modules, scope.module, &whole, Namespace::Value) {
            return Some((Scope::of(module), self.modules.module(module).functions.get(&name)?.clone()));
        }
        let (last, owner) = segments.split_last()?;
        let owner = UsePath { global, segments: owner.to_vec() };
        let Some(Target::Item(module, type_name)) = resolve(self.modules, scope.module, &owner, Namespace::Type) else {
            return None;
        };
        self.associated(module, &type_name).find_map(|(at, item)| {
            item.items.iter().find_map(|item| match item {
                syn::ImplItem::Fn(function) if function.sig.ident == last => {
                    let mut sig = function.sig.clone();
                    if let ReturnType::Type(_, ty) = &mut sig.output
                        && matches!(&**ty, Type::Path(path) if path.path.is_ident("Self"))
                    {
                        **ty = (*itself(&type_name)).clone();
                    }
                    let function = ItemFn {
                        attrs: Vec::new(),
                        vis: syn::Visibility::Inherited,
                        modifiers: function.modifiers.clone(),
                        sig,
                        block: Box::new(function.block.clone()),
                    };
                    Some((Scope::of(at), Rc::new(function)))
                }
                _ => None,
            })
        })
    }

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

    fn not_evident<T>(&mut self, span: crate::diagnostic::Span) -> Derived<T> {
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
                let length = self.integer(&length, scope)?;
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
                    let chosen = data.variants.iter().find(|variant| {
                        variant.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
                    });
                    if let Some(variant) = chosen {
                        let ident = variant.ident.clone();
                        return self.unit_variant(&input, &ident, &scope).map(Some);
                    }
                }
                if let syn::Data::Enum(_) = &input.data {
                    let implementation = self.implementation("Default", module, &name(&input.ident));
                    if let Some((at, body)) = implementation.and_then(|(at, item)| Some((at, default_body(&item)?))) {
                        let at = Scope::of(at);
                        if let Some(Expr::Path(path)) = only_expression(&body)
                            && let Some(last) = path.path.segments.last()
                        {
                            return self.unit_variant(&input, &last.ident.clone(), &at).map(Some);
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
        match implementation.and_then(|(at, item)| Some((at, default_body(&item)?))) {
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
            Some(Expr::Call(call)) if call.args.len() == data.fields.len() => {
                let values = call.args.iter().zip(&data.fields).enumerate();
                return values
                    .map(|(index, (value, field))| Ok((field_key(field, index), self.evaluate_in(value, &field.ty, scope, at)?)))
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
                (None, Some(rest)) if is_default_call(rest) && derives(&input.attrs, "Default") => {
                    self.default_of(&field.ty, scope)?
                }
                _ => return self.not_evident(span),
            };
            fields.insert(key, value);
        }
        Ok(fields)
    }

    /// Evaluates an expression that stands at `at` as a value of a type that stands in `scope`.
    fn evaluate_in(&mut self, expr: &Expr, ty: &Type, scope: &Scope, at: &Scope) -> Derived<Option<Value>> {
        if scope.module == at.module {
            return self.evaluate(expr, ty, scope);
        }
        // Two modules: the names in the expression mean what they mean there, so only name-free expressions are safe.
        match expr {
            Expr::Path(_) | Expr::Struct(_) => {
                let span = self.span(at, expr);
                self.not_evident(span)
            }
            _ => self.evaluate(expr, ty, scope),
        }
    }

    /// An expression of a type, as JSON. `None`: the type cannot be serialized.
    pub fn evaluate(&mut self, expr: &Expr, ty: &Type, scope: &Scope) -> Derived<Option<Value>> {
        match expr {
            Expr::Paren(inner) => return self.evaluate(&inner.expr, ty, scope),
            Expr::Group(inner) => return self.evaluate(&inner.expr, ty, scope),
            Expr::Reference(inner) => return self.evaluate(&inner.expr, ty, scope),
            Expr::Block(block) => {
                if let Some(inner) = only_expression(&block.block) {
                    return self.evaluate(inner, ty, scope);
                }
            }
            Expr::Call(call) if is_default_call(expr) && call.args.is_empty() => return self.default_of(ty, scope),
            Expr::Call(call) if call.args.is_empty() => {
                if let Expr::Path(path) = &*call.func
                    && let Some((at, function)) = self.function(&path.path, scope)
                    && function.sig.inputs.is_empty()
                    && let ReturnType::Type(_, returned) = &function.sig.output
                    && let Some(inner) = only_expression(&function.block)
                {
                    return self.evaluate(inner, returned, &at);
                }
            }
            Expr::Path(path) if path.qself.is_none() => {
                if let Some((at, (ty, value))) = self.const_item(&path.path, scope) {
                    return self.evaluate(&value, &ty, &at);
                }
            }
            _ => {}
        }
        match self.resolved(ty, scope)? {
            Resolved::Known { path, arguments, .. } => self.known_value(expr, &path, &arguments, scope).map(Some),
            Resolved::Data { module, input, scope: inner, .. } => {
                if !self.serializes(module, &input, &inner)? {
                    return Ok(None);
                }
                match (&input.data, expr) {
                    (syn::Data::Enum(_), Expr::Path(path)) => {
                        let last = path.path.segments.last().expect("a path has a segment").ident.clone();
                        self.unit_variant(&input, &last, &inner).map(Some)
                    }
                    (syn::Data::Struct(_), Expr::Struct(_) | Expr::Call(_)) => {
                        let body = Block { brace_token: Default::default(), stmts: vec![Stmt::Expr(expr.clone(), None)] };
                        let fields = self.struct_fields(&body, &input, &inner, scope)?;
                        self.serialized(&input, fields, &inner).map(Some)
                    }
                    _ => {
                        let span = self.span(scope, expr);
                        self.not_evident(span)
                    }
                }
            }
            Resolved::Array(element, _) | Resolved::Slice(element) => match expr {
                Expr::Array(array) => {
                    let values = all(array.elems.iter().map(|value| self.evaluate(value, &element.0, scope)))?;
                    Ok(values.into_iter().collect::<Option<Vec<_>>>().map(Value::from))
                }
                _ => {
                    let span = self.span(scope, expr);
                    self.not_evident(span)
                }
            },
            Resolved::Tuple(types) => match expr {
                Expr::Tuple(tuple) if tuple.elems.len() == types.len() => {
                    let values = tuple.elems.iter().zip(&types);
                    let values = all(values.map(|(value, (ty, _))| self.evaluate(value, ty, scope)))?;
                    let values: Option<Vec<Value>> = values.into_iter().collect();
                    Ok(values.map(|values| if values.is_empty() { Value::Null } else { values.into() }))
                }
                _ => {
                    let span = self.span(scope, expr);
                    self.not_evident(span)
                }
            },
        }
    }

    /// An expression of a type of std.
    fn known_value(&mut self, expr: &Expr, path: &[String], arguments: &[(Type, Scope)], scope: &Scope) -> Derived<Value> {
        let last = path.last().expect("a path has a segment").as_str();
        let refused = self.span(scope, expr);
        let Some((inner, inner_scope)) = arguments.first().cloned() else {
            return match (last, self.scalar(expr, scope)?) {
                ("String" | "str" | "PathBuf" | "Path" | "OsString", Constant::Text(text)) => Ok(text.into()),
                ("bool", Constant::Bool(value)) => Ok(value.into()),
                ("char", Constant::Char(letter)) => Ok(letter.to_string().into()),
                ("f32", Constant::Float(number)) => Ok(json!(number as f32)),
                ("f64", Constant::Float(number)) => Ok(json!(number)),
                (integer, Constant::Integer(number)) if range_of(integer).is_some_and(|range| range.contains(&number)) => {
                    let small = u64::try_from(number).map(Value::from);
                    small.or_else(|_| i64::try_from(number).map(Value::from)).or_else(|_| self.not_evident(refused))
                }
                _ => self.not_evident(refused),
            };
        };
        let required = |value: Option<Value>, deriver: &mut Self, span| value.map_or_else(|| deriver.not_evident(span), Ok);
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
    fn scalar(&mut self, expr: &Expr, scope: &Scope) -> Derived<Constant> {
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

    /// Whether the type can be serialized; a hand-written `Serialize` is refused, since its output is not evident.
    fn serializes(&mut self, module: super::modules::ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<bool> {
        if derives(&input.attrs, "Serialize") {
            return Ok(true);
        }
        if self.implementation("Serialize", module, &name(&input.ident)).is_some() || derives(&input.attrs, "Serialize_repr") {
            let span = self.span(scope, &input.ident);
            return self.not_evident(span);
        }
        Ok(false)
    }

    /// A unit variant as serde writes it.
    fn unit_variant(&mut self, input: &DeriveInput, variant: &syn::Ident, scope: &Scope) -> Derived<Value> {
        let errors = Ctxt::new();
        let private = syn::Ident::new("__private", input.ident.span());
        let container = ast::Container::from_ast(&errors, input, Derive::Serialize, &private);
        self.parsed(scope, errors.check())?;
        let container = container.expect("serde gives a container or an error");
        let found = match &container.data {
            Data::Enum(variants) => variants.iter().find(|found| found.ident == *variant && matches!(found.style, Style::Unit)),
            Data::Struct(..) => None,
        };
        let span = self.span(scope, variant);
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
    fn serialized(&mut self, input: &DeriveInput, mut values: Fields, scope: &Scope) -> Derived<Value> {
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
                let other = if is_default_call(strip(other)) {
                    self.default_of(ty, scope)?
                } else {
                    self.evaluate_in(other, ty, scope, at)?
                };
                other.map(|other| (other == *value) == matches!(binary.op, BinOp::Eq(_)))
            }
            _ => None,
        })
    }

    /// An expression of no particular type, as JSON: an example.
    pub fn untyped(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match expr {
            Expr::Reference(inner) => self.untyped(&inner.expr, scope),
            Expr::Array(array) => Ok(all(array.elems.iter().map(|value| self.untyped(value, scope)))?.into()),
            Expr::Macro(list) if list.mac.path.is_ident("vec") => {
                let elements = list.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let elements = self.parsed(scope, elements)?;
                Ok(all(elements.iter().map(|value| self.untyped(value, scope)))?.into())
            }
            Expr::Macro(literal) if literal.mac.path.segments.last().is_some_and(|last| last.ident == "json") => {
                self.json(literal.mac.tokens.clone(), scope)
            }
            _ => match self.scalar(expr, scope)? {
                Constant::Text(text) => Ok(text.into()),
                Constant::Bool(value) => Ok(value.into()),
                Constant::Char(letter) => Ok(letter.to_string().into()),
                _ => self.number(expr, scope),
            },
        }
    }

    /// The tokens of a `json!({ … })`, whose values may be constants and `generator.subschema_for::<T>()`.
    pub fn json(&mut self, tokens: TokenStream, scope: &Scope) -> Derived<Value> {
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => {
                let mut object = Map::new();
                for member in split(group.stream()) {
                    let (key, value) = halves(member);
                    let key = syn::parse2::<Expr>(key);
                    let key = self.parsed(scope, key)?;
                    let key = self.text(&key, scope)?;
                    object.insert(key, self.json(value, scope)?);
                }
                Ok(object.into())
            }
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
                Ok(all(split(group.stream()).into_iter().map(|element| self.json(element, scope)))?.into())
            }
            (Some(TokenTree::Ident(word)), None) if word == "null" => Ok(Value::Null),
            _ => {
                let expr = syn::parse2::<Expr>(tokens);
                let expr = self.parsed(scope, expr)?;
                self.json_value(&expr, scope)
            }
        }
    }

    fn json_value(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match expr {
            Expr::Paren(inner) => self.json_value(&inner.expr, scope),
            Expr::MethodCall(call) if call.method == "subschema_for" => {
                let ty = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                    Some(syn::GenericArgument::Type(ty)) => Some(ty),
                    _ => None,
                });
                match ty {
                    Some(ty) => Ok(self.shape(ty, scope)?.schema.to_value()),
                    None => self.not_constant(expr, scope),
                }
            }
            _ => self.untyped(expr, scope),
        }
    }
}

/// Splits at the commas of this level.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for tree in tokens {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            _ => parts.last_mut().expect("never empty").extend([tree]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits at the first single colon.
fn halves(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let colon = |index: usize| matches!(trees.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let at = (0..trees.len())
        .find(|&index| colon(index) && !colon(index + 1) && !(index > 0 && colon(index - 1)))
        .unwrap_or(trees.len());
    let rest = trees.get(at + 1..).unwrap_or_default();
    (trees[..at].iter().cloned().collect(), rest.iter().cloned().collect())
}

fn arithmetic(op: &BinOp, left: Constant, right: Constant) -> Option<Constant> {
    use Constant::{Float, Integer};
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
                _ => return None,
            }))
        }
        (Float(left), Float(right)) => Some(Float(match op {
            BinOp::Add(_) => left + right,
            BinOp::Sub(_) => left - right,
            BinOp::Mul(_) => left * right,
            BinOp::Div(_) => left / right,
            _ => return None,
        })),
        _ => None,
    }
}

/// The values of an integer type, as far as `i128` has them.
fn range_of(ty: &str) -> Option<std::ops::RangeInclusive<i128>> {
    Some(match ty {
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "i32" => i32::MIN.into()..=i32::MAX.into(),
        "i64" | "isize" => i64::MIN.into()..=i64::MAX.into(),
        "u8" => 0..=u8::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "u32" => 0..=u32::MAX.into(),
        "u64" | "usize" => 0..=u64::MAX.into(),
        _ => return None,
    })
}

fn is_conversion(method: &syn::Ident) -> bool {
    ["into", "to_string", "to_owned", "as_str", "clone"].iter().any(|name| method == name)
}

/// Types that serialize as what they hold.
fn is_pointer(path: &[String]) -> bool {
    matches!(
        path.last().map(String::as_str),
        Some("Box" | "Rc" | "Arc" | "Cow" | "Cell" | "RefCell" | "Mutex" | "RwLock" | "Wrapping" | "Reverse")
    )
}

/// The expression that a body consists of.
fn only_expression(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => match expr {
            Expr::Return(returned) => returned.expr.as_deref(),
            expr => Some(expr),
        },
        _ => None,
    }
}

fn strip(mut expr: &Expr) -> &Expr {
    while let Expr::Reference(syn::ExprReference { expr: inner, .. }) | Expr::Paren(syn::ExprParen { expr: inner, .. }) = expr {
        expr = inner;
    }
    expr
}

/// `Default::default()` or `T::default()`.
fn is_default_call(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if call.args.is_empty() && ends_with(&call.func, &["default"]) && matches!(&*call.func, Expr::Path(path) if path.path.segments.len() > 1))
}

/// Whether an expression is a path with these last segments.
fn ends_with(expr: &Expr, segments: &[&str]) -> bool {
    let Expr::Path(path) = expr else { return false };
    let path = &path.path.segments;
    path.len() >= segments.len() && path.iter().rev().zip(segments.iter().rev()).all(|(left, right)| left.ident == right)
}

fn field_key(field: &syn::Field, index: usize) -> String {
    field.ident.as_ref().map_or_else(|| index.to_string(), name)
}

/// The body of `fn default() -> Self` in an `impl Default`.
fn default_body(item: &syn::ItemImpl) -> Option<Block> {
    item.items.iter().find_map(|item| match item {
        syn::ImplItem::Fn(function) if function.sig.ident == "default" => Some(function.block.clone()),
        _ => None,
    })
}

fn call(path: Path) -> Expr {
    syn::parse_quote!(#path())
}

fn itself(type_name: &str) -> Box<Type> {
    let ident = quote::format_ident!("{type_name}");
    Box::new(syn::parse_quote!(#ident))
}
