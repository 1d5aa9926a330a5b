//! Methods of std's numbers, durations, booleans and orderings.

use std::cmp::Ordering;
use std::time::Duration;

use syn::Expr;

use super::Evaluator;
use super::context::{Derived, Scope};
use super::numbers::{ANY, in_range, integer_type, range_of, truncated};
use super::values::{Hint, Value};

pub fn of_integer(
    evaluator: &mut Evaluator<'_, '_>,
    number: i128,
    ty: &'static str,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
    hint: &Hint,
) -> Derived<Option<Value>> {
    if ty == ANY || matches!(ty, "i128" | "u128") {
        return Ok(None);
    }
    let right = match arguments {
        [right] => {
            let right_type = if method.ends_with("pow") { "u32" } else { ty };
            Some(evaluator.integer(right, scope, right_type)?)
        }
        _ => None,
    };
    let range = range_of(ty).unwrap_or(0..=0);
    let width = if ty.ends_with("size") { 64 } else { ty[1..].parse().unwrap_or(64) };
    let of_u32 = |number: u32| Value::Integer(number.into(), "u32");
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
        ("unsigned_abs", []) if ty.starts_with('i') => unsigned(ty).map(|to| Value::Integer(number.abs(), to)),
        ("signum", []) if ty.starts_with('i') => Some(Value::Integer(number.signum(), ty)),
        ("is_positive", []) => Some(Value::Bool(number > 0)),
        ("is_negative", []) => Some(Value::Bool(number < 0)),
        ("is_power_of_two", []) if ty.starts_with('u') => Some(Value::Bool(number.count_ones() == 1)),
        ("next_power_of_two", []) if ty.starts_with('u') => {
            let power = u64::try_from(number).ok().and_then(u64::checked_next_power_of_two);
            power.and_then(|power| in_range(power.into(), ty))
        }
        ("count_ones", []) => bits(number, ty).map(|bits| of_u32(bits.count_ones())),
        ("count_zeros", []) => bits(number, ty).map(|bits| of_u32(width - bits.count_ones())),
        ("leading_zeros", []) => bits(number, ty).map(|bits| of_u32(bits.leading_zeros() - (64 - width))),
        ("trailing_zeros", []) => bits(number, ty).map(|bits| of_u32(bits.trailing_zeros().min(width))),
        ("ilog2", []) if number > 0 => Some(of_u32(number.ilog2())),
        ("ilog10", []) if number > 0 => Some(of_u32(number.ilog10())),
        ("isqrt", []) if number >= 0 => Some(Value::Integer(number.isqrt(), ty)),
        (
            "is_ascii_digit"
            | "is_ascii_alphabetic"
            | "is_ascii_alphanumeric"
            | "is_ascii_uppercase"
            | "is_ascii_lowercase"
            | "is_ascii_whitespace"
            | "is_ascii_punctuation",
            [],
        ) if ty == "u8" => {
            u8::try_from(number).ok().and_then(|byte| super::texts::of_char(byte.into(), method, arguments))
        }
        ("to_ascii_uppercase" | "to_ascii_lowercase", []) if ty == "u8" => u8::try_from(number).ok().map(|byte| {
            let byte =
                if method == "to_ascii_uppercase" { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
            Value::Integer(byte.into(), ty)
        }),
        ("next_multiple_of", [_]) if ty.starts_with('u') => {
            right.filter(|right| *right > 0).and_then(|right| in_range((number + right - 1) / right * right, ty))
        }
        ("try_into", []) => {
            let to = evaluator.cx.element(hint, 0)?;
            evaluator
                .cx
                .number_of(&to)?
                .and_then(integer_type)
                .and_then(|to| (!to.ends_with("128")).then(|| Value::Result(in_range(number, to).map(Box::new))))
        }
        ("rem_euclid", [_]) => {
            right.filter(|right| *right != 0 && *right != -1).map(|right| Value::Integer(number.rem_euclid(right), ty))
        }
        ("div_euclid", [_]) => {
            right.filter(|right| *right != 0).and_then(|right| in_range(number.div_euclid(right), ty))
        }
        ("div_ceil", [_]) if ty.starts_with('u') => {
            right.filter(|right| *right != 0).map(|right| Value::Integer((number + right - 1) / right, ty))
        }
        ("abs_diff", [_]) => {
            right.zip(unsigned(ty)).map(|(right, unsigned)| Value::Integer((number - right).abs(), unsigned))
        }
        ("clamp", [low, high]) => {
            let (low, high) = (evaluator.integer(low, scope, ty)?, evaluator.integer(high, scope, ty)?);
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
            Some(("overflowing", op @ ("add" | "sub" | "mul"))) => exact(op).and_then(|result| {
                let fits = range.contains(&result);
                Some(Value::List("tuple", vec![truncated(result, ty)?, Value::Bool(!fits)]))
            }),
            _ => None,
        },
        _ => None,
    })
}

/// Only operations whose result is exact, and so the same on every machine.
pub fn of_float(
    evaluator: &mut Evaluator<'_, '_>,
    number: Value,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    let hint = Hint::like(&number);
    let others = arguments.iter().map(|other| evaluator.evaluate(other, scope, &hint)).collect::<Derived<Vec<_>>>()?;
    macro_rules! method {
        ($number:expr, $others:expr, $wrap:path) => {
            match (method, $others) {
                ("abs", []) => Some($wrap($number.abs())),
                ("ceil", []) => Some($wrap($number.ceil())),
                ("floor", []) => Some($wrap($number.floor())),
                ("fract", []) => Some($wrap($number.fract())),
                ("round", []) => Some($wrap($number.round())),
                ("sqrt", []) => Some($wrap($number.sqrt())),
                ("trunc", []) => Some($wrap($number.trunc())),
                ("is_nan", []) => Some(Value::Bool($number.is_nan())),
                ("is_finite", []) => Some(Value::Bool($number.is_finite())),
                ("is_infinite", []) => Some(Value::Bool($number.is_infinite())),
                // For zeros of both signs, either may be returned.
                ("max", [other]) if $number != *other || *other != 0.0 => Some($wrap($number.max(*other))),
                ("min", [other]) if $number != *other || *other != 0.0 => Some($wrap($number.min(*other))),
                ("clamp", [low, high]) if low < high => Some($wrap($number.clamp(*low, *high))),
                ("total_cmp", [other]) => Some(Value::Ordering($number.total_cmp(other))),
                _ => None,
            }
        };
    }
    Ok(match number {
        Value::Single(number) => {
            let others =
                others.into_iter().map(|other| if let Value::Single(other) = other { Some(other) } else { None });
            others.collect::<Option<Vec<_>>>().and_then(|others| method!(number, &others[..], Value::Single))
        }
        Value::Double(number) => {
            let others =
                others.into_iter().map(|other| if let Value::Double(other) = other { Some(other) } else { None });
            others.collect::<Option<Vec<_>>>().and_then(|others| method!(number, &others[..], Value::Double))
        }
        _ => None,
    })
}

pub fn of_duration(
    evaluator: &mut Evaluator<'_, '_>,
    time: Duration,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    let integer = |number: u128, ty: &'static str| i128::try_from(number).ok().and_then(|number| in_range(number, ty));
    Ok(match (method, arguments) {
        ("as_secs", []) => integer(time.as_secs().into(), "u64"),
        ("as_millis", []) => integer(time.as_millis(), "u128"),
        ("as_micros", []) => integer(time.as_micros(), "u128"),
        ("as_nanos", []) => integer(time.as_nanos(), "u128"),
        ("subsec_millis", []) => integer(time.subsec_millis().into(), "u32"),
        ("subsec_micros", []) => integer(time.subsec_micros().into(), "u32"),
        ("subsec_nanos", []) => integer(time.subsec_nanos().into(), "u32"),
        ("is_zero", []) => Some(Value::Bool(time.is_zero())),
        ("saturating_add" | "saturating_sub" | "checked_add" | "checked_sub", [other]) => {
            let Value::Duration(other) = evaluator.evaluate(other, scope, &Hint::Unknown)? else { return Ok(None) };
            let option = |time: Option<Duration>| Value::Option(time.map(|time| Box::new(Value::Duration(time))));
            Some(match method {
                "saturating_add" => Value::Duration(time.saturating_add(other)),
                "saturating_sub" => Value::Duration(time.saturating_sub(other)),
                "checked_add" => option(time.checked_add(other)),
                _ => option(time.checked_sub(other)),
            })
        }
        _ => None,
    })
}

pub fn of_ordering(
    evaluator: &mut Evaluator<'_, '_>,
    order: Ordering,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    Ok(match (method, arguments) {
        ("is_eq", []) => Some(Value::Bool(order.is_eq())),
        ("is_ne", []) => Some(Value::Bool(order.is_ne())),
        ("is_lt", []) => Some(Value::Bool(order.is_lt())),
        ("is_le", []) => Some(Value::Bool(order.is_le())),
        ("is_gt", []) => Some(Value::Bool(order.is_gt())),
        ("is_ge", []) => Some(Value::Bool(order.is_ge())),
        ("reverse", []) => Some(Value::Ordering(order.reverse())),
        ("then" | "then_with", [other]) => {
            let other = match method {
                "then" => evaluator.evaluate(other, scope, &Hint::Unknown)?,
                _ if order.is_ne() => Value::Ordering(order),
                _ => evaluator.called(other, Vec::new(), scope, &Hint::Unknown)?,
            };
            match other {
                Value::Ordering(other) => Some(Value::Ordering(order.then(other))),
                _ => None,
            }
        }
        _ => None,
    })
}

pub fn of_bool(
    evaluator: &mut Evaluator<'_, '_>,
    holds: bool,
    method: &str,
    arguments: &[&Expr],
    scope: &Scope,
    hint: &Hint,
) -> Derived<Option<Value>> {
    let inner = evaluator.cx.element(hint, 0)?;
    Ok(match (method, arguments) {
        ("then", [_]) if !holds => Some(Value::Option(None)),
        ("then", [value]) => Some(Value::Option(Some(Box::new(evaluator.called(value, Vec::new(), scope, &inner)?)))),
        ("then_some", [value]) => {
            let value = evaluator.evaluate(value, scope, &inner)?;
            Some(Value::Option(holds.then(|| Box::new(value))))
        }
        _ => None,
    })
}

/// The unsigned type of the same width.
fn unsigned(ty: &'static str) -> Option<&'static str> {
    if ty.starts_with('i') { integer_type(&ty.replacen('i', "u", 1)) } else { Some(ty) }
}

/// The bits of an integer, zero-extended to 64.
fn bits(number: i128, ty: &'static str) -> Option<u64> {
    match truncated(number, unsigned(ty)?)? {
        Value::Integer(bits, _) => u64::try_from(bits).ok(),
        _ => None,
    }
}

fn option(value: Option<Value>) -> Value {
    Value::Option(value.map(Box::new))
}
