//! The macros of std, serde_json and schemars that make values: `vec!`, `format!`, `concat!`, `json!`, ….

use syn::punctuated::Punctuated;
use syn::{Expr, ExprMacro, Lit, Macro, Pat, Token};

use super::modules::{UsePath, name};
use super::resolve::{Namespace, Target, resolve};
use super::types::{Derived, Deriver, Scope, all};
use super::values::{Hint, Value};

impl Deriver<'_> {
    /// The name of a macro that is none of the crate's own.
    pub fn known_macro(&mut self, mac: &Macro, scope: &Scope) -> Option<String> {
        let segments: Vec<String> = mac.path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let (last, path) = segments.split_last()?;
        let of = match last.as_str() {
            "json" => "serde_json",
            "json_schema" => "schemars",
            _ => "std",
        };
        if path.is_empty() {
            return (!self.is_own_macro(last, of, scope)).then(|| last.clone());
        }
        // Also `crate::schemars::json_schema!`, in a crate that re-exports schemars.
        let named = resolve(self.modules, scope.module, &UsePath::of(&mac.path), Namespace::Macro);
        let Some(Target::Foreign(foreign)) = named else { return None };
        let is_known = match &foreign.path[..] {
            [krate, _] => krate == of || of == "std" && matches!(krate.as_str(), "core" | "alloc"),
            [reexport, krate, _] => reexport == "k8s_openapi" && krate == of,
            _ => false,
        };
        is_known.then(|| last.clone())
    }

    pub fn macro_value(&mut self, call: &ExprMacro, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let Some(macro_name) = self.known_macro(&call.mac, scope) else { return self.not_evident(expr, scope) };
        match macro_name.as_str() {
            "vec" => {
                let list: proc_macro2::TokenStream = call.mac.tokens.clone();
                let list: syn::Result<Expr> = syn::parse2(quote::quote!([#list]));
                let list = self.parsed(scope, list)?;
                let element = match hint {
                    Hint::Free => Hint::Free,
                    hint => Hint::List(Box::new(self.element(hint, 0)?)),
                };
                match self.evaluate(&list, scope, &element)? {
                    Value::List("array", list) => Ok(Value::List("Vec", list)),
                    _ => self.not_evident(expr, scope),
                }
            }
            "json" | "json_schema" => Ok(Value::Json(self.json(call.mac.tokens.clone(), scope)?)),
            "concat" | "stringify" | "env" => {
                let text = self.literal_text(expr, scope);
                self.or_not_evident(text.map(Value::Text), expr, scope)
            }
            "include_str" => {
                let path: syn::Result<Expr> = call.mac.parse_body();
                let path = self.parsed(scope, path)?;
                let path = self.text(&path, scope)?;
                let text = self.included(&path, scope);
                self.or_not_evident(text.map(Value::Text), expr, scope)
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
                let value = self.evaluate(&value, scope, &Hint::Unknown)?;
                Ok(Value::Bool(self.matches(&pattern, &value, &mut scope.clone())?))
            }
            _ => self.not_evident(expr, scope),
        }
    }

    /// What `concat!` takes: literals, and macros that make such.
    fn literal_text(&mut self, expr: &Expr, scope: &Scope) -> Option<String> {
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                Lit::Char(letter) => Some(letter.value().to_string()),
                Lit::Bool(value) => Some(value.value.to_string()),
                Lit::Int(number) if number.suffix().is_empty() => Some(number.base10_digits().into()),
                _ => None,
            },
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => match &*unary.expr {
                Expr::Lit(syn::ExprLit { lit: Lit::Int(_), .. }) => {
                    Some(format!("-{}", self.literal_text(&unary.expr, scope)?))
                }
                _ => None,
            },
            Expr::Macro(call) => match self.known_macro(&call.mac, scope)?.as_str() {
                "concat" => {
                    let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
                    parts.iter().map(|part| self.literal_text(part, scope)).collect()
                }
                "env" => {
                    let parts =
                        call.mac.parse_body_with(Punctuated::<syn::LitStr, Token![,]>::parse_terminated).ok()?;
                    self.modules.environment(scope.module, &parts.first()?.value())
                }
                "stringify" => {
                    let mut words = call.mac.tokens.clone().into_iter();
                    match (words.next(), words.next()) {
                        (Some(proc_macro2::TokenTree::Ident(word)), None) => Some(word.to_string()),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `format!` with `{}`, `{0}` and `{name}` only; a name is first one of the arguments, then one in scope.
    fn formatted(&mut self, call: &ExprMacro, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let parts = self.parsed(scope, parts)?;
        let mut parts = parts.into_iter();
        let Some(Expr::Lit(syn::ExprLit { lit: Lit::Str(pattern), .. })) = parts.next() else {
            return self.not_evident(expr, scope);
        };
        let arguments: Vec<(Option<String>, Expr)> = parts
            .map(|part| match part {
                Expr::Assign(named) => match &*named.left {
                    Expr::Path(path) => (path.path.get_ident().map(name), *named.right),
                    _ => (None, Expr::Assign(named)),
                },
                part => (None, part),
            })
            .collect();
        let values = all(arguments.iter().map(|(_, argument)| self.evaluate(argument, scope, &Hint::Free)))?;
        let pattern = pattern.value();
        let mut text = String::new();
        let mut rest = pattern.as_str();
        let mut next = 0;
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
            let (argument, spec) = argument.split_once(':').unwrap_or((argument, ""));
            let index = match argument.trim() {
                "" => {
                    next += 1;
                    Some(next - 1)
                }
                argument => argument
                    .parse()
                    .ok()
                    .or_else(|| arguments.iter().position(|(name, _)| name.as_deref() == Some(argument))),
            };
            let value = match (index, syn::parse_str::<syn::Ident>(argument.trim())) {
                (Some(index), _) => values.get(index).cloned(),
                (None, Ok(ident)) => Some(self.evaluate(&syn::parse_quote!(#ident), scope, &Hint::Unknown)?),
                (None, Err(_)) => None,
            };
            match value.as_ref().and_then(|value| formatted_as(value, spec.trim_end())) {
                Some(part) => text.push_str(&part),
                None => return self.not_evident(expr, scope),
            }
        }
        text.push_str(rest);
        Ok(Value::Text(text))
    }
}

/// What `{:spec}` shows: `[[fill]align][0][width][.precision][?]`, and numbers in another base.
fn formatted_as(value: &Value, spec: &str) -> Option<String> {
    let mut rest = spec;
    let mut letters = spec.chars();
    let (mut fill, mut align) = (' ', None);
    match (letters.next(), letters.next()) {
        (Some(letter), Some(side @ ('<' | '^' | '>'))) => {
            (fill, align) = (letter, Some(side));
            rest = &rest[letter.len_utf8() + 1..];
        }
        (Some(side @ ('<' | '^' | '>')), _) => {
            align = Some(side);
            rest = &rest[1..];
        }
        _ => {}
    }
    let zero = rest.starts_with('0');
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (width, after) = rest.split_at(digits(rest));
    let width: usize = if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width < 1000)? };
    let (precision, kind) = match after.strip_prefix('.') {
        Some(after) => {
            let (precision, kind) = after.split_at(digits(after));
            (Some(precision.parse::<usize>().ok().filter(|precision| *precision < 1000)?), kind)
        }
        None => (None, after),
    };
    let text = match (value, kind, precision) {
        (value, "", None) => displayed(value)?,
        (Value::Single(number), "", Some(precision)) => format!("{number:.precision$}"),
        (Value::Double(number), "", Some(precision)) => format!("{number:.precision$}"),
        (Value::Text(text), "", Some(precision)) => text.chars().take(precision).collect(),
        (Value::Integer(number, _), "x", None) if *number >= 0 => format!("{number:x}"),
        (Value::Integer(number, _), "X", None) if *number >= 0 => format!("{number:X}"),
        (Value::Integer(number, _), "b", None) if *number >= 0 => format!("{number:b}"),
        (Value::Integer(number, _), "o", None) if *number >= 0 => format!("{number:o}"),
        (value, "?", None) if !zero && width == 0 => debugged(value)?,
        _ => return None,
    };
    let missing = width.saturating_sub(text.chars().count());
    let is_number = matches!(value, Value::Integer(..) | Value::Single(_) | Value::Double(_));
    if zero {
        // Zeros go behind the sign; of other values, they are a width.
        let is_finite = text.bytes().any(|byte| byte.is_ascii_digit());
        let (sign, digits) = if text.starts_with('-') { text.split_at(1) } else { ("", text.as_str()) };
        return (is_number && is_finite && !matches!(kind, "?"))
            .then(|| format!("{sign}{}{digits}", "0".repeat(missing)));
    }
    let before = match align {
        Some('>') => missing,
        Some('^') => missing / 2,
        None if is_number => missing,
        _ => 0,
    };
    let pad = |count: usize| fill.to_string().repeat(count);
    Some(format!("{}{text}{}", pad(before), pad(missing - before)))
}

/// What `{:?}` shows, of what has no other way to be written.
fn debugged(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') => {
            Some(format!("{text:?}"))
        }
        Value::Integer(..) | Value::Bool(_) => displayed(value),
        Value::Single(number) => Some(format!("{number:?}")),
        Value::Double(number) => Some(format!("{number:?}")),
        Value::Option(None) => Some("None".into()),
        Value::Option(Some(value)) => Some(format!("Some({})", debugged(value)?)),
        Value::List("array" | "Vec" | "VecDeque", list) => {
            let parts: Vec<String> = list.iter().map(debugged).collect::<Option<_>>()?;
            Some(format!("[{}]", parts.join(", ")))
        }
        _ => None,
    }
}

/// What `{}` shows.
pub fn displayed(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Char(letter) => Some(letter.to_string()),
        Value::Integer(number, _) => Some(number.to_string()),
        Value::Single(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
