//! Methods of std's values: options, results, strings, numbers, collections and iterators.
//!
//! An iterator is evaluated eagerly to the list of its elements: closures modify nothing, and code that panics is
//! refused, so the time at which they run does not matter.

use std::cmp::Ordering;

use syn::{Expr, ExprMethodCall};

use super::Evaluator;
use super::context::{Derived, Scope, Typed};
use super::conversions::order;
use super::numbers::{arithmetic, integer_type};
use super::values::{Hint, Value};

pub fn method_of_std(
    evaluator: &mut Evaluator<'_, '_>,
    receiver: Value,
    method: &str,
    arguments: &[&Expr],
    call: &ExprMethodCall,
    scope: &Scope,
    hint: &Hint,
) -> Derived<Value> {
    let found = match receiver {
        Value::Option(value) => of_option(evaluator, value, method, arguments, scope, hint)?,
        Value::Result(value) => of_result(evaluator, value, method, arguments, scope, hint)?,
        Value::Text(text) => super::texts::of_text(evaluator, &text, method, arguments, call, scope, hint)?,
        Value::Integer(number, ty) => {
            super::quantities::of_integer(evaluator, number, ty, method, arguments, scope, hint)?
        }
        Value::Single(_) | Value::Double(_) => {
            super::quantities::of_float(evaluator, receiver, method, arguments, scope)?
        }
        Value::Duration(time) => super::quantities::of_duration(evaluator, time, method, arguments, scope)?,
        Value::Ordering(order) => super::quantities::of_ordering(evaluator, order, method, arguments, scope)?,
        Value::Bool(holds) => super::quantities::of_bool(evaluator, holds, method, arguments, scope, hint)?,
        Value::Char(letter) => super::texts::of_char(letter, method, arguments),
        Value::List("iterator", list) => of_iterator(evaluator, list, method, arguments, call, scope, hint)?,
        Value::List(kind, list) if kind != "tuple" => of_list(evaluator, kind, list, method, arguments, scope)?,
        Value::Map(kind, entries) => of_map(evaluator, kind, entries, method, arguments, scope)?,
        _ => None,
    };
    evaluator.cx.or_not_evident(found, call, scope)
}

fn of_option(
    evaluator: &mut Evaluator<'_, '_>,
    value: Option<Box<Value>>,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
    hint: &Hint,
) -> Derived<Option<Value>> {
    let inner = evaluator.cx.element(hint, 0)?;
    Ok(match (value, method, arguments) {
        (value, "as_ref", []) => Some(Value::Option(value)),
        // A type in the source may dereference to another type.
        (value, "as_deref", []) => {
            let is_plain = value.as_deref().is_none_or(|value| matches!(value, Value::Text(_) | Value::List(..)));
            is_plain.then_some(Value::Option(value))
        }
        (value, "cloned" | "copied", []) => {
            let value = Value::Option(value);
            evaluator.cx.clones(&value).then_some(value)
        }
        (value, "iter" | "into_iter", []) => {
            Some(Value::List("iterator", value.into_iter().map(|value| *value).collect()))
        }
        (Some(value), "map", [function]) => Some(some(evaluator.called(function, vec![*value], scope, &inner)?)),
        (Some(value), "and_then", [function]) => Some(evaluator.called(function, vec![*value], scope, hint)?),
        (Some(value), "filter", [function]) => {
            match evaluator.called(function, vec![(*value).clone()], scope, &Hint::Unknown)? {
                Value::Bool(keeps) => Some(Value::Option(keeps.then_some(value))),
                _ => None,
            }
        }
        (None, "map" | "and_then" | "filter", [_]) => Some(Value::Option(None)),
        (value, "zip", [other]) => match evaluator.evaluate(other, scope, &Hint::Unknown)? {
            Value::Option(other) => {
                Some(option(value.zip(other).map(|(left, right)| Value::List("tuple", vec![*left, *right]))))
            }
            _ => None,
        },
        (value, "flatten", []) => match value.map(|value| *value) {
            Some(inner @ Value::Option(_)) => Some(inner),
            Some(_) => None,
            None => Some(Value::Option(None)),
        },
        (value, "xor", [other]) => match (value, evaluator.evaluate(other, scope, hint.unless_free())?) {
            (Some(value), Value::Option(None)) => Some(some(*value)),
            (None, other @ Value::Option(_)) => Some(other),
            (Some(_), Value::Option(Some(_))) => Some(Value::Option(None)),
            _ => None,
        },
        (value, "ok_or" | "ok_or_else", [_]) => Some(Value::Result(value)),
        (Some(value), "is_none_or", [function]) => {
            Some(evaluator.called(function, vec![*value], scope, &Hint::Unknown)?)
        }
        (None, "is_none_or", [_]) => Some(Value::Bool(true)),
        (Some(value), "is_some_and", [function]) => {
            Some(evaluator.called(function, vec![*value], scope, &Hint::Unknown)?)
        }
        (None, "is_some_and", [_]) => Some(Value::Bool(false)),
        (Some(value), "map_or" | "map_or_else", [other, function]) => {
            if method == "map_or" {
                evaluator.evaluate(other, scope, hint.unless_free())?;
            }
            Some(evaluator.called(function, vec![*value], scope, hint.unless_free())?)
        }
        (None, "map_or", [other, _]) => Some(evaluator.evaluate(other, scope, hint.unless_free())?),
        (None, "map_or_else", [other, _]) => Some(evaluator.called(other, Vec::new(), scope, hint.unless_free())?),
        (Some(value), "unwrap_or_else" | "unwrap_or_default", _) => Some(*value),
        (None, "unwrap_or_else", [other]) => Some(evaluator.called(other, Vec::new(), scope, hint.unless_free())?),
        (None, "unwrap_or_default", []) => default_expected(evaluator, hint)?,
        (Some(value), "or" | "or_else", [other]) => {
            if method == "or" {
                evaluator.evaluate(other, scope, hint.unless_free())?;
            }
            Some(some(*value))
        }
        (None, "or", [other]) => Some(evaluator.evaluate(other, scope, hint.unless_free())?),
        (None, "or_else", [other]) => Some(evaluator.called(other, Vec::new(), scope, hint.unless_free())?),
        _ => None,
    })
}

fn default_expected(evaluator: &mut Evaluator<'_, '_>, hint: &Hint) -> Derived<Option<Value>> {
    match hint.ty().cloned() {
        Some((ty, at)) => evaluator.default_of(&ty, &at).map(Some),
        None => Ok(None),
    }
}

fn of_result(
    evaluator: &mut Evaluator<'_, '_>,
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
            evaluator.evaluate(other, scope, hint.unless_free())?;
            Some(*value)
        }
        (Some(value), "unwrap_or_default" | "unwrap_or_else", _) => Some(*value),
        (None, "unwrap_or", [other]) => Some(evaluator.evaluate(other, scope, hint.unless_free())?),
        (None, "unwrap_or_default", []) => default_expected(evaluator, hint)?,
        (Some(value), "map", [function]) => {
            let value = evaluator.called(function, vec![*value], scope, &Hint::Unknown)?;
            Some(Value::Result(Some(Box::new(value))))
        }
        (None, "map" | "and_then", [_]) => Some(Value::Result(None)),
        (Some(value), "and_then", [function]) => Some(evaluator.called(function, vec![*value], scope, hint)?),
        (value @ Some(_), "map_err" | "or_else", [_]) => Some(Value::Result(value)),
        (Some(value), "map_or", [other, function]) => {
            evaluator.evaluate(other, scope, hint.unless_free())?;
            Some(evaluator.called(function, vec![*value], scope, hint.unless_free())?)
        }
        (None, "map_or", [other, _]) => Some(evaluator.evaluate(other, scope, hint.unless_free())?),
        (Some(value), "is_ok_and", [function]) => {
            Some(evaluator.called(function, vec![*value], scope, &Hint::Unknown)?)
        }
        (None, "is_ok_and", [_]) => Some(Value::Bool(false)),
        _ => None,
    })
}

fn of_list(
    evaluator: &mut Evaluator<'_, '_>,
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
            let at = usize::try_from(evaluator.integer(at, scope, "usize")?).unwrap_or(usize::MAX);
            Some(option(list.into_iter().nth(at)))
        }
        ("contains", [value]) => {
            let value = evaluator.evaluate(value, scope, &list.first().map_or(Hint::Unknown, Hint::like))?;
            let mut found = Some(false);
            for element in &list {
                let equal = match is_indexed {
                    true => evaluator.cx.equal(element, &value),
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
        ("windows" | "chunks" | "chunks_exact" | "rchunks", [size]) if is_indexed => {
            let size = usize::try_from(evaluator.integer(size, scope, "usize")?).ok().filter(|size| *size > 0);
            let parts = |parts: &mut dyn Iterator<Item = &[Value]>| {
                Value::List("iterator", parts.map(|part| Value::List("array", part.to_vec())).collect())
            };
            size.map(|size| match method {
                "windows" => parts(&mut list.windows(size)),
                "chunks" => parts(&mut list.chunks(size)),
                "chunks_exact" => parts(&mut list.chunks_exact(size)),
                _ => parts(&mut list.rchunks(size)),
            })
        }
        ("split_at", [at]) if is_indexed => {
            let at = usize::try_from(evaluator.integer(at, scope, "usize")?).ok();
            let parts = at.and_then(|at| list.split_at_checked(at));
            parts
                .map(|(left, right)| tuple([Value::List("array", left.to_vec()), Value::List("array", right.to_vec())]))
        }
        ("split_first", []) if is_indexed => Some(option(
            list.split_first().map(|(first, rest)| tuple([first.clone(), Value::List("array", rest.to_vec())])),
        )),
        ("split_last", []) if is_indexed => Some(option(
            list.split_last().map(|(last, rest)| tuple([last.clone(), Value::List("array", rest.to_vec())])),
        )),
        ("starts_with" | "ends_with", [part]) if is_indexed => {
            let hint = Hint::List(Box::new(list.first().map_or(Hint::Unknown, Hint::like)));
            let Value::List("array" | "Vec", part) = evaluator.evaluate(part, scope, &hint)? else { return Ok(None) };
            let from = if method == "starts_with" { Some(0) } else { list.len().checked_sub(part.len()) };
            match from.and_then(|from| list.get(from..from + part.len())) {
                Some(same) => evaluator
                    .cx
                    .equal(&Value::List("array", same.to_vec()), &Value::List("array", part))
                    .map(Value::Bool),
                None => Some(Value::Bool(false)),
            }
        }
        ("union" | "intersection" | "difference" | "is_subset" | "is_superset" | "is_disjoint", [other])
            if kind == "BTreeSet" =>
        {
            let Value::List("BTreeSet", other) = evaluator.evaluate(other, scope, &Hint::Unknown)? else {
                return Ok(None);
            };
            let Some(mine) = within(&list, &other) else { return Ok(None) };
            let Some(theirs) = within(&other, &list) else { return Ok(None) };
            let kept = |wanted: bool| {
                let pairs = list.iter().zip(&mine).filter(|(_, exists)| **exists == wanted);
                Value::List("iterator", pairs.map(|(value, _)| value.clone()).collect())
            };
            match method {
                "union" => match super::conversions::collection(kind, [list, other].concat()) {
                    Some(Value::List(_, all)) => Some(Value::List("iterator", all)),
                    _ => None,
                },
                "intersection" => Some(kept(true)),
                "difference" => Some(kept(false)),
                "is_subset" => Some(Value::Bool(mine.iter().all(|exists| *exists))),
                "is_superset" => Some(Value::Bool(theirs.iter().all(|exists| *exists))),
                _ => Some(Value::Bool(!mine.contains(&true))),
            }
        }
        _ => None,
    })
}

fn of_map(
    evaluator: &mut Evaluator<'_, '_>,
    kind: &'static str,
    entries: Vec<(Value, Value)>,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    Ok(match (method, arguments) {
        ("len", []) => Some(Value::Integer(entries.len() as i128, "usize")),
        ("get" | "contains_key", [key]) => {
            let Some(found) = entry_of(evaluator, entries, key, scope)? else { return Ok(None) };
            Some(if method == "get" { option(found) } else { Value::Bool(found.is_some()) })
        }
        ("iter" | "into_iter", []) => {
            evaluator.elements(Value::Map(kind, entries)).map(|list| Value::List("iterator", list))
        }
        ("first_key_value" | "last_key_value", []) if kind == "BTreeMap" => {
            let at = if method == "first_key_value" { 0 } else { entries.len().saturating_sub(1) };
            Some(option(entries.into_iter().nth(at).map(|(key, value)| tuple([key, value]))))
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

/// The value of a key; `None` if the equality of keys is not known.
pub fn entry_of(
    evaluator: &mut Evaluator<'_, '_>,
    entries: Vec<(Value, Value)>,
    key: &Expr,
    scope: &Scope,
) -> Derived<Option<Option<Value>>> {
    let hint = entries.first().map_or(Hint::Unknown, |(key, _)| Hint::like(key));
    let key = evaluator.evaluate(key, scope, &hint)?;
    let mut found = None;
    for (other, value) in entries {
        match order(&other, &key) {
            Some(Ordering::Equal) => found = Some(value),
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

fn of_iterator(
    evaluator: &mut Evaluator<'_, '_>,
    list: Vec<Value>,
    method: &str,
    arguments: &[&Expr],
    call: &ExprMethodCall,
    scope: &Scope,
    hint: &Hint,
) -> Derived<Option<Value>> {
    // The rest of a temporary iterator is not used elsewhere.
    if ADVANCES.contains(&method) && names_place(&call.receiver) {
        return Ok(None);
    }
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
            let other = evaluator.evaluate(other, scope, &Hint::Unknown)?;
            evaluator.elements(other).and_then(|other| {
                iterator(
                    list.into_iter().zip(other).map(|(left, right)| Value::List("tuple", vec![left, right])).collect(),
                )
            })
        }
        ("filter" | "skip_while" | "take_while" | "any" | "all" | "position" | "find", [function]) => {
            let mut holds = Vec::new();
            for value in &list {
                match evaluator.called(function, vec![value.clone()], scope, &Hint::Unknown)? {
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
                _ => iterator(list.into_iter().zip(holds).filter(|(_, one)| *one).map(|(value, _)| value).collect()),
            }
        }
        ("filter_map", [function]) => {
            let inner = of(evaluator.cx.element(hint, 0)?);
            let mut kept = Vec::new();
            for value in list {
                match evaluator.called(function, vec![value], scope, &inner)? {
                    Value::Option(value) => kept.extend(value.map(|value| *value)),
                    _ => return Ok(None),
                }
            }
            iterator(kept)
        }
        ("find_map" | "map_while", [function]) => {
            let inner = if method == "find_map" { hint.clone() } else { of(evaluator.cx.element(hint, 0)?) };
            let mut made = Vec::new();
            for value in list {
                match evaluator.called(function, vec![value], scope, &inner)? {
                    Value::Option(value) => made.push(value),
                    _ => return Ok(None),
                }
            }
            match method {
                "find_map" => Some(Value::Option(made.into_iter().flatten().next())),
                _ => iterator(made.into_iter().map_while(|value| value.map(|value| *value)).collect()),
            }
        }
        ("partition", [function]) => {
            let target = given.map_or_else(|| hint.clone(), Hint::exactly);
            // Both sides of the expected pair have the same type.
            let target = match call.turbofish {
                Some(_) => target,
                None => evaluator.cx.element(&target, 0)?,
            };
            let Some(kind) = evaluator.cx.collection_of(&target)? else { return Ok(None) };
            let (mut held, mut others) = (Vec::new(), Vec::new());
            for value in list {
                match evaluator.called(function, vec![value.clone()], scope, &Hint::Unknown)? {
                    Value::Bool(true) => held.push(value),
                    Value::Bool(false) => others.push(value),
                    _ => return Ok(None),
                }
            }
            let sides = super::conversions::collection(&kind, held).zip(super::conversions::collection(&kind, others));
            sides.map(|(held, others)| tuple([held, others]))
        }
        ("unzip", []) if call.turbofish.is_none() => {
            let hints = (evaluator.cx.element(hint, 0)?, evaluator.cx.element(hint, 1)?);
            let (Some(left), Some(right)) =
                (evaluator.cx.collection_of(&hints.0)?, evaluator.cx.collection_of(&hints.1)?)
            else {
                return Ok(None);
            };
            let pairs = list.into_iter().map(|pair| match pair {
                Value::List("tuple", pair) => <[Value; 2]>::try_from(pair).ok().map(|[left, right]| (left, right)),
                _ => None,
            });
            let Some((lefts, rights)) = pairs.collect::<Option<(Vec<_>, Vec<_>)>>() else { return Ok(None) };
            let sides =
                super::conversions::collection(&left, lefts).zip(super::conversions::collection(&right, rights));
            sides.map(|(left, right)| tuple([left, right]))
        }
        ("max_by_key" | "min_by_key", [function]) => {
            let mut keyed = Vec::new();
            for value in list {
                keyed.push((evaluator.called(function, vec![value.clone()], scope, &Hint::Unknown)?, value));
            }
            // Of equal elements, the last is the maximum, and the first is the minimum.
            evaluator.cx.in_order_of(keyed).map(|sorted| {
                let mut sorted = sorted.into_iter();
                option(if method == "max_by_key" { sorted.next_back() } else { sorted.next() })
            })
        }
        ("max_by" | "min_by", [function]) => {
            let sorted = evaluator.sorted_by(list, function, scope)?;
            sorted.map(|sorted| {
                let mut sorted = sorted.into_iter();
                option(if method == "max_by" { sorted.next_back() } else { sorted.next() })
            })
        }
        ("reduce", [function]) => {
            let mut list = list.into_iter();
            let mut reduced = list.next();
            for value in list {
                let before = reduced.take().into_iter().chain([value]).collect();
                reduced = Some(evaluator.called(function, before, scope, &Hint::Unknown)?);
            }
            Some(option(reduced))
        }
        ("rposition", [function]) => {
            let mut found = None;
            for (at, value) in list.into_iter().enumerate() {
                match evaluator.called(function, vec![value], scope, &Hint::Unknown)? {
                    Value::Bool(true) => found = Some(Value::Integer(at as i128, "usize")),
                    Value::Bool(false) => {}
                    _ => return Ok(None),
                }
            }
            Some(option(found))
        }
        ("flat_map", [function]) => {
            let inner = of(evaluator.cx.element(hint, 0)?);
            let mut all = Vec::new();
            for value in list {
                let made = evaluator.called(function, vec![value], scope, &inner)?;
                match evaluator.elements(made) {
                    Some(made) => all.extend(made),
                    None => return Ok(None),
                }
            }
            iterator(all)
        }
        ("flatten", []) => {
            let mut all = Vec::new();
            for value in list {
                match evaluator.elements(value) {
                    Some(made) => all.extend(made),
                    None => return Ok(None),
                }
            }
            iterator(all)
        }
        ("step_by", [step]) => {
            let step = usize::try_from(evaluator.integer(step, scope, "usize")?).unwrap_or_default();
            (step > 0).then(|| Value::List("iterator", list.into_iter().step_by(step).collect()))
        }
        ("count", []) => Some(Value::Integer(list.len() as i128, "usize")),
        ("next", []) => Some(option(list.into_iter().next())),
        ("last", []) => Some(option(list.into_iter().next_back())),
        ("nth", [at]) => {
            let at = usize::try_from(evaluator.integer(at, scope, "usize")?).unwrap_or(usize::MAX);
            Some(option(list.into_iter().nth(at)))
        }
        ("max" | "min", []) => {
            let sorted = evaluator.cx.in_order(list);
            sorted.map(|sorted| {
                option(if method == "max" { sorted.into_iter().next_back() } else { sorted.into_iter().next() })
            })
        }
        ("sum" | "product", []) => {
            let of = given.map_or_else(|| hint.clone(), Hint::exactly);
            let ty = evaluator.cx.number_of(&of)?.and_then(integer_type);
            let op: syn::BinOp = if method == "sum" { syn::parse_quote!(+) } else { syn::parse_quote!(*) };
            // The sum of no floats is `-0.0` or `0.0`, depending on the version of std.
            let first = match (ty, list.first()) {
                (Some(ty), _) => Some(Value::Integer(if method == "sum" { 0 } else { 1 }, ty)),
                (None, Some(Value::Double(_))) => Some(Value::Double(if method == "sum" { -0.0 } else { 1.0 })),
                (None, Some(Value::Single(_))) => Some(Value::Single(if method == "sum" { -0.0 } else { 1.0 })),
                (None, _) => None,
            };
            first.and_then(|first| list.into_iter().try_fold(first, |sum, value| arithmetic(&op, sum, value)))
        }
        ("fold", [first, function]) => {
            let mut folded = evaluator.evaluate(first, scope, hint.unless_free())?;
            for value in list {
                folded = evaluator.called(function, vec![folded, value], scope, hint.unless_free())?;
            }
            Some(folded)
        }
        _ => None,
    })
}

/// For each value of a set, `true` if the other set contains it.
fn within(list: &[Value], other: &[Value]) -> Option<Vec<bool>> {
    let has = |value: &Value| {
        let equal = other.iter().map(|other| order(other, value).map(Ordering::is_eq));
        equal.collect::<Option<Vec<bool>>>().map(|equal| equal.contains(&true))
    };
    list.iter().map(has).collect()
}

fn tuple(values: [Value; 2]) -> Value {
    Value::List("tuple", values.into())
}

fn some(value: Value) -> Value {
    Value::Option(Some(Box::new(value)))
}

fn option(value: Option<Value>) -> Value {
    Value::Option(value.map(Box::new))
}

/// Strings and characters as one string.
pub fn concatenated_texts(list: Vec<Value>) -> Option<String> {
    let mut text = String::new();
    for value in list {
        match value {
            Value::Text(part) => text.push_str(&part),
            Value::Char(letter) => text.push(letter),
            _ => return None,
        }
    }
    Some(text)
}

/// The elements of a list of strings or lists, concatenated.
fn concatenated(list: Vec<Value>) -> Option<Value> {
    if let [Value::Text(_), ..] = list[..] {
        return concatenated_texts(list).map(Value::Text);
    }
    let lists = list.into_iter().map(|value| match value {
        Value::List("array" | "Vec", list) => Some(list),
        _ => None,
    });
    let lists: Vec<Vec<Value>> = lists.collect::<Option<_>>()?;
    (!lists.is_empty()).then(|| Value::List("Vec", lists.concat()))
}

/// Methods of iterators that take `&mut self`: a later call continues where they stopped.
const ADVANCES: [&str; 8] = ["all", "any", "find", "find_map", "next", "nth", "position", "rposition"];

/// `true` if an expression is a local or a part of one.
fn names_place(expr: &Expr) -> bool {
    matches!(super::numbers::without_parens(expr), Expr::Path(_) | Expr::Field(_) | Expr::Index(_))
}
