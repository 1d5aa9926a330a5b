//! Arithmetic, comparison, membership. Operators with lazy operands are in `evaluate`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::evaluate::{Evaluation, contains, insert};
use super::super::value::{Failure, Map, Outcome, Timestamp, Value, compare, error, no_overload};

pub fn call(on: &mut Evaluation, name: &str, args: &[Value]) -> Option<Outcome> {
    Some(match (name, args) {
        ("!_", [Value::Bool(value)]) => Ok(Value::Bool(!value)),
        ("-_", [Value::Int(number)]) => int(number.checked_neg()),
        ("-_", [Value::Double(number)]) => Ok(Value::Double(-number)),
        ("_+_", [left, right]) => add(on, left, right),
        ("_-_", [left, right]) => subtract(left, right),
        ("_*_", [left, right]) => match (left, right) {
            (Value::Int(left), Value::Int(right)) => int(left.checked_mul(*right)),
            (Value::Uint(left), Value::Uint(right)) => uint(left.checked_mul(*right)),
            (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left * right)),
            _ => no_overload(),
        },
        ("_/_", [left, right]) => match (left, right) {
            (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => error("division by zero"),
            (Value::Int(left), Value::Int(right)) => int(left.checked_div(*right)),
            (Value::Uint(left), Value::Uint(right)) => uint(left.checked_div(*right)),
            (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left / right)),
            _ => no_overload(),
        },
        ("_%_", [left, right]) => match (left, right) {
            (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => error("modulus by zero"),
            (Value::Int(left), Value::Int(right)) => int(left.checked_rem(*right)),
            (Value::Uint(left), Value::Uint(right)) => uint(left.checked_rem(*right)),
            _ => no_overload(),
        },
        ("_<_", [left, right]) => ordered(left, right, Ordering::is_lt),
        ("_<=_", [left, right]) => ordered(left, right, Ordering::is_le),
        ("_>_", [left, right]) => ordered(left, right, Ordering::is_gt),
        ("_>=_", [left, right]) => ordered(left, right, Ordering::is_ge),
        ("@in" | "_in_" | "in", [value, Value::List(list)]) => {
            if let Err(failure) = on.spend(list.items.len() / 4) {
                return Some(Err(failure));
            }
            contains(&list.items, value).map(Value::Bool)
        }
        ("@in" | "_in_" | "in", [key, Value::Map(map)]) => Ok(Value::Bool(map.get(key).is_some())),
        ("cel.@mapInsert", [Value::Map(map), key, value]) => inserted(on, map, &[(key.clone(), value.clone())]),
        ("cel.@mapInsert", [Value::Map(map), Value::Map(more)]) => inserted(on, map, &more.entries),
        _ => return None,
    })
}

fn inserted(on: &mut Evaluation, map: &Rc<Map>, more: &[(Value, Value)]) -> Outcome {
    on.spend((map.entries.len() + more.len()) / 8)?;
    let mut all = Map { entries: map.entries.clone(), ..Map::default() };
    for (key, value) in more {
        if all.get(key).is_some() {
            return error(format!("insert failed: key {} already exists", super::shown(key)));
        }
        insert(&mut all, key.clone(), value.clone());
    }
    Ok(Value::Map(Rc::new(all)))
}

fn ordered(left: &Value, right: &Value, is: fn(Ordering) -> bool) -> Outcome {
    compare(left, right).map(|ordering| Value::Bool(is(ordering)))
}

pub fn add(on: &mut Evaluation, left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_add(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_add(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::String(left), Value::String(right)) => {
            on.spend((left.len() + right.len()) / 10)?;
            Ok(Value::string(format!("{left}{right}")))
        }
        (Value::Bytes(left), Value::Bytes(right)) => Ok(Value::Bytes([&**left, &**right].concat().into())),
        (Value::List(left), Value::List(right)) => on.joined(left, right),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_add(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            moved(*time, i128::from(*nanos))
        }
        _ => no_overload(),
    }
}

fn subtract(left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_sub(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_sub(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left - right)),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_sub(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) => moved(*time, -i128::from(*nanos)),
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            duration(i64::try_from(left.nanoseconds() - right.nanoseconds()).ok())
        }
        _ => no_overload(),
    }
}

fn moved(time: Timestamp, by: i128) -> Outcome {
    const SECOND: i128 = 1_000_000_000;
    let nanos = time.nanoseconds() + by;
    let of_second = u32::try_from(nanos.rem_euclid(SECOND)).expect("less than a second");
    let seconds =
        i64::try_from(nanos.div_euclid(SECOND)).map_err(|_| Failure::Error("timestamp overflow".to_owned()))?;
    Timestamp::new(seconds, of_second, time.offset).map(Value::Timestamp)
}

fn int(number: Option<i64>) -> Outcome {
    number.map_or_else(|| error("integer overflow"), |number| Ok(Value::Int(number)))
}

fn uint(number: Option<u64>) -> Outcome {
    number.map_or_else(|| error("unsigned integer overflow"), |number| Ok(Value::Uint(number)))
}

fn duration(nanos: Option<i64>) -> Outcome {
    nanos.map_or_else(|| error("duration overflow"), |nanos| Ok(Value::Duration(nanos)))
}
