//! Syntax tree + variables → value, following cel-go's `interpreter`: errors are values that `&&` and `||` may absorb,
//! and unused values do not fail.

use std::collections::HashMap;
use std::rc::Rc;

use super::check::Checked;
use super::functions;
use super::library;
use super::parse::{Comprehension, Element, Expr, Kind, Literal, Tree, is_keyword};
use super::value::{Failure, List, Map, Merge, Outcome, Value, equal, error, no_overload};
use crate::pattern::{self, Regex};

/// Maximum steps of one rule, and [`TOTAL_LIMIT`] of all rules on an object: half of the cost that an API server
/// allows.
const LIMIT: u64 = 500_000;
pub const TOTAL_LIMIT: u64 = 5_000_000;

pub struct Evaluation<'a> {
    checked: &'a Checked,
    /// Variables and their values. Later entries shadow earlier ones.
    scope: Vec<(&'a str, Outcome)>,
    /// Remaining steps.
    left: u64,
    patterns: HashMap<String, Regex>,
}

/// Evaluates a tree. `variables` are `self` and, if available, `oldSelf`. `left` is the remaining budget in steps,
/// which is reduced by the steps taken.
pub fn evaluate<'a>(tree: &'a Tree, checked: &'a Checked, variables: Vec<(&'a str, Value)>, left: &mut u64) -> Outcome {
    let scope = variables.into_iter().map(|(name, value)| (name, value.sound())).collect();
    let most = LIMIT.min(*left);
    let mut evaluation = Evaluation { checked, scope, left: most, patterns: HashMap::new() };
    let outcome = evaluation.value(&tree.root);
    *left -= most - evaluation.left;
    outcome
}

impl<'a> Evaluation<'a> {
    fn value(&mut self, expr: &'a Expr) -> Outcome {
        self.spend(1)?;
        match &expr.kind {
            Kind::Literal(literal) => Ok(of_literal(literal)),
            Kind::Ident(name) => self.ident(name),
            Kind::Select { operand, field, test } => {
                let operand = self.value(operand)?;
                let key = Value::string(visible(&operand, field));
                if *test {
                    return match &operand {
                        Value::Optional(None) => Ok(Value::Bool(false)),
                        Value::Optional(Some(inner)) => Ok(Value::Bool(self.qualify(inner, &key, true)?.is_some())),
                        operand => Ok(Value::Bool(self.qualify(operand, &key, true)?.is_some())),
                    };
                }
                self.index(operand, &key, false)
            }
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List(elements) => self.list(elements),
            Kind::Map(entries) => self.map(entries),
            Kind::Message(name) => Err(Failure::Unknown(format!("a value of the type `{name}`"))),
            Kind::Comprehension(fold) => self.comprehension(fold),
        }
    }

    /// Takes steps from the budget. Public for functions that process a whole value in one call.
    pub fn spend(&mut self, steps: usize) -> Result<(), Failure> {
        match self.left.checked_sub(steps as u64) {
            Some(left) if left > 0 => {
                self.left = left;
                Ok(())
            }
            _ => {
                self.left = 0;
                Err(Failure::Unknown("rules with so many steps".to_owned()))
            }
        }
    }

    pub fn pattern(&mut self, pattern: &str) -> Result<&Regex, Failure> {
        if !self.patterns.contains_key(pattern) {
            if let Err(problem) = pattern::check(pattern) {
                return error(format!("not a regular expression of Go: {problem}"));
            }
            let Some(compiled) = pattern::compile(pattern) else {
                return Err(Failure::Unknown(format!("the pattern `{pattern}`")));
            };
            self.patterns.insert(pattern.to_owned(), compiled);
        }
        Ok(&self.patterns[pattern])
    }

    fn ident(&self, name: &str) -> Outcome {
        if let Some((_, value)) = self.scope.iter().rev().find(|(known, _)| *known == name) {
            return value.clone();
        }
        Ok(Value::Type(match name {
            "bool" => "bool",
            "bytes" => "bytes",
            "double" => "double",
            "google.protobuf.Duration" => "google.protobuf.Duration",
            "google.protobuf.Timestamp" => "google.protobuf.Timestamp",
            "int" => "int",
            "list" => "list",
            "map" => "map",
            "null_type" => "null_type",
            "string" => "string",
            "type" => "type",
            "uint" => "uint",
            _ => return Err(Failure::Unknown(format!("the name `{name}`"))),
        }))
    }

    /// A field or element. Returns an optional if the operand is one, or if `optional` is set.
    fn index(&mut self, operand: Value, key: &Value, optional: bool) -> Outcome {
        let (inner, optional) = match &operand {
            Value::Optional(None) => return Ok(Value::NONE),
            Value::Optional(Some(inner)) => (&**inner, true),
            value => (value, optional),
        };
        match self.qualify(inner, key, optional)? {
            Some(value) if optional => Ok(Value::some(value)),
            Some(value) => Ok(value),
            None => Ok(Value::NONE),
        }
    }

    /// Looks up a key. Returns `None` for a missing key if `presence` is set, and fails otherwise. Source: `refQualify`
    /// of `interpreter/attributes.go`.
    fn qualify(&mut self, of: &Value, key: &Value, presence: bool) -> Result<Option<Value>, Failure> {
        let found = match of {
            Value::Map(map) => {
                self.spend(map.entries.len() / 32)?;
                map.get(key).cloned().map(Value::sound).transpose()?
            }
            Value::List(list) => {
                let index = match key {
                    Value::Int(index) => usize::try_from(*index).ok(),
                    Value::Uint(index) => usize::try_from(*index).ok(),
                    Value::Double(index) if index.fract() == 0.0 => (*index >= 0.0).then_some(*index as usize),
                    _ => return error(format!("unsupported index {}", functions::shown(key))),
                };
                let found = index.and_then(|index| list.items.get(index)).cloned().map(Value::sound).transpose()?;
                if found.is_none() && !presence {
                    return error(format!("index out of bounds: {}", functions::shown(key)));
                }
                found
            }
            Value::Opaque(_) => return Err(Failure::Unknown("a field of no known type".to_owned())),
            _ => None,
        };
        match found {
            None if !presence => error(format!("no such key: {}", functions::shown(key))),
            found => Ok(found),
        }
    }

    fn call(&mut self, expr: &'a Expr, function: &str, target: Option<&'a Expr>, args: &'a [Expr]) -> Outcome {
        match (function, target, args) {
            ("_&&_", None, [left, right]) => return self.logical(left, right, false),
            ("_||_", None, [left, right]) => return self.logical(left, right, true),
            ("_?_:_", None, [condition, then, otherwise]) => {
                return match self.value(condition)? {
                    Value::Bool(true) => self.value(then),
                    Value::Bool(false) => self.value(otherwise),
                    _ => no_overload(),
                };
            }
            ("@not_strictly_false" | "__not_strictly_false__", None, [value]) => {
                return Ok(Value::Bool(!matches!(self.value(value), Ok(Value::Bool(false)))));
            }
            ("or" | "orValue", Some(optional), [otherwise]) => {
                return match (self.value(optional)?, function) {
                    (Value::Optional(Some(value)), "orValue") => Ok((*value).clone()),
                    (value @ Value::Optional(Some(_)), _) => Ok(value),
                    (Value::Optional(None), _) => match (self.value(otherwise)?, function) {
                        (value @ Value::Optional(_), "or") => Ok(value),
                        (_, "or") => no_overload(),
                        (value, _) => Ok(value),
                    },
                    _ => no_overload(),
                };
            }
            ("_?._" | "_[?_]" | "_[_]", None, [of, key]) => {
                let (of, key) = (self.value(of)?, self.value(key)?);
                return self.index(of, &key, function != "_[_]");
            }
            ("_==_" | "_!=_", None, [left, right]) => {
                let (left, right) = (self.value(left), self.value(right));
                let (left, right) = (left?, right?);
                self.spend(size(&left).min(size(&right)))?;
                return match (equal(&left, &right), function) {
                    (Ok(equal), "_==_") => Ok(Value::Bool(equal)),
                    (Ok(equal), _) => Ok(Value::Bool(!equal)),
                    (Err(Failure::Error(_)), "_!=_") => Ok(Value::Bool(true)),
                    (Err(failure), _) => Err(failure),
                };
            }
            _ => {}
        }
        // `format.dns1123Label()` is a function named with a dot, not a method of a field `format`.
        let qualified = target
            .and_then(Expr::qualified_name)
            .map(|prefix| format!("{prefix}.{function}"))
            .filter(|name| library::overloads(name).is_some());
        let mut values = Vec::with_capacity(args.len() + 1);
        if let (Some(target), None) = (target, &qualified) {
            values.push(self.value(target));
        }
        for arg in args {
            values.push(self.value(arg));
        }
        let values = values.into_iter().collect::<Result<Vec<_>, _>>()?;
        let result = &self.checked.overloads[expr.id].first().map(|overload| &overload.result);
        let name = qualified.as_deref().unwrap_or(function);
        functions::call(self, name, target.is_some() && qualified.is_none(), &values, *result)
    }

    /// `&&` and `||`: a side equal to `settles` decides the result, whatever the other is.
    fn logical(&mut self, left: &'a Expr, right: &'a Expr, settles: bool) -> Outcome {
        let mut failure: Option<Failure> = None;
        for side in [left, right] {
            match self.value(side) {
                Ok(Value::Bool(value)) if value == settles => return Ok(Value::Bool(settles)),
                Ok(Value::Bool(_)) => {}
                other => {
                    let other = other.and_then(|_| no_overload::<Value>()).expect_err("it is no bool");
                    let is_unknown = |failure: &Failure| matches!(failure, Failure::Unknown(_));
                    if failure.as_ref().is_none_or(|known| is_unknown(&other) && !is_unknown(known)) {
                        failure = Some(other);
                    }
                }
            }
        }
        failure.map_or(Ok(Value::Bool(!settles)), Err)
    }

    fn list(&mut self, elements: &'a [Element]) -> Outcome {
        let mut items = Vec::with_capacity(elements.len());
        for Element { optional, value } in elements {
            match (self.value(value)?, optional) {
                (Value::Optional(value), true) => items.extend(value.map(|value| (*value).clone())),
                (_, true) => return no_overload(),
                (value, false) => items.push(value),
            }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, entries: &'a [(Expr, Element)]) -> Outcome {
        let mut map = Map::default();
        for (key, Element { optional, value }) in entries {
            let key = self.value(key)?;
            match (self.value(value)?, optional) {
                (Value::Optional(None), true) => {}
                (Value::Optional(Some(value)), true) => insert(&mut map, key, (*value).clone()),
                (_, true) => return no_overload(),
                (value, false) => insert(&mut map, key, value),
            }
        }
        Ok(Value::Map(Rc::new(map)))
    }

    fn comprehension(&mut self, fold: &'a Comprehension) -> Outcome {
        let outer = self.scope.len();
        let range = self.value(&fold.range)?;
        let init = self.value(&fold.init);
        self.scope.push((&fold.accumulator, init));
        let has_second = fold.second.is_some();
        let pairs: Vec<(Value, Value)> = match &range {
            Value::List(list) if has_second => {
                list.items.iter().enumerate().map(|(at, item)| (Value::Int(at as i64), item.clone())).collect()
            }
            Value::List(list) => list.items.iter().map(|item| (item.clone(), Value::Null)).collect(),
            Value::Map(map) => map.entries.clone(),
            Value::Opaque(_) => return Err(Failure::Unknown("a field of no known type".to_owned())),
            _ => return no_overload(),
        };
        for (first, second) in pairs {
            self.scope.push((&fold.variable, first.sound()));
            if let Some(name) = &fold.second {
                self.scope.push((name, second.sound()));
            }
            if let Ok(Value::Bool(false)) = self.value(&fold.condition) {
                self.scope.truncate(outer + 1);
                break;
            }
            let step = self.value(&fold.step);
            self.scope.truncate(outer + 1);
            // Out of steps: any further evaluation fails.
            if self.left == 0 {
                self.scope.truncate(outer);
                return step;
            }
            self.scope[outer].1 = step;
        }
        let result = self.value(&fold.result);
        self.scope.truncate(outer);
        result
    }

    /// `left + right` for lists.
    pub fn joined(&mut self, left: &Rc<List>, right: &Rc<List>) -> Outcome {
        self.spend((left.items.len() + right.items.len()) / 8)?;
        let mut items = left.items.clone();
        match &left.merge {
            Merge::Atomic => items.extend(right.items.iter().cloned()),
            Merge::Set => {
                for item in &right.items {
                    if !contains(&items, item)? {
                        items.push(item.clone());
                    }
                }
                return Ok(Value::List(Rc::new(List { items, merge: Merge::Set })));
            }
            Merge::Map(keys) => {
                for item in &right.items {
                    let mut same = None;
                    for (at, own) in items.iter().enumerate() {
                        if same_keys(own, item, keys)? {
                            same = Some(at);
                        }
                    }
                    match same {
                        Some(at) => items[at] = item.clone(),
                        None => items.push(item.clone()),
                    }
                }
                return Ok(Value::List(Rc::new(List { items, merge: Merge::Map(keys.clone()) })));
            }
        }
        Ok(Value::list(items))
    }
}

/// Cost of traversing a value: 1 for each element, and 1 for every ten bytes of text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 10,
        Value::Bytes(bytes) => bytes.len() / 10,
        Value::List(list) => list.items.iter().map(|item| 1 + size(item)).sum(),
        Value::Map(map) => map.entries.iter().map(|(_, value)| 1 + size(value)).sum(),
        _ => 0,
    }
}

/// The name of a field after a dot, where a reserved word needs no underscores.
fn visible(operand: &Value, field: &str) -> String {
    let map = match operand {
        Value::Map(map) => Some(map),
        Value::Optional(Some(inner)) => match &**inner {
            Value::Map(map) => Some(map),
            _ => None,
        },
        _ => None,
    };
    let escaped = format!("__{field}__");
    let is_escaped = is_keyword(field)
        && map
            .is_some_and(|map| map.get(&Value::string(field)).is_none() && map.get(&Value::string(&escaped)).is_some());
    if is_escaped { escaped } else { field.to_owned() }
}

fn same_keys(left: &Value, right: &Value, keys: &[String]) -> Result<bool, Failure> {
    let (Value::Map(left), Value::Map(right)) = (left, right) else { return no_overload() };
    for key in keys {
        let key = Value::string(key);
        let same = match (left.get(&key), right.get(&key)) {
            (Some(left), Some(right)) => equal(left, right)?,
            (left, right) => left.is_none() && right.is_none(),
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

pub fn contains(items: &[Value], value: &Value) -> Result<bool, Failure> {
    let mut failure = None;
    for item in items {
        match equal(item, value) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(other) => failure = Some(other),
        }
    }
    failure.map_or(Ok(false), Err)
}

/// Inserts an entry, replacing one with an equal key.
pub fn insert(map: &mut Map, key: Value, value: Value) {
    match map.entries.iter_mut().find(|(known, _)| matches!(equal(known, &key), Ok(true))) {
        Some(entry) => entry.1 = value,
        None => map.entries.push((key, value)),
    }
}

fn of_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::string(text),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        Literal::Null => Value::Null,
    }
}
