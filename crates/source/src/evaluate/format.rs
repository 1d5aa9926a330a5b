//! Macros of std, serde_json and schemars that return values: `vec!`, `format!`, `concat!`, `json!`, ….

use syn::punctuated::Punctuated;
use syn::{Expr, ExprMacro, Lit, Macro, Pat, Token};

use super::Evaluator;
use super::context::{Context, Derived, Scope, all};
use super::items::Function;
use super::values::{Data, Hint, Value};
use crate::resolve::modules::{UsePath, name};
use crate::resolve::names::{Namespace, Target, resolve};

impl Evaluator<'_, '_> {
    pub fn macro_value(&mut self, call: &ExprMacro, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let Some(macro_name) = self.cx.known_macro(&call.mac, scope) else { return self.cx.not_evident(expr, scope) };
        match macro_name.as_str() {
            "vec" => {
                let list: proc_macro2::TokenStream = call.mac.tokens.clone();
                let list: syn::Result<Expr> = syn::parse2(quote::quote!([#list]));
                let list = self.cx.parsed(scope, list)?;
                let element = match hint {
                    Hint::Free => Hint::Free,
                    hint => Hint::List(Box::new(self.cx.element(hint, 0)?)),
                };
                match self.evaluate(&list, scope, &element)? {
                    Value::List("array", list) => Ok(Value::List("Vec", list)),
                    _ => self.cx.not_evident(expr, scope),
                }
            }
            "json" | "json_schema" => Ok(Value::Json(self.json(call.mac.tokens.clone(), scope)?)),
            "concat" | "stringify" | "env" => {
                let text = self.cx.literal_text(expr, scope);
                self.cx.or_not_evident(text.map(Value::Text), expr, scope)
            }
            "include_str" => {
                let path: syn::Result<Expr> = call.mac.parse_body();
                let path = self.cx.parsed(scope, path)?;
                let path = self.text(&path, scope)?;
                let text = self.cx.included(&path, scope);
                self.cx.or_not_evident(text.map(Value::Text), expr, scope)
            }
            "format" => {
                let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let parts: Vec<Expr> = self.cx.parsed(scope, parts)?.into_iter().collect();
                self.formatted(&parts, expr, scope).map(Value::Text)
            }
            "cfg" => {
                let holds = self.cx.modules.cfg_holds(scope.module, &call.mac.tokens);
                self.cx.or_not_evident(holds.map(Value::Bool), expr, scope)
            }
            "matches" => {
                let parts = call.mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
                    let value: Expr = input.parse()?;
                    input.parse::<Token![,]>()?;
                    let pattern = Pat::parse_multi_with_leading_vert(input)?;
                    let guard =
                        if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
                    input.parse::<Option<Token![,]>>()?;
                    Ok((value, pattern, guard))
                });
                let Ok((value, pattern, guard)): syn::Result<(Expr, Pat, Option<Expr>)> = parts else {
                    return self.cx.not_evident(expr, scope);
                };
                let guard =
                    guard.map_or_else(|| syn::parse_quote!(true), |guard| quote::ToTokens::to_token_stream(&guard));
                // With several patterns, a guard is evaluated for each, as in a `match`.
                let choice: Expr = syn::parse_quote!(match #value { #pattern if #guard => true, _ => false });
                self.evaluate(&choice, scope, &Hint::Unknown)
            }
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// The output of `write!(text, …)` and `writeln!`, and its target.
    pub fn written_by(&mut self, mac: &Macro, expr: &Expr, scope: &Scope) -> Derived<Option<(Expr, String)>> {
        let macro_name = self.cx.known_macro(mac, scope).unwrap_or_default();
        if !matches!(macro_name.as_str(), "write" | "writeln") {
            return Ok(None);
        }
        let parts = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let parts: Vec<Expr> = self.cx.parsed(scope, parts)?.into_iter().collect();
        let Some((target, parts)) = parts.split_first() else { return Ok(None) };
        let text = if parts.is_empty() { String::new() } else { self.formatted(parts, expr, scope)? };
        let end = if macro_name == "writeln" { "\n" } else { "" };
        Ok(Some((target.clone(), format!("{text}{end}"))))
    }

    /// The result of `format!`: a name is looked up in the arguments first, then in the scope.
    fn formatted(&mut self, parts: &[Expr], expr: &Expr, scope: &Scope) -> Derived<String> {
        let Some((Expr::Lit(syn::ExprLit { lit: Lit::Str(pattern), .. }), parts)) = parts.split_first() else {
            return self.cx.not_evident(expr, scope);
        };
        let arguments: Vec<(Option<String>, Expr)> = parts
            .iter()
            .map(|part| match part {
                Expr::Assign(named) => match &*named.left {
                    Expr::Path(path) => (path.path.get_ident().map(name), (*named.right).clone()),
                    _ => (None, part.clone()),
                },
                part => (None, part.clone()),
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
                return self.cx.not_evident(expr, scope);
            };
            rest = after;
            let (argument, spec) = argument.split_once(':').unwrap_or((argument, ""));
            let value_of = |evaluator: &mut Self, argument: &str| {
                let index = argument.parse().ok();
                let index = index.or_else(|| arguments.iter().position(|(name, _)| name.as_deref() == Some(argument)));
                Ok(match (index, syn::parse_str::<syn::Ident>(argument)) {
                    (Some(index), _) => values.get(index).cloned(),
                    (None, Ok(ident)) => Some(evaluator.evaluate(&syn::parse_quote!(#ident), scope, &Hint::Unknown)?),
                    (None, Err(_)) => None,
                })
            };
            let value = match argument.trim() {
                "" => {
                    next += 1;
                    values.get(next - 1).cloned()
                }
                argument => value_of(self, argument)?,
            };
            // `{:width$}`, `{:.digits$}`
            let mut spec = spec.trim_end().to_string();
            while let Some(end) = spec.find('$') {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
                let start = spec[..end]
                    .rfind(|letter| !is_part(letter))
                    .map_or(0, |at| at + spec[at..].chars().next().map_or(1, char::len_utf8));
                let argument = &spec[start..end];
                // A zero before a name is a flag.
                let zeros = if argument.parse::<usize>().is_ok() {
                    0
                } else {
                    argument.len() - argument.trim_start_matches('0').len()
                };
                let number = match value_of(self, &argument[zeros..])? {
                    Some(Value::Integer(number, _)) => number.to_string(),
                    _ => return self.cx.not_evident(expr, scope),
                };
                spec.replace_range(start + zeros..=end, &number);
            }
            let part = match value {
                Some(value) => self.formatted_as(&value, &spec)?,
                None => None,
            };
            match part {
                Some(part) => text.push_str(&part),
                None => return self.cx.not_evident(expr, scope),
            }
        }
        text.push_str(rest);
        Ok(text)
    }

    fn formatted_as(&mut self, value: &Value, spec: &str) -> Derived<Option<String>> {
        match (value, spec) {
            (Value::Data(data), "") => self.displayed_by_hand(data),
            (Value::Data(_), "?") => Ok(self.cx.debugged(value)),
            (value, spec) if spec.ends_with('?') => {
                let debugged = self.cx.debugged(value);
                Ok(debugged.filter(|_| spec == "?"))
            }
            (value, spec) => Ok(formatted_as(value, spec)),
        }
    }

    /// The output of `{}`.
    pub fn shown(&mut self, value: &Value) -> Derived<Option<String>> {
        self.formatted_as(value, "")
    }

    /// The output of a hand-written `Display`.
    fn displayed_by_hand(&mut self, data: &Data) -> Derived<Option<String>> {
        let type_name = name(&data.input.ident);
        if self.cx.shadows.is_own_trait("Display", data.module) || self.cx.shadows.is_own_trait("ToString", data.module)
        {
            return Ok(None);
        }
        let Some((at, item)) = self.cx.impls.implementation("Display", data.module, &type_name) else {
            return Ok(None);
        };
        let function = Function::in_impl(&item, "fmt", at, &data.input, &data.scope);
        match function {
            Some(function) => self.written_to(&function, Value::Data(data.clone())),
            None => Ok(None),
        }
    }
}

impl Context<'_> {
    /// The name of a macro that is not one of the crate's own.
    pub fn known_macro(&mut self, mac: &Macro, scope: &Scope) -> Option<String> {
        let segments: Vec<String> = mac.path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let (last, path) = segments.split_last()?;
        let of = match last.as_str() {
            "json" => "serde_json",
            "json_schema" => "schemars",
            _ => "std",
        };
        if path.is_empty() {
            return (!self.shadows.is_own_macro(last, of, scope.module)).then(|| last.clone());
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

    /// The arguments of `concat!`: literals, and macros that expand to literals.
    fn literal_text(&mut self, expr: &Expr, scope: &Scope) -> Option<String> {
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                Lit::Char(letter) => Some(letter.value().to_string()),
                Lit::Bool(value) => Some(value.value.to_string()),
                Lit::Int(number) if number.suffix().is_empty() => Some(number.base10_digits().into()),
                Lit::Float(number) if number.suffix().is_empty() => Some(number.base10_digits().into()),
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

    /// The output of `{:?}`, for values whose `Debug` is stable.
    fn debugged(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::Text(text) if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') => {
                Some(format!("{text:?}"))
            }
            Value::Char(letter) if letter.is_ascii_graphic() || *letter == ' ' => Some(format!("{letter:?}")),
            Value::Integer(..) | Value::Bool(_) => displayed(value),
            Value::Single(number) => Some(format!("{number:?}")),
            Value::Double(number) => Some(format!("{number:?}")),
            Value::Unit => Some("()".into()),
            Value::Option(None) => Some("None".into()),
            Value::Option(Some(value)) => Some(format!("Some({})", self.debugged(value)?)),
            Value::List("array" | "Vec" | "VecDeque", list) => Some(format!("[{}]", self.all_debugged(list.iter())?)),
            Value::List("BTreeSet", list) => Some(format!("{{{}}}", self.all_debugged(list.iter())?)),
            Value::List("tuple", list) if list.len() > 1 => Some(format!("({})", self.all_debugged(list.iter())?)),
            Value::Map("BTreeMap", entries) => {
                let parts: Option<Vec<String>> = entries
                    .iter()
                    .map(|(key, value)| Some(format!("{}: {}", self.debugged(key)?, self.debugged(value)?)))
                    .collect();
                Some(format!("{{{}}}", parts?.join(", ")))
            }
            Value::Data(data) => self.debugged_data(data),
            _ => None,
        }
    }

    fn all_debugged<'v>(&mut self, values: impl Iterator<Item = &'v Value>) -> Option<String> {
        let parts: Vec<String> = values.map(|value| self.debugged(value)).collect::<Option<_>>()?;
        Some(parts.join(", "))
    }

    /// The output of the derive of `Debug`.
    fn debugged_data(&mut self, data: &Data) -> Option<String> {
        if !self.derives(&data.input.attrs, "Debug", data.module) || self.shadows.is_own_trait("Debug", data.module) {
            return None;
        }
        let (ident, fields) = match (&data.input.data, &data.variant) {
            (syn::Data::Struct(of), None) => (name(&data.input.ident), &of.fields),
            (syn::Data::Enum(of), Some(variant)) => {
                let found = of.variants.iter().find(|found| name(&found.ident) == *variant)?;
                (variant.clone(), &found.fields)
            }
            _ => return None,
        };
        let mut parts = Vec::new();
        for member in fields.members() {
            let key = super::values::key_of(&member);
            let value = self.debugged(data.fields.get(&key)?)?;
            parts.push(if matches!(fields, syn::Fields::Named(_)) { format!("{key}: {value}") } else { value });
        }
        Some(match fields {
            _ if parts.is_empty() => ident,
            syn::Fields::Named(_) => format!("{ident} {{ {} }}", parts.join(", ")),
            _ => format!("{ident}({})", parts.join(", ")),
        })
    }
}

/// The output of `{:spec}`: `[[fill]align][+][#][0][width][.precision]`, and numbers in another base.
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
    let plus = rest.starts_with('+');
    rest = rest.strip_prefix('+').unwrap_or(rest);
    let alternate = rest.starts_with('#');
    rest = rest.strip_prefix('#').unwrap_or(rest);
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
        _ => return None,
    };
    let is_number = matches!(value, Value::Integer(..) | Value::Single(_) | Value::Double(_));
    let base = match kind {
        "x" | "X" => "0x",
        "o" => "0o",
        "b" => "0b",
        _ if alternate => return None,
        _ => "",
    };
    let is_finite = text.bytes().any(|byte| byte.is_ascii_digit());
    if plus && !(is_number && is_finite) {
        return None;
    }
    // Zeros follow the sign and the base.
    let (sign, digits) =
        if text.starts_with('-') { text.split_at(1) } else { (if plus { "+" } else { "" }, text.as_str()) };
    let sign = format!("{sign}{}", if alternate { base } else { "" });
    let (text, digits) = (format!("{sign}{digits}"), digits.to_string());
    let missing = width.saturating_sub(text.chars().count());
    if zero {
        // For other values, the zero is part of the width.
        return (is_number && is_finite).then(|| format!("{sign}{}{digits}", "0".repeat(missing)));
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

/// The output of `{}`.
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
