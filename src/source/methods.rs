//! Methods of std's values: options, results, texts, numbers, collections and iterators.
//!
//! An iterator is the list of what it gives, made at once: closures change nothing, and what panics is refused, so it does not
//! matter when they run.

use std::cmp::Ordering;

use syn::{Expr, ExprMethodCall};

use super::conversions::order;
use super::numbers::{ANY, arithmetic, in_range, integer_type, range_of, truncated};
use super::types::{Derived, Deriver, Scope, Typed};
use super::values::{Hint, Value};

impl Deriver<'_> {
    pub fn method_of_std(
        &mut self,
        receiver: Value,
        method: &str,
        arguments: &[&Expr],
        call: &ExprMethodCall,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Value> {
        let found = match receiver {
            Value::Option(value) => self.of_option(value, method, arguments, scope, hint)?,
            Value::Result(value) => self.of_result(value, method, arguments, scope, hint)?,
            Value::Text(text) => self.of_text(&text, method, arguments, call, scope, hint)?,
            Value::Integer(number, ty) => self.of_integer(number, ty, method, arguments, scope)?,
            Value::Char(letter) => of_char(letter, method, arguments),
            Value::List("iterator", list) => self.of_iterator(list, method, arguments, call, scope, hint)?,
            Value::List(kind, list) if kind != "tuple" => self.of_list(kind, list, method, arguments, scope)?,
            Value::Map(kind, entries) => self.of_map(kind, entries, method, arguments, scope)?,
            _ => None,
        };
        self.or_not_evident(found, call, scope)
    }

    fn of_option(
        &mut self,
        value: Option<Box<Value>>,
        method: &str,
        arguments: &[&Expr],
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Option<Value>> {
        let inner = self.element(hint, 0)?;
        Ok(match (value, method, arguments) {
            (value, "as_ref", []) => Some(Value::Option(value)),
            // A type of the source may dereference to something else.
            (value, "as_deref", []) => {
                let is_plain = value.as_deref().is_none_or(|value| matches!(value, Value::Text(_) | Value::List(..)));
                is_plain.then_some(Value::Option(value))
            }
            (value, "cloned" | "copied", []) => {
                let value = Value::Option(value);
                self.clones(&value).then_some(value)
            }
            (value, "iter" | "into_iter", []) => {
                Some(Value::List("iterator", value.into_iter().map(|value| *value).collect()))
            }
            (Some(value), "map", [function]) => Some(some(self.called(function, vec![*value], scope, &inner)?)),
            (Some(value), "and_then", [function]) => Some(self.called(function, vec![*value], scope, hint)?),
            (Some(value), "filter", [function]) => {
                match self.called(function, vec![(*value).clone()], scope, &Hint::Unknown)? {
                    Value::Bool(keeps) => Some(Value::Option(keeps.then_some(value))),
                    _ => None,
                }
            }
            (None, "map" | "and_then" | "filter", [_]) => Some(Value::Option(None)),
            (Some(value), "is_some_and", [function]) => {
                Some(self.called(function, vec![*value], scope, &Hint::Unknown)?)
            }
            (None, "is_some_and", [_]) => Some(Value::Bool(false)),
            (Some(value), "map_or" | "map_or_else", [other, function]) => {
                if method == "map_or" {
                    self.evaluate(other, scope, hint.unless_free())?;
                }
                Some(self.called(function, vec![*value], scope, hint.unless_free())?)
            }
            (None, "map_or", [other, _]) => Some(self.evaluate(other, scope, hint.unless_free())?),
            (None, "map_or_else", [other, _]) => Some(self.called(other, Vec::new(), scope, hint.unless_free())?),
            (Some(value), "unwrap_or_else" | "unwrap_or_default", _) => Some(*value),
            (None, "unwrap_or_else", [other]) => Some(self.called(other, Vec::new(), scope, hint.unless_free())?),
            (None, "unwrap_or_default", []) => self.default_expected(hint)?,
            (Some(value), "or" | "or_else", [other]) => {
                if method == "or" {
                    self.evaluate(other, scope, hint.unless_free())?;
                }
                Some(some(*value))
            }
            (None, "or", [other]) => Some(self.evaluate(other, scope, hint.unless_free())?),
            (None, "or_else", [other]) => Some(self.called(other, Vec::new(), scope, hint.unless_free())?),
            _ => None,
        })
    }

    fn default_expected(&mut self, hint: &Hint) -> Derived<Option<Value>> {
        match hint.ty().cloned() {
            Some((ty, at)) => self.default_of(&ty, &at).map(Some),
            None => Ok(None),
        }
    }

    fn of_result(
        &mut self,
        value: Option<Box<Value>>,
        method: &str,
        arguments: &[&Expr],
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Option<Value>> {
        Ok(match (value, method, arguments) {
            (Some(value), "unwrap", []) | (Some(value), "expect", [_]) => Some(*value),
            (value, "ok", []) => Some(Value::Option(value)),
            (value, "is_ok", []) => Some(Value::Bool(value.is_some())),
            (value, "is_err", []) => Some(Value::Bool(value.is_none())),
            (Some(value), "unwrap_or", [other]) => {
                self.evaluate(other, scope, hint.unless_free())?;
                Some(*value)
            }
            (Some(value), "unwrap_or_default" | "unwrap_or_else", _) => Some(*value),
            (None, "unwrap_or", [other]) => Some(self.evaluate(other, scope, hint.unless_free())?),
            (None, "unwrap_or_default", []) => self.default_expected(hint)?,
            (Some(value), "map", [function]) => {
                let value = self.called(function, vec![*value], scope, &Hint::Unknown)?;
                Some(Value::Result(Some(Box::new(value))))
            }
            (None, "map", [_]) => Some(Value::Result(None)),
            _ => None,
        })
    }

    fn of_text(
        &mut self,
        text: &str,
        method: &str,
        arguments: &[&Expr],
        call: &ExprMethodCall,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Option<Value>> {
        let pattern = match arguments.first() {
            Some(argument) if !matches!(method, "repeat" | "parse") => {
                match self.evaluate(argument, scope, &Hint::Unknown)? {
                    Value::Text(text) => text,
                    Value::Char(letter) => letter.to_string(),
                    _ => return Ok(None),
                }
            }
            _ => String::new(),
        };
        let text_value = |text: &str| Value::Text(text.to_owned());
        let texts = |parts: Vec<&str>| Value::List("iterator", parts.into_iter().map(text_value).collect());
        Ok(match (method, arguments) {
            ("into_boxed_str" | "into_string" | "as_ref" | "to_string", []) => Some(text_value(text)),
            ("trim_start", []) => Some(text_value(text.trim_start())),
            ("trim_end", []) => Some(text_value(text.trim_end())),
            ("trim_matches", [_]) => (pattern.chars().count() == 1)
                .then(|| text_value(text.trim_matches(|letter| pattern.starts_with(letter)))),
            ("trim_start_matches", [_]) if !pattern.is_empty() => Some(text_value(text.trim_start_matches(&pattern))),
            ("trim_end_matches", [_]) if !pattern.is_empty() => Some(text_value(text.trim_end_matches(&pattern))),
            ("starts_with", [_]) => Some(Value::Bool(text.starts_with(&pattern))),
            ("ends_with", [_]) => Some(Value::Bool(text.ends_with(&pattern))),
            ("contains", [_]) => Some(Value::Bool(text.contains(&pattern))),
            ("find", [_]) => Some(option(text.find(&pattern).map(|at| Value::Integer(at as i128, "usize")))),
            ("strip_prefix", [_]) => Some(option(text.strip_prefix(&pattern).map(text_value))),
            ("strip_suffix", [_]) => Some(option(text.strip_suffix(&pattern).map(text_value))),
            ("split_once", [_]) => Some(option(
                text.split_once(&pattern)
                    .map(|(left, right)| Value::List("tuple", vec![text_value(left), text_value(right)])),
            )),
            ("replace", [_, by]) => {
                let by = self.text(by, scope)?;
                Some(Value::Text(text.replace(&pattern, &by)))
            }
            ("repeat", [count]) => {
                let count = usize::try_from(self.integer(count, scope, "usize")?).unwrap_or(usize::MAX);
                (count.saturating_mul(text.len()) <= super::values::MAX_SIZE).then(|| Value::Text(text.repeat(count)))
            }
            ("split", [_]) => Some(texts(text.split(&pattern).collect())),
            ("split_whitespace", []) => Some(texts(text.split_whitespace().collect())),
            ("lines", []) => Some(texts(text.lines().collect())),
            ("chars", []) => Some(Value::List("iterator", text.chars().map(Value::Char).collect())),
            ("bytes", []) => {
                Some(Value::List("iterator", text.bytes().map(|byte| Value::Integer(byte.into(), "u8")).collect()))
            }
            ("as_bytes", []) => {
                Some(Value::List("array", text.bytes().map(|byte| Value::Integer(byte.into(), "u8")).collect()))
            }
            ("into_bytes", []) => {
                Some(Value::List("Vec", text.bytes().map(|byte| Value::Integer(byte.into(), "u8")).collect()))
            }
            ("eq_ignore_ascii_case", [_]) => Some(Value::Bool(text.eq_ignore_ascii_case(&pattern))),
            ("parse", []) => {
                let given = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                    Some(syn::GenericArgument::Type(ty)) => Some(Hint::exactly((ty.clone(), scope.clone()))),
                    _ => None,
                });
                // `unwrap` asks for what is in an option, or a list.
                let hint = match given {
                    Some(hint) => hint,
                    None => match hint {
                        Hint::List(of) => (**of).clone(),
                        _ => Hint::Unknown,
                    },
                };
                self.number_of(&hint)?.and_then(|ty| parsed_number(text, ty))
            }
            _ => None,
        })
    }

    fn of_integer(
        &mut self,
        number: i128,
        ty: &'static str,
        method: &str,
        arguments: &[&Expr],
        scope: &Scope,
    ) -> Derived<Option<Value>> {
        if ty == ANY || matches!(ty, "i128" | "u128") {
            return Ok(None);
        }
        let right = match arguments {
            [right] => {
                let right_type = if method.ends_with("pow") { "u32" } else { ty };
                Some(self.integer(right, scope, right_type)?)
            }
            _ => None,
        };
        let range = range_of(ty).unwrap_or(0..=0);
        let exact = |op: &str| -> Option<i128> {
            let right = right?;
            match op {
                "add" => number.checked_add(right),
                "sub" => number.checked_sub(right),
                "mul" => number.checked_mul(right),
                "div" => number.checked_div(right),
                "rem" => number.checked_rem(right),
                "pow" => number.checked_pow(u32::try_from(right).ok()?),
                _ => None,
            }
        };
        Ok(match (method, arguments) {
            ("abs", []) => in_range(number.abs(), ty),
            ("unsigned_abs", []) if ty.starts_with('i') => {
                integer_type(&ty.replacen('i', "u", 1)).map(|to| Value::Integer(number.abs(), to))
            }
            ("signum", []) if ty.starts_with('i') => Some(Value::Integer(number.signum(), ty)),
            ("is_positive", []) => Some(Value::Bool(number > 0)),
            ("is_negative", []) => Some(Value::Bool(number < 0)),
            ("is_power_of_two", []) if ty.starts_with('u') => Some(Value::Bool(number.count_ones() == 1)),
            ("count_ones", []) if number >= 0 => Some(Value::Integer(number.count_ones().into(), "u32")),
            ("rem_euclid", [_]) => right
                .filter(|right| *right != 0 && *right != -1)
                .map(|right| Value::Integer(number.rem_euclid(right), ty)),
            ("div_euclid", [_]) => {
                right.filter(|right| *right != 0).and_then(|right| in_range(number.div_euclid(right), ty))
            }
            ("div_ceil", [_]) if ty.starts_with('u') => {
                right.filter(|right| *right != 0).map(|right| Value::Integer((number + right - 1) / right, ty))
            }
            ("abs_diff", [_]) if ty.starts_with('u') => right.map(|right| Value::Integer((number - right).abs(), ty)),
            ("clamp", [low, high]) => {
                let (low, high) = (self.integer(low, scope, ty)?, self.integer(high, scope, ty)?);
                (low <= high).then(|| Value::Integer(number.clamp(low, high), ty))
            }
            (method, [_]) => match method.split_once('_') {
                Some(("checked", op @ ("add" | "sub" | "mul" | "pow"))) => {
                    exact(op).map(|result| option(in_range(result, ty)))
                }
                Some(("checked", op @ ("div" | "rem"))) => match right {
                    Some(0) => Some(Value::Option(None)),
                    Some(-1) => None,
                    _ => exact(op).map(|result| option(in_range(result, ty))),
                },
                Some(("saturating", op @ ("add" | "sub" | "mul" | "pow"))) => {
                    exact(op).map(|result| Value::Integer(result.clamp(*range.start(), *range.end()), ty))
                }
                Some(("wrapping", op @ ("add" | "sub" | "mul"))) => exact(op).and_then(|result| truncated(result, ty)),
                _ => None,
            },
            _ => None,
        })
    }

    fn of_list(
        &mut self,
        kind: &'static str,
        list: Vec<Value>,
        method: &str,
        arguments: &[&Expr],
        scope: &Scope,
    ) -> Derived<Option<Value>> {
        let is_indexed = matches!(kind, "array" | "Vec");
        Ok(match (method, arguments) {
            ("as_slice" | "as_ref" | "into_boxed_slice", []) if is_indexed => Some(Value::List("array", list)),
            ("into_vec", []) if is_indexed => Some(Value::List("Vec", list)),
            ("first", []) if kind != "HashSet" => Some(option(list.into_iter().next())),
            ("last", []) if kind != "HashSet" => Some(option(list.into_iter().next_back())),
            ("get", [at]) if is_indexed => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).unwrap_or(usize::MAX);
                Some(option(list.into_iter().nth(at)))
            }
            ("contains", [value]) => {
                let value = self.evaluate(value, scope, &list.first().map_or(Hint::Unknown, Hint::like))?;
                let mut found = Some(false);
                for element in &list {
                    let equal = match is_indexed {
                        true => self.equal(element, &value),
                        false => order(element, &value).map(Ordering::is_eq),
                    };
                    found = match (found, equal) {
                        (Some(found), Some(equal)) => Some(found || equal),
                        _ => None,
                    };
                }
                found.map(Value::Bool)
            }
            ("concat", []) if is_indexed => concatenated(list),
            _ => None,
        })
    }

    fn of_map(
        &mut self,
        kind: &'static str,
        entries: Vec<(Value, Value)>,
        method: &str,
        arguments: &[&Expr],
        scope: &Scope,
    ) -> Derived<Option<Value>> {
        Ok(match (method, arguments) {
            ("len", []) => Some(Value::Integer(entries.len() as i128, "usize")),
            ("get" | "contains_key", [key]) => {
                let key =
                    self.evaluate(key, scope, &entries.first().map_or(Hint::Unknown, |(key, _)| Hint::like(key)))?;
                let mut found = None;
                for (other, value) in entries {
                    match order(&other, &key) {
                        Some(Ordering::Equal) => found = Some(value),
                        Some(_) => {}
                        None => return Ok(None),
                    }
                }
                Some(if method == "get" { option(found) } else { Value::Bool(found.is_some()) })
            }
            ("iter" | "into_iter", []) => {
                self.elements(Value::Map(kind, entries)).map(|list| Value::List("iterator", list))
            }
            ("keys" | "into_keys", []) if kind == "BTreeMap" => {
                Some(Value::List("iterator", entries.into_iter().map(|(key, _)| key).collect()))
            }
            ("values" | "into_values", []) if kind == "BTreeMap" => {
                Some(Value::List("iterator", entries.into_iter().map(|(_, value)| value).collect()))
            }
            _ => None,
        })
    }

    fn of_iterator(
        &mut self,
        list: Vec<Value>,
        method: &str,
        arguments: &[&Expr],
        call: &ExprMethodCall,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Option<Value>> {
        let iterator = |list: Vec<Value>| Some(Value::List("iterator", list));
        let of = |hint: Hint| Hint::List(Box::new(hint));
        let given: Option<Typed> = call.turbofish.as_ref().and_then(|list| match list.args.first() {
            Some(syn::GenericArgument::Type(ty)) => Some((ty.clone(), scope.clone())),
            _ => None,
        });
        Ok(match (method, arguments) {
            ("into_iter" | "iter", []) => iterator(list),
            ("enumerate", []) => iterator(
                list.into_iter()
                    .enumerate()
                    .map(|(index, value)| Value::List("tuple", vec![Value::Integer(index as i128, "usize"), value]))
                    .collect(),
            ),
            ("zip", [other]) => {
                let other = self.evaluate(other, scope, &Hint::Unknown)?;
                self.elements(other).and_then(|other| {
                    iterator(
                        list.into_iter()
                            .zip(other)
                            .map(|(left, right)| Value::List("tuple", vec![left, right]))
                            .collect(),
                    )
                })
            }
            ("filter" | "skip_while" | "take_while" | "any" | "all" | "position" | "find", [function]) => {
                let mut holds = Vec::new();
                for value in &list {
                    match self.called(function, vec![value.clone()], scope, &Hint::Unknown)? {
                        Value::Bool(one) => holds.push(one),
                        _ => return Ok(None),
                    }
                }
                let kept = |first: usize, last: usize| list[first..last].to_vec();
                let until = |wanted: bool| holds.iter().position(|one| *one == wanted);
                match method {
                    "any" => Some(Value::Bool(holds.contains(&true))),
                    "all" => Some(Value::Bool(!holds.contains(&false))),
                    "position" => Some(option(until(true).map(|at| Value::Integer(at as i128, "usize")))),
                    "find" => Some(option(until(true).map(|at| list[at].clone()))),
                    "take_while" => iterator(kept(0, until(false).unwrap_or(list.len()))),
                    "skip_while" => iterator(kept(until(false).unwrap_or(list.len()), list.len())),
                    _ => {
                        iterator(list.into_iter().zip(holds).filter(|(_, one)| *one).map(|(value, _)| value).collect())
                    }
                }
            }
            ("filter_map", [function]) => {
                let inner = of(self.element(hint, 0)?);
                let mut kept = Vec::new();
                for value in list {
                    match self.called(function, vec![value], scope, &inner)? {
                        Value::Option(value) => kept.extend(value.map(|value| *value)),
                        _ => return Ok(None),
                    }
                }
                iterator(kept)
            }
            ("flat_map", [function]) => {
                let inner = of(self.element(hint, 0)?);
                let mut all = Vec::new();
                for value in list {
                    let made = self.called(function, vec![value], scope, &inner)?;
                    match self.elements(made) {
                        Some(made) => all.extend(made),
                        None => return Ok(None),
                    }
                }
                iterator(all)
            }
            ("flatten", []) => {
                let mut all = Vec::new();
                for value in list {
                    match self.elements(value) {
                        Some(made) => all.extend(made),
                        None => return Ok(None),
                    }
                }
                iterator(all)
            }
            ("step_by", [step]) => {
                let step = usize::try_from(self.integer(step, scope, "usize")?).unwrap_or_default();
                (step > 0).then(|| Value::List("iterator", list.into_iter().step_by(step).collect()))
            }
            ("count", []) => Some(Value::Integer(list.len() as i128, "usize")),
            // Of what has no name, nothing else sees the rest.
            ("next", []) if matches!(*call.receiver, Expr::MethodCall(_)) => Some(option(list.into_iter().next())),
            ("last", []) => Some(option(list.into_iter().next_back())),
            ("nth", [at]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).unwrap_or(usize::MAX);
                Some(option(list.into_iter().nth(at)))
            }
            ("max" | "min", []) => {
                let sorted = super::conversions::in_order(list);
                sorted.map(|sorted| {
                    option(if method == "max" { sorted.into_iter().next_back() } else { sorted.into_iter().next() })
                })
            }
            ("sum" | "product", []) => {
                let of = given.map_or_else(|| hint.clone(), Hint::exactly);
                let ty = self.number_of(&of)?.and_then(integer_type);
                let op: syn::BinOp = if method == "sum" { syn::parse_quote!(+) } else { syn::parse_quote!(*) };
                ty.and_then(|ty| {
                    let first = Value::Integer(if method == "sum" { 0 } else { 1 }, ty);
                    list.into_iter().try_fold(first, |sum, value| arithmetic(&op, sum, value))
                })
            }
            ("fold", [first, function]) => {
                let mut folded = self.evaluate(first, scope, hint.unless_free())?;
                for value in list {
                    folded = self.called(function, vec![folded, value], scope, hint.unless_free())?;
                }
                Some(folded)
            }
            _ => None,
        })
    }
}

fn some(value: Value) -> Value {
    Value::Option(Some(Box::new(value)))
}

fn option(value: Option<Value>) -> Value {
    Value::Option(value.map(Box::new))
}

/// What `parse` makes of a text; as std, unlike `i128`, a `-0` is no unsigned number.
fn parsed_number(text: &str, ty: &'static str) -> Option<Value> {
    let value = match ty {
        "f32" => text.parse().ok().map(Value::Single),
        "f64" => text.parse().ok().map(Value::Double),
        "i128" | "u128" => return None,
        ty if ty.starts_with('u') && text.starts_with('-') => None,
        ty => text.parse().ok().and_then(|number| in_range(number, ty)),
    };
    Some(Value::Result(value.map(Box::new)))
}

fn of_char(letter: char, method: &str, arguments: &[&Expr]) -> Option<Value> {
    Some(match (method, arguments) {
        ("to_ascii_uppercase", []) => Value::Char(letter.to_ascii_uppercase()),
        ("to_ascii_lowercase", []) => Value::Char(letter.to_ascii_lowercase()),
        ("is_ascii_digit", []) => Value::Bool(letter.is_ascii_digit()),
        ("is_ascii_alphabetic", []) => Value::Bool(letter.is_ascii_alphabetic()),
        ("is_ascii_alphanumeric", []) => Value::Bool(letter.is_ascii_alphanumeric()),
        ("is_ascii_uppercase", []) => Value::Bool(letter.is_ascii_uppercase()),
        ("is_ascii_lowercase", []) => Value::Bool(letter.is_ascii_lowercase()),
        // Of other letters, another version of std may know more.
        ("is_alphabetic", []) if letter.is_ascii() => Value::Bool(letter.is_alphabetic()),
        ("is_alphanumeric", []) if letter.is_ascii() => Value::Bool(letter.is_alphanumeric()),
        ("is_numeric", []) if letter.is_ascii() => Value::Bool(letter.is_numeric()),
        ("is_uppercase", []) if letter.is_ascii() => Value::Bool(letter.is_uppercase()),
        ("is_lowercase", []) if letter.is_ascii() => Value::Bool(letter.is_lowercase()),
        ("is_whitespace", []) if letter.is_ascii() => Value::Bool(letter.is_whitespace()),
        _ => return None,
    })
}

/// The parts of a list of texts or lists, as one.
fn concatenated(list: Vec<Value>) -> Option<Value> {
    if let [Value::Text(_), ..] = list[..] {
        let texts = list.into_iter().map(|value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        return texts.collect::<Option<String>>().map(Value::Text);
    }
    let lists = list.into_iter().map(|value| match value {
        Value::List("array" | "Vec", list) => Some(list),
        _ => None,
    });
    let lists: Vec<Vec<Value>> = lists.collect::<Option<_>>()?;
    (!lists.is_empty()).then(|| Value::List("Vec", lists.concat()))
}
