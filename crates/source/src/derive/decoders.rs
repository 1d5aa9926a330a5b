//! Deserializing functions → the values that they read ([`Reads`]): `#[serde(with = "…")]`, `deserialize_with`,
//! `try_from`, hand-written `Deserialize` and `FromStr`.
//!
//! Most read a value of another type first, `T::deserialize(deserializer)?`, and then convert it. If the conversion
//! cannot fail, they read what `T` reads. Otherwise it is evaluated for values near the literals in it and in the
//! schema.

use std::ops::Range;
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use serde_json::{Value as Json, json};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Block, DeriveInput, Expr, ExprCall, ExprMethodCall, ExprPath, FnArg, GenericArgument, Lit, Local, Pat,
    PathArguments, ReturnType, Stmt, Type, TypePath,
};

use super::reads::{Walk, code, opaque};
use crate::evaluate::context::{Context, Resolved, Scope};
use crate::evaluate::items::Function;
use crate::evaluate::values::Value;
use crate::known::parsed;
use crate::resolve::modules::{ModuleId, name};
use opctl_model::diagnostic::Span;
use opctl_model::reads::{Code, Integer, Knowledge, Reads};

/// Name of the variable with the value to convert.
const READ: &str = "opctl_read";

/// Maximum number of values for which a conversion is evaluated.
const MOST_TRIED: usize = 200;

/// A deserializing function: the type that it reads, and the conversion.
pub(crate) struct Decoder {
    name: String,
    span: Option<Span>,
    from: Reads,
    /// A function with one parameter, which has the type that `from` reads.
    conversion: Option<Function>,
}

impl Walk<'_, '_> {
    /// The function of `#[serde(with = "…")]` or `deserialize_with`, at a field of this type.
    pub fn by_function(&mut self, path: &ExprPath, ty: Option<&Type>, scope: &Scope) -> Reads {
        if let (Some(adapter), Some(ty)) = (adapter(path), ty) {
            return self.adapted(&adapter, ty, scope);
        }
        let shown = path.to_token_stream().to_string().replace(' ', "");
        let shown = shown.trim_end_matches("::deserialize").to_owned();
        if let Some(function) = self.deriver.cx.function(path, scope, None) {
            return match self.decoder(shown.clone(), &function) {
                Some(decoder) => self.decoded(&decoder),
                None => opaque(shown, Reads::Unknown),
            };
        }
        let foreign = self.deriver.cx.foreign(path, scope);
        let is_option = ty.is_some_and(|ty| matches!(self.value(ty, scope), Reads::Optional(_)));
        match parsed::function(&foreign) {
            Some(reads) if is_option && !matches!(reads, Reads::Optional(_)) => Reads::Optional(Box::new(reads)),
            Some(reads) => reads,
            None => opaque(shown, Reads::Unknown),
        }
    }

    /// The hand-written `Deserialize` of a type.
    pub fn deserialize(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Option<Decoder> {
        let (at, item) = self.deriver.cx.impls.implementation("Deserialize", module, &name(&input.ident))?;
        let function = Function::in_impl(&item, "deserialize", at, input, scope)?;
        self.decoder(name(&input.ident), &function)
    }

    /// A conversion that is an `impl` of a trait: `TryFrom<T>`, `FromStr`.
    pub fn conversion(
        &mut self,
        (trait_name, function): (&str, &str),
        module: ModuleId,
        input: &DeriveInput,
        scope: &Scope,
        from: Reads,
    ) -> Option<Decoder> {
        let (at, item) = self.deriver.cx.impls.implementation(trait_name, module, &name(&input.ident))?;
        let conversion = Function::in_impl(&item, function, at, input, scope)?;
        let span =
            (!self.deriver.cx.modules.is_foreign(at)).then(|| self.deriver.cx.span(&Scope::of(at), &item.self_ty));
        let name = name(&input.ident);
        let edited = self.edited(&conversion, None).unwrap_or(conversion);
        Some(Decoder { name, span, from, conversion: Some(edited) })
    }

    /// The decoder for a function whose only parameter is the deserializer.
    fn decoder(&mut self, name: String, function: &Function) -> Option<Decoder> {
        let is_foreign = self.deriver.cx.modules.is_foreign(function.scope.module);
        let span = (!is_foreign).then(|| self.deriver.cx.span(&function.scope, &function.item.sig.ident));
        let unclear = |span| Some(Decoder { name: name.clone(), span, from: Reads::Unknown, conversion: None });
        let mut search = Search { parameter: parameter(function)?, found: Vec::new() };
        search.visit_block(&function.item.block);
        let [found] = search.found.as_slice() else { return unclear(span) };
        // The function calls itself.
        let identity = format!("{:?} {}", function.scope.module, function.item.sig.ident);
        if self.open.contains(&identity) {
            return unclear(span);
        }
        self.open.push(identity);
        let from = self.read_by(found, function);
        self.open.pop();
        // If the function does not return the error, it reads every value.
        let from = if found.fails { from } else { Reads::Anything };
        Some(Decoder { name, span, from, conversion: self.edited(function, Some(found)) })
    }

    /// The values that the call in a function reads.
    fn read_by(&mut self, found: &Found, function: &Function) -> Reads {
        let scope = &function.scope;
        match (&found.ty, &found.function) {
            (Some(ty), _) => self.value(ty, scope),
            (None, Some(path)) => self.by_function(path, None, scope),
            (None, None) => match &function.item.sig.output {
                // The body is `Deserialize::deserialize(deserializer)` alone.
                ReturnType::Type(_, ty) if found.is_whole => {
                    ok_type(ty).map_or(Reads::Unknown, |ty| self.value(&ty, scope))
                }
                _ => Reads::Unknown,
            },
        }
    }

    /// The function without its deserializer and its errors, which the evaluation does not need.
    fn edited(&self, function: &Function, found: Option<&Found>) -> Option<Function> {
        let block = &function.item.block;
        let whole = block.span().byte_range();
        let file = &self.deriver.cx.modules.module(function.scope.module).file;
        let mut text = file.text.get(whole.clone())?.to_owned();
        let mut errors = Errors { edits: found.map(|found| found.edit.clone()).into_iter().collect() };
        errors.visit_block(block);
        errors.edits.sort_by_key(|(range, _)| range.start);
        let mut last = whole.end;
        for (range, new) in errors.edits.iter().rev() {
            // A replacement within another one is part of it.
            if range.end <= last && range.start >= whole.start {
                text.replace_range(range.start - whole.start..range.end - whole.start, new);
                last = range.start;
            }
        }
        let mut item = (*function.item).clone();
        item.block = Box::new(syn::parse_str::<Block>(&text).ok()?);
        if found.is_some() {
            let read = quote::format_ident!("{READ}");
            item.sig.inputs = std::iter::once::<FnArg>(syn::parse_quote!(#read: _)).collect();
        }
        item.sig.output = ReturnType::Default;
        Some(Function { scope: function.scope.clone(), item: Rc::new(item) })
    }

    /// The values that a decoder reads.
    pub fn decoded(&mut self, decoder: &Decoder) -> Reads {
        let Decoder { name, span, from, conversion } = decoder;
        let mut found = Code { span: span.clone(), ..code(name.clone(), from.clone(), Knowledge::None) };
        let Some(conversion) = conversion else { return Reads::Code(Box::new(found)) };
        if cannot_fail(&conversion.item.block) {
            return from.clone();
        }
        let literals = literals(conversion.item.block.to_token_stream());
        let mut tried = examples(from, &[literals, self.values.clone()].concat());
        tried.truncate(MOST_TRIED);
        let mut evaluated = !tried.is_empty();
        for json in tried {
            let Some(value) = value_of(from, &json) else { continue };
            match self.converts(conversion, value) {
                Some(true) => {}
                Some(false) => found.refused.push(json),
                None => evaluated = false,
            }
        }
        found.knowledge = if evaluated { Knowledge::Tried } else { Knowledge::None };
        Reads::Code(Box::new(found))
    }

    /// `Some(true)` if a conversion succeeds for a value; `None` if it cannot be evaluated.
    fn converts(&mut self, conversion: &Function, value: Value) -> Option<bool> {
        let ty = conversion.item.sig.inputs.first().and_then(|input| conversion.parameter_type(input));
        let ty = ty.filter(|(ty, _)| !matches!(ty, Type::Infer(_)));
        let result = self.deriver.evaluator().if_needed(|evaluator| {
            evaluator.applied(conversion, vec![(value, ty)], &conversion.item.sig.ident, &conversion.scope)
        });
        match result {
            Value::Result(converted) => Some(converted.is_some()),
            _ => None,
        }
    }

    /// The values that an adapter of serde_with reads for a type: `DisplayFromStr`, `Option<DurationSeconds<u64>>`.
    fn adapted(&mut self, adapter: &Type, ty: &Type, scope: &Scope) -> Reads {
        if matches!(adapter, Type::Infer(_)) {
            return self.value(ty, scope);
        }
        let Some((last, arguments)) = last_of(adapter) else { return self.value(ty, scope) };
        let inner = |walk: &mut Self, index: usize| {
            let element = last_of(ty).and_then(|(_, arguments)| arguments.get(index).cloned());
            match (arguments.get(index), element) {
                (Some(adapter), Some(element)) => walk.adapted(adapter, &element, scope),
                _ => Reads::Unknown,
            }
        };
        let number = |walk: &mut Self, ty: Option<&Type>| match ty.map(|ty| walk.value(ty, scope)) {
            Some(Reads::Text) => {
                Reads::FromText(Box::new(super::reads::integer("i64", i64::MIN.into(), i64::MAX.into())))
            }
            Some(reads) => reads,
            None => super::reads::integer("u64", 0, u64::MAX.into()),
        };
        match last.as_str() {
            "Same" => self.value(ty, scope),
            "DisplayFromStr" => self.read_from_str(ty, scope),
            "Option" => Reads::Optional(Box::new(inner(self, 0))),
            "Box" | "Rc" | "Arc" => inner(self, 0),
            "Vec" | "VecDeque" | "LinkedList" | "BTreeSet" | "HashSet" | "IndexSet" => {
                Reads::List { items: Box::new(inner(self, 0)), length: None }
            }
            "BTreeMap" | "HashMap" | "IndexMap" => {
                Reads::Map { keys: Box::new(inner(self, 0)), values: Box::new(inner(self, 1)) }
            }
            "FromInto" => arguments.first().map_or(Reads::Unknown, |from| self.value(from, scope)),
            "DefaultOnNull" => {
                let inner = arguments.first().map(|adapter| self.adapted(adapter, ty, scope));
                Reads::Optional(Box::new(inner.unwrap_or_else(|| self.value(ty, scope))))
            }
            "DefaultOnError" | "VecSkipError" | "MapSkipError" => Reads::Anything,
            "BoolFromInt" => super::reads::integer("BoolFromInt", 0, 1),
            "DurationSeconds"
            | "DurationMilliSeconds"
            | "DurationMicroSeconds"
            | "DurationNanoSeconds"
            | "TimestampSeconds"
            | "TimestampMilliSeconds"
            | "TimestampMicroSeconds"
            | "TimestampNanoSeconds"
            | "DurationSecondsWithFrac"
            | "TimestampSecondsWithFrac" => number(self, arguments.first()),
            _ => parsed::find(&["serde_with".into(), last.clone()])
                .unwrap_or_else(|| opaque(format!("serde_with::{last}"), Reads::Unknown)),
        }
    }

    /// The values that `FromStr` of a type reads.
    fn read_from_str(&mut self, ty: &Type, scope: &Scope) -> Reads {
        if let Ok(Resolved::Data { module, input, scope: inner, .. }) = self.deriver.cx.resolved(ty, scope) {
            let decoder = self.conversion(("FromStr", "from_str"), module, &input, &inner, Reads::Text);
            return match decoder {
                Some(decoder) => self.decoded(&decoder),
                None => opaque(format!("FromStr of {}", input.ident), Reads::Text),
            };
        }
        match self.value(ty, scope) {
            reads @ (Reads::Text | Reads::Parsed(_) | Reads::Char | Reads::ShortText(_)) => reads,
            reads @ (Reads::Integer(_) | Reads::Bool | Reads::Float) => Reads::FromText(Box::new(reads)),
            _ => opaque(format!("FromStr of {}", ty.to_token_stream()), Reads::Text),
        }
    }
}

impl Context<'_> {
    /// `true` if the function of another crate is known to serialize `None` as `null`.
    pub fn serializes_none(&self, path: &ExprPath, scope: &Scope) -> bool {
        let foreign = self.foreign(path, scope).join("::");
        match adapter(path) {
            Some(adapter) => last_of(&adapter).is_some_and(|(last, _)| last == "Option"),
            None => parsed::function(&[foreign.trim_end_matches("::serialize").to_owned()]).is_some(),
        }
    }
}

/// The only parameter of a function.
fn parameter(function: &Function) -> Option<String> {
    let inputs = &function.item.sig.inputs;
    match inputs.first() {
        Some(FnArg::Typed(typed)) if inputs.len() == 1 => match &*typed.pat {
            Pat::Ident(pattern) => Some(name(&pattern.ident)),
            _ => None,
        },
        _ => None,
    }
}

/// The adapter `T` of `serde_with::As::<T>::deserialize`.
fn adapter(path: &ExprPath) -> Option<Type> {
    let segment = path.path.segments.iter().find(|segment| segment.ident == "As")?;
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    list.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// The last name of a type's path, and its type arguments.
fn last_of(ty: &Type) -> Option<(String, Vec<Type>)> {
    let Type::Path(TypePath { path, .. }) = ty else { return None };
    let last = path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().collect(),
        _ => Vec::new(),
    };
    let types = arguments.into_iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    Some((name(&last.ident), types.collect()))
}

/// `T` of `Result<T, E>`.
fn ok_type(ty: &Type) -> Option<Type> {
    last_of(ty).filter(|(last, _)| last == "Result").and_then(|(_, arguments)| arguments.into_iter().next())
}

/// A call that reads a value from the deserializer.
#[derive(Clone)]
struct Found {
    /// The type of the value.
    ty: Option<Type>,
    /// The function that is called instead of `Deserialize::deserialize`.
    function: Option<ExprPath>,
    /// The function returns the error of the call.
    fails: bool,
    /// It is the last expression of the body.
    is_whole: bool,
    /// The replacement of the call.
    edit: (Range<usize>, String),
}

/// Finds the calls that get the deserializer.
struct Search {
    parameter: String,
    found: Vec<Found>,
}

impl Search {
    fn call<'a>(&self, expr: &'a Expr) -> Option<(&'a ExprCall, &'a ExprPath)> {
        let Expr::Call(call) = expr else { return None };
        let Expr::Path(path) = &*call.func else { return None };
        let is_given = |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident(&self.parameter));
        (call.args.len() == 1 && call.args.iter().all(is_given)).then_some((call, path))
    }

    fn add(&mut self, expr: &Expr, annotated: Option<&Type>, fails: bool, is_whole: bool) -> bool {
        let (is_try, inner) = match expr {
            Expr::Try(inner) => (true, &*inner.expr),
            inner => (false, inner),
        };
        let Some((_, path)) = self.call(inner) else { return false };
        let (ty, function) = read_type(path);
        let new = if is_try { READ.to_owned() } else { format!("Ok({READ})") };
        let edit = (expr.span().byte_range(), new);
        let ty = ty.or_else(|| annotated.cloned().filter(|_| function.is_none() && is_try));
        self.found.push(Found { ty, function, fails: fails || is_try, is_whole, edit });
        true
    }

    /// The receiver of calls such as `.map(…)`, which pass the error on.
    fn chained<'a>(&self, expr: &'a Expr) -> &'a Expr {
        match expr {
            Expr::MethodCall(call) if matches!(name(&call.method).as_str(), "map" | "map_err" | "and_then") => {
                self.chained(&call.receiver)
            }
            expr => expr,
        }
    }
}

impl<'a> Visit<'a> for Search {
    fn visit_block(&mut self, block: &'a Block) {
        let Some((last, statements)) = block.stmts.split_last() else { return };
        statements.iter().for_each(|statement| self.visit_stmt(statement));
        if let Stmt::Expr(expr, None) = last {
            let inner = self.chained(expr);
            if self.add(inner, None, true, std::ptr::eq(inner, expr)) {
                return;
            }
        }
        self.visit_stmt(last);
    }

    fn visit_local(&mut self, local: &'a Local) {
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init)
            && self.add(&init.expr, Some(&typed.ty), false, false)
        {
            return;
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let inner = match expr {
            Expr::Try(inner) => self.chained(&inner.expr),
            _ => expr,
        };
        let fails = matches!(expr, Expr::Try(_)) && !std::ptr::eq(inner, expr);
        let is_direct = matches!(expr, Expr::Try(outer) if std::ptr::eq(&*outer.expr, inner));
        if !self.add(if is_direct { expr } else { inner }, None, fails, false) {
            visit::visit_expr(self, expr);
        }
    }
}

/// `T` of `T::deserialize` and `<T as Deserialize>::deserialize`, or another function.
fn read_type(path: &ExprPath) -> (Option<Type>, Option<ExprPath>) {
    let mut owner = path.path.clone();
    let last = owner.segments.pop();
    owner.segments.pop_punct();
    if last.is_none_or(|last| last.ident != "deserialize") {
        return (None, Some(path.clone()));
    }
    if let Some(itself) = &path.qself {
        return (Some((*itself.ty).clone()), None);
    }
    let Some(ty) = owner.segments.last_mut() else { return (None, Some(path.clone())) };
    if ty.ident == "Deserialize" {
        return (None, None);
    }
    // A lower-case name is a module.
    if ty.ident.to_string().starts_with(|first: char| first.is_lowercase())
        && crate::known::prelude(&name(&ty.ident)).is_none()
    {
        return (None, Some(path.clone()));
    }
    // `Vec::<u8>` in an expression is the type `Vec<u8>`.
    for segment in &mut owner.segments {
        if let PathArguments::AngleBracketed(list) = &mut segment.arguments {
            list.colon2_token = None;
        }
    }
    (Some(syn::parse_quote!(#owner)), None)
}

/// `(least..=most).contains(&number)` as two comparisons, which take their type from the number.
fn within_range(call: &ExprMethodCall) -> Option<String> {
    let Expr::Paren(receiver) = &*call.receiver else { return None };
    let (Expr::Range(range), Some(Expr::Reference(number))) = (&*receiver.expr, call.args.first()) else { return None };
    let (Some(least), Some(most)) = (&range.start, &range.end) else { return None };
    let ordering = if matches!(range.limits, syn::RangeLimits::Closed(_)) { "<=" } else { "<" };
    let [least, most, number] = [least, most, &number.expr].map(|expr| expr.to_token_stream().to_string());
    (call.method == "contains").then(|| format!("({number} >= {least} && {number} {ordering} {most})"))
}

/// Finds code that only builds an error, and code that is evaluated in another form.
struct Errors {
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Visit<'a> for Errors {
    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err")) {
            self.edits.push((call.span().byte_range(), "Err(())".to_owned()));
            return;
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        if let Some(bounds) = within_range(call) {
            self.edits.push((call.span().byte_range(), bounds));
            return;
        }
        if call.method == "map_err" {
            let end = call.span().byte_range().end;
            self.edits.push((call.receiver.span().byte_range().end..end, String::new()));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// `true` if a body returns `Ok` for every value.
fn cannot_fail(block: &Block) -> bool {
    let mut failures = Failures(false);
    failures.visit_block(block);
    !failures.0 && block.stmts.last().is_some_and(|last| matches!(last, Stmt::Expr(expr, None) if is_ok(expr)))
}

fn is_ok(expr: &Expr) -> bool {
    let of_block = |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(expr, None)) if is_ok(expr));
    match expr {
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Ok")),
        Expr::MethodCall(call) => call.method == "map" && is_ok(&call.receiver),
        Expr::Match(found) => found.arms.iter().all(|arm| is_ok(&arm.body)),
        Expr::If(found) => {
            of_block(&found.then_branch) && found.else_branch.as_ref().is_some_and(|(_, other)| is_ok(other))
        }
        Expr::Block(block) => of_block(&block.block),
        Expr::Paren(inner) => is_ok(&inner.expr),
        _ => false,
    }
}

/// Finds code that may return an error or panic.
struct Failures(bool);

impl<'a> Visit<'a> for Failures {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= match expr {
            Expr::Try(_) | Expr::Return(_) | Expr::Index(_) => true,
            Expr::Path(path) => path.path.is_ident("Err"),
            Expr::MethodCall(call) => matches!(name(&call.method).as_str(), "unwrap" | "expect"),
            Expr::Macro(call) => {
                let last = call.mac.path.segments.last().map(|last| name(&last.ident)).unwrap_or_default();
                !matches!(last.as_str(), "format" | "matches" | "vec" | "debug" | "info" | "trace" | "warn")
            }
            _ => false,
        };
        visit::visit_expr(self, expr);
    }
}

/// The literals in tokens.
fn literals(tokens: TokenStream) -> Vec<Json> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(literals(group.stream())),
            TokenTree::Literal(literal) => match syn::parse2::<Lit>(literal.into_token_stream()) {
                Ok(Lit::Str(text)) => found.push(text.value().into()),
                Ok(Lit::Int(number)) => found.extend(number.base10_parse::<i64>().map(Json::from)),
                Ok(Lit::Char(letter)) => found.push(letter.value().to_string().into()),
                _ => {}
            },
            _ => {}
        }
    }
    found
}

/// The values that a schema lists, and its bounds.
pub(crate) fn values_in(schema: &Json) -> Vec<Json> {
    let mut found = Vec::new();
    match schema {
        Json::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("enum", Json::Array(list)) => found.extend(list.iter().cloned()),
                    ("const" | "minimum" | "maximum", value) => found.push(value.clone()),
                    (_, value) => found.extend(values_in(value)),
                }
            }
        }
        Json::Array(list) => found.extend(list.iter().flat_map(values_in)),
        _ => {}
    }
    found
}

/// Values that a type reads, near those in `near`.
fn examples(reads: &Reads, near: &[Json]) -> Vec<Json> {
    const TEXTS: &[&str] = &["x", "", "a-b", "A", "1", "-1", "a b", "a.b", "a/b", "a:b", "5s", "1.5", "é", "true"];
    let mut found: Vec<Json> = match reads {
        Reads::At(_, inner) => return examples(inner, near),
        Reads::Optional(inner) => std::iter::once(Json::Null).chain(examples(inner, near)).collect(),
        Reads::Bool => vec![true.into(), false.into()],
        Reads::Integer(Integer { min, max, .. }) => {
            let near = near.iter().filter_map(Json::as_i64);
            let near = near.flat_map(|number| [Some(number), number.checked_add(1), number.checked_sub(1)]).flatten();
            let ends = [*min, *max].into_iter().filter_map(|end| i64::try_from(end).ok());
            let plain = [1, 0, 2, 3, 5, 10, 100, 1000, -1, 100_000];
            plain.into_iter().chain(near).chain(ends).map(Json::from).collect()
        }
        Reads::Float => [1.5, 0.0, -1.0, 1e9].into_iter().map(Json::from).chain(near.to_vec()).collect(),
        Reads::Char => ["a", "é", " ", "0"].map(Json::from).into(),
        Reads::Text => {
            let long = "x".repeat(300);
            TEXTS.iter().copied().chain([long.as_str()]).map(Json::from).chain(near.to_vec()).collect()
        }
        Reads::List { items, length: None } => {
            let items = examples(items, near);
            let lists = items.iter().take(20).map(|item| json!([item]));
            std::iter::once(json!([])).chain(lists).collect()
        }
        _ => Vec::new(),
    };
    found.retain(|value| reads.reads(value) == Some(true));
    let mut seen = Vec::new();
    found.retain(|value| {
        !seen.contains(value) && {
            seen.push(value.clone());
            true
        }
    });
    found
}

/// A JSON value as a value of the type that reads it.
fn value_of(reads: &Reads, json: &Json) -> Option<Value> {
    Some(match (reads, json) {
        (Reads::At(_, inner), json) => value_of(inner, json)?,
        (Reads::Optional(_), Json::Null) => Value::Option(None),
        (Reads::Optional(inner), json) => Value::Option(Some(Box::new(value_of(inner, json)?))),
        (Reads::Bool, Json::Bool(value)) => Value::Bool(*value),
        (Reads::Integer(Integer { name, .. }), json) => {
            let number = json.as_i64().map(i128::from).or(json.as_u64().map(i128::from))?;
            Value::Integer(number, crate::evaluate::numbers::integer_type(name)?)
        }
        (Reads::Float, json) => Value::Double(json.as_f64()?),
        (Reads::Char, Json::String(text)) => Value::Char(text.chars().next()?),
        (Reads::Text, Json::String(text)) => Value::Text(text.clone()),
        (Reads::List { items, .. }, Json::Array(list)) => {
            Value::List("Vec", list.iter().map(|item| value_of(items, item)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
