//! Functions of lists, and of lists as sets.
//!
//! Source: cel-go's `ext/lists.go`, `ext/sets.go` and the optionals of `cel/library.go`; `pkg/cel/library/lists.go` of
//! k8s.io/apiserver.

use std::cmp::Ordering;

use super::super::evaluate::{Evaluation, contains};
use super::super::types::Type;
use super::super::value::{Failure, List, Outcome, Value, compare, equal, error, no_overload};
use super::operators::add;
use super::unknown;

pub fn call(on: &mut Evaluation, name: &str, args: &[Value], result: Option<&Type>) -> Option<Outcome> {
    if let ("lists.range", [Value::Int(end)]) = (name, args) {
        let spent = on.spend(usize::try_from(*end).unwrap_or_default());
        return Some(spent.map(|()| Value::list((0..*end).map(Value::Int).collect())));
    }
    let Some(Value::List(list)) = args.first() else { return None };
    let items = &list.items;
    let squared = matches!(name, "distinct" | "sort" | "@sortByAssociatedKeys");
    let work = if squared { items.len().saturating_mul(items.len()) / 4 } else { items.len() / 2 };
    if let Err(failure) = on.spend(work) {
        return Some(Err(failure));
    }
    Some(match (name, &args[1..]) {
        ("distinct", []) => distinct(items),
        ("first", []) => Ok(items.first().cloned().map_or(Value::NONE, Value::some)),
        ("last", []) => Ok(items.last().cloned().map_or(Value::NONE, Value::some)),
        ("flatten", []) => flatten(items, 1).map(Value::list),
        ("flatten", [Value::Int(depth)]) if *depth < 0 => error("level must be non-negative"),
        ("flatten", [Value::Int(depth)]) => flatten(items, *depth).map(Value::list),
        ("indexOf", [value]) => Ok(position(items.iter(), value)),
        ("lastIndexOf", [value]) => Ok(match position(items.iter().rev(), value) {
            Value::Int(at) if at >= 0 => Value::Int(items.len() as i64 - 1 - at),
            none => none,
        }),
        ("isSorted", []) => {
            Ok(Value::Bool(items.windows(2).all(|pair| !matches!(compare(&pair[0], &pair[1]), Ok(Ordering::Greater)))))
        }
        ("join", []) => join(items, ""),
        ("join", [Value::String(by)]) => join(items, by),
        ("max", []) => extreme(items, name, Ordering::Less),
        ("min", []) => extreme(items, name, Ordering::Greater),
        ("optional.unwrap" | "unwrapOpt", []) => unwrap(items),
        ("reverse", []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        ("sets.contains", [Value::List(part)]) => all_in(on, part, list),
        ("sets.equivalent", [Value::List(other)]) => match all_in(on, other, list) {
            Ok(Value::Bool(true)) => all_in(on, list, other),
            outcome => outcome,
        },
        ("sets.intersects", [Value::List(other)]) => {
            if let Err(failure) = on.spend(items.len().saturating_mul(other.items.len()) / 4) {
                return Some(Err(failure));
            }
            Ok(Value::Bool(items.iter().any(|item| matches!(contains(&other.items, item), Ok(true)))))
        }
        ("slice", [Value::Int(from), Value::Int(to)]) => slice(items, *from, *to),
        ("sort", []) => sort(items, items),
        ("@sortByAssociatedKeys", [Value::List(keys)]) => sort(items, &keys.items),
        ("sum", []) => sum(on, items, result),
        _ => return None,
    })
}

fn distinct(items: &[Value]) -> Outcome {
    let mut found: Vec<Value> = Vec::new();
    for item in items {
        if !found.iter().any(|known| matches!(equal(item, known), Ok(true))) {
            found.push(item.clone());
        }
    }
    Ok(Value::list(found))
}

fn flatten(items: &[Value], depth: i64) -> Result<Vec<Value>, Failure> {
    let mut flat = Vec::new();
    for item in items {
        match item {
            Value::List(inner) if depth > 0 => flat.extend(flatten(&inner.items, depth - 1)?),
            Value::Opaque(_) => return unknown("a field of no known type"),
            item => flat.push(item.clone()),
        }
    }
    Ok(flat)
}

fn position<'a>(mut items: impl Iterator<Item = &'a Value>, value: &Value) -> Value {
    Value::Int(items.position(|item| matches!(equal(item, value), Ok(true))).map_or(-1, |at| at as i64))
}

fn join(items: &[Value], by: &str) -> Outcome {
    let texts: Option<Vec<&str>> =
        items.iter().map(|item| if let Value::String(text) = item { Some(&**text) } else { None }).collect();
    texts.map_or_else(no_overload, |texts| Ok(Value::string(texts.join(by))))
}

fn extreme(items: &[Value], name: &str, replaced: Ordering) -> Outcome {
    let Some((first, rest)) = items.split_first() else { return error(format!("{name} called on empty list")) };
    let mut found = first.clone().sound()?;
    for item in rest {
        if compare(&found, item).is_ok_and(|ordering| ordering == replaced) {
            found = item.clone();
        }
    }
    Ok(found)
}

fn unwrap(items: &[Value]) -> Outcome {
    let mut values = Vec::new();
    for item in items {
        match item {
            Value::Optional(value) => values.extend(value.as_deref().cloned()),
            _ => return no_overload(),
        }
    }
    Ok(Value::list(values))
}

fn all_in(on: &mut Evaluation, part: &List, whole: &List) -> Outcome {
    on.spend(part.items.len().saturating_mul(whole.items.len()) / 4)?;
    for item in &part.items {
        if !contains(&whole.items, item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn slice(items: &[Value], from: i64, to: i64) -> Outcome {
    let cannot = |why: &str| error(format!("cannot slice({from}, {to}), {why}"));
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(start), Ok(end)) if start > end => cannot("start index must be less than or equal to end index"),
        (Ok(start), Ok(end)) => match items.get(start..end) {
            Some(part) => Ok(Value::list(part.to_vec())),
            None => cannot(&format!("list is length {}", items.len())),
        },
        _ => cannot("negative indexes not supported"),
    }
}

fn sort(items: &[Value], keys: &[Value]) -> Outcome {
    /// Up to this length, Go sorts by insertion, which is stable.
    const STABLE: usize = 12;
    if items.len() != keys.len() {
        return error("@sortByAssociatedKeys() expected a list of the same size as the associated keys list");
    }
    let Some(first) = keys.first() else { return Ok(Value::list(Vec::new())) };
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return error("list elements must have the same type");
    }
    if keys.len() == 1 && compare(first, first).is_err() && !matches!(first, Value::Double(_)) {
        return error("list elements must be comparable");
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut failure = None;
    let mut has_equals = false;
    order.sort_by(|left, right| match compare(&keys[*left], &keys[*right]) {
        Ok(ordering) => {
            has_equals |= ordering == Ordering::Equal;
            ordering
        }
        Err(other) => {
            failure = Some(other);
            Ordering::Equal
        }
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    // If a list is sorted by itself, equal keys are equal items.
    if items.len() > STABLE && has_equals && !std::ptr::eq(items, keys) {
        return unknown("the order of equals in a long list");
    }
    Ok(Value::list(order.into_iter().map(|at| items[at].clone()).collect()))
}

fn sum(on: &mut Evaluation, items: &[Value], result: Option<&Type>) -> Outcome {
    let mut sum = match result {
        Some(Type::Uint) => Value::Uint(0),
        Some(Type::Double) => Value::Double(0.0),
        Some(Type::Duration) => Value::Duration(0),
        _ => Value::Int(0),
    };
    for item in items {
        sum = add(on, &sum, item)?;
    }
    Ok(sum)
}
