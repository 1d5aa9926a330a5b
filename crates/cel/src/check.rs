//! Type-checks a syntax tree against declared types: returns the type of every node, or the first error.
//!
//! Follows cel-go's `checker/checker.go` and `checker/types.go` step by step: type inference there has corners (what a
//! variable of a comprehension unifies with, when `dyn` swallows an error) that decide whether a rule is refused.

use std::collections::HashMap;
use std::sync::Arc;

use super::library::{self, Overload};
use super::parse::{Comprehension, Element, Expr, Kind, Literal, Problem, Tree};
use super::types::{Declaration, Shape, Type};
use crate::nearest::nearest;

#[derive(Debug)]
pub struct Checked {
    /// Types, indexed by node id.
    pub types: Vec<Type>,
    /// Candidate overloads of a call, indexed by node id. Several if arguments are `dyn`.
    pub overloads: Vec<Vec<&'static Overload>>,
    pub uses_old_self: bool,
}

/// With `optional_old`, `oldSelf` is an optional, as a rule's `optionalOldSelf: true` declares it.
pub fn check(tree: &Tree, declared: &Arc<Declaration>, optional_old: bool) -> Result<Checked, Problem> {
    let self_ = declared.type_of();
    let old_self = if optional_old { Type::Optional(Arc::new(self_.clone())) } else { self_.clone() };
    let mut checker = Checker {
        declared,
        scope: vec![("self".to_owned(), self_), ("oldSelf".to_owned(), old_self)],
        types: vec![Type::Dyn; tree.nodes],
        overloads: vec![Vec::new(); tree.nodes],
        found: Substitutions::default(),
        variables: 1 << 16,
        uses_old_self: false,
    };
    checker.check(&tree.root)?;
    let Checker { types, overloads, found, uses_old_self, .. } = checker;
    let types = types.into_iter().map(|type_| found.apply(&type_, true)).collect();
    Ok(Checked { types, overloads, uses_old_self })
}

struct Checker<'a> {
    declared: &'a Arc<Declaration>,
    /// Variables and their types. Later entries shadow earlier ones.
    scope: Vec<(String, Type)>,
    types: Vec<Type>,
    overloads: Vec<Vec<&'static Overload>>,
    found: Substitutions,
    /// Number of the next type variable. Starts above all letters, which number the type parameters of signatures.
    variables: u32,
    uses_old_self: bool,
}

impl Checker<'_> {
    fn check(&mut self, expr: &Expr) -> Result<Type, Problem> {
        let type_ = match &expr.kind {
            Kind::Literal(literal) => type_of(literal),
            Kind::Ident(name) => self.ident(expr, name)?,
            Kind::Select { operand, field, test } => {
                let type_ = self.select(expr, operand, field, false)?;
                if *test { Type::Bool } else { self.found.apply(&type_, false) }
            }
            Kind::Call { function, target: None, args } if function == "_?._" => {
                let Kind::Literal(Literal::String(field)) = &args[1].kind else { return Err(Problem::Unknown) };
                let type_ = self.select(expr, &args[0], field, true)?;
                self.types[args[1].id] = Type::String;
                self.overloads[expr.id] = library::overloads(function).into_iter().flatten().collect();
                self.found.apply(&type_, false)
            }
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args)?,
            Kind::List(elements) => self.list(elements)?,
            Kind::Map(entries) => self.map(entries)?,
            // Message types of protobuf and of the libraries, which this crate does not implement.
            Kind::Message(name) if name.contains('.') => return Err(Problem::Unknown),
            Kind::Message(name) => {
                return Err(Problem::at(expr.range.clone(), format!("no type `{name}` of which to make a value")));
            }
            Kind::Comprehension(fold) => self.comprehension(fold)?,
        };
        self.types[expr.id] = type_.clone();
        Ok(type_)
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> Result<Type, Problem> {
        self.uses_old_self |= name == "oldSelf";
        if let Some((_, type_)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(type_.clone());
        }
        let any = Arc::new(Type::Dyn);
        let named = match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "google.protobuf.Duration" => Type::Duration,
            "google.protobuf.Timestamp" => Type::Timestamp,
            "int" => Type::Int,
            "list" => Type::List(any),
            "map" => Type::Map(any.clone(), any),
            "null_type" => Type::Null,
            "string" => Type::String,
            "type" => Type::Meta(any),
            "uint" => Type::Uint,
            "duration" | "timestamp" => {
                let (first, rest) = name.split_at(1);
                let full = format!("google.protobuf.{}{rest}", first.to_ascii_uppercase());
                return Err(Problem::at(expr.range.clone(), format!("no name `{name}`; the type is `{full}`")));
            }
            // `google` starts the names of protobuf types, which CEL knows as well.
            "google" => return Err(Problem::Unknown),
            _ => {
                let message = if self.declared.field(name).is_some() {
                    format!("no name `{name}`; the field is `self.{name}`")
                } else {
                    format!("no name `{name}`{}", suggestion(name, self.scope.iter().map(|(known, _)| known.as_str())))
                };
                return Err(Problem::at(expr.range.clone(), message));
            }
        };
        Ok(Type::Meta(Arc::new(named)))
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, optional: bool) -> Result<Type, Problem> {
        let type_ = self.check(operand)?;
        let type_ = self.found.apply(&type_, false);
        let (type_, is_optional) = match type_ {
            Type::Optional(value) => ((*value).clone(), true),
            type_ => (type_, false),
        };
        let result = match &type_ {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(object) => match object.0.field(field) {
                Some(declared) => declared.type_of(),
                None => return Err(Problem::at(expr.range.clone(), no_field(&object.0, field))),
            },
            Type::Variable(_) => {
                self.assignable(&[(Type::Dyn, type_.clone())]);
                Type::Dyn
            }
            Type::Dyn => Type::Dyn,
            _ => {
                return Err(Problem::at(expr.range.clone(), format!("{type_} has no fields, so no `{field}` either")));
            }
        };
        Ok(if is_optional || optional { Type::Optional(Arc::new(result)) } else { result })
    }

    fn call(&mut self, expr: &Expr, name: &str, target: Option<&Expr>, args: &[Expr]) -> Result<Type, Problem> {
        let mut types = args.iter().map(|arg| self.check(arg)).collect::<Result<Vec<_>, _>>()?;
        let Some(target) = target else {
            let overloads = library::overloads(name).ok_or_else(|| no_function(expr, name))?;
            return self.resolve(expr, name, overloads, false, &types);
        };
        if let Some(qualified) = target.qualified_name().map(|prefix| format!("{prefix}.{name}"))
            && let Some(overloads) = library::overloads(&qualified)
        {
            return self.resolve(expr, &qualified, overloads, false, &types);
        }
        types.insert(0, self.check(target)?);
        let overloads = library::overloads(name).ok_or_else(|| no_function(expr, name))?;
        self.resolve(expr, name, overloads, true, &types)
    }

    fn resolve(
        &mut self,
        expr: &Expr,
        name: &str,
        overloads: &'static [Overload],
        member: bool,
        args: &[Type],
    ) -> Result<Type, Problem> {
        let mut result: Option<Type> = None;
        for overload in
            overloads.iter().filter(|overload| overload.member == member && overload.args.len() == args.len())
        {
            let mut fresh = Substitutions::default();
            let mut instantiate = |type_: &Type| fresh.rename(type_, &mut self.variables);
            let wanted: Vec<Type> = overload.args.iter().map(&mut instantiate).collect();
            let of_overload = instantiate(&overload.result);
            if !self.assignable(&args.iter().cloned().zip(wanted).collect::<Vec<_>>()) {
                continue;
            }
            self.overloads[expr.id].push(overload);
            let of_overload = self.found.apply(&of_overload, false);
            result = Some(match result {
                None => of_overload,
                Some(Type::Dyn) => Type::Dyn,
                Some(first) if first == of_overload => first,
                Some(_) => Type::Dyn,
            });
        }
        result.ok_or_else(|| {
            let args = args.iter().map(|arg| self.found.apply(arg, true).to_string()).collect();
            Problem::at(expr.range.clone(), no_overload(name, member, args, overloads))
        })
    }

    fn list(&mut self, elements: &[Element]) -> Result<Type, Problem> {
        let mut joined = None;
        for Element { optional, value } in elements {
            let type_ = self.element(*optional, value)?;
            joined = Some(self.join(joined, type_));
        }
        Ok(Type::List(Arc::new(joined.unwrap_or_else(|| self.variable()))))
    }

    fn map(&mut self, entries: &[(Expr, Element)]) -> Result<Type, Problem> {
        let (mut keys, mut values) = (None, None);
        for (key, Element { optional, value }) in entries {
            let type_ = self.check(key)?;
            keys = Some(self.join(keys, type_));
            let type_ = self.element(*optional, value)?;
            values = Some(self.join(values, type_));
        }
        let (key, value) = match (keys, values) {
            (Some(key), Some(value)) => (key, value),
            _ => (self.variable(), self.variable()),
        };
        Ok(Type::Map(Arc::new(key), Arc::new(value)))
    }

    fn element(&mut self, optional: bool, value: &Expr) -> Result<Type, Problem> {
        match self.check(value)? {
            Type::Optional(inner) if optional => Ok((*inner).clone()),
            Type::Dyn => Ok(Type::Dyn),
            type_ if optional => {
                Err(Problem::at(value.range.clone(), format!("after `?` comes an optional, and this is {type_}")))
            }
            type_ => Ok(type_),
        }
    }

    fn join(&mut self, previous: Option<Type>, type_: Type) -> Type {
        match previous {
            None => type_,
            Some(previous) if self.assignable(&[(previous.clone(), type_.clone())]) => most_general(previous, type_),
            Some(_) => Type::Dyn,
        }
    }

    fn comprehension(&mut self, fold: &Comprehension) -> Result<Type, Problem> {
        let range = self.check(&fold.range)?;
        let accumulated = self.check(&fold.init)?;
        let range = self.found.apply(&range, false);
        self.scope.push((fold.accumulator.clone(), accumulated.clone()));
        let (first, second) = match &range {
            Type::List(element) if fold.second.is_some() => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Variable(_) => {
                self.assignable(&[(Type::Dyn, range.clone())]);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = format!("{range} has no elements to go through");
                return Err(Problem::at(fold.range.range.clone(), message));
            }
        };
        self.scope.push((fold.variable.clone(), first));
        let variables = 1 + usize::from(fold.second.is_some());
        self.scope.extend(fold.second.clone().map(|name| (name, second)));
        for (part, wanted) in [(&fold.condition, Type::Bool), (&fold.step, accumulated)] {
            let type_ = self.check(part)?;
            if !self.assignable(&[(wanted.clone(), type_.clone())]) {
                let (wanted, type_) = (self.found.apply(&wanted, true), self.found.apply(&type_, true));
                return Err(Problem::at(part.range.clone(), format!("this gives {type_} where {wanted} is wanted")));
            }
        }
        self.scope.truncate(self.scope.len() - variables);
        let result = self.check(&fold.result)?;
        self.scope.pop();
        Ok(self.found.apply(&result, false))
    }

    fn variable(&mut self) -> Type {
        self.variables += 1;
        Type::Variable(self.variables)
    }

    /// `true` if each first type is assignable to its second; the resulting bindings of type variables are then kept.
    fn assignable(&mut self, pairs: &[(Type, Type)]) -> bool {
        let mut found = self.found.clone();
        let fits = pairs.iter().all(|(from, to)| found.assignable(from, to));
        if fits {
            self.found = found;
        }
        fits
    }
}

fn type_of(literal: &Literal) -> Type {
    match literal {
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
        Literal::Null => Type::Null,
    }
}

/// Bindings of type variables.
#[derive(Clone, Debug, Default)]
struct Substitutions(HashMap<u32, Type>);

impl Substitutions {
    fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Variable(to) = to {
            match self.bind_variable(from, *to) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Variable(from) = from {
            return self.bind_variable(to, *from).0;
        }
        match (from, to) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Null, other) | (other, Type::Null) => matches!(
                other,
                Type::Null | Type::Object(_) | Type::Library(_) | Type::Optional(_) | Type::Duration | Type::Timestamp
            ),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(from), Type::List(to)) | (Type::Optional(from), Type::Optional(to)) => {
                self.assignable(from, to)
            }
            (Type::Map(from_key, from), Type::Map(to_key, to)) => {
                self.assignable(from_key, to_key) && self.assignable(from, to)
            }
            _ => from == to,
        }
    }

    /// Binds the variable to the type. Returns whether they are compatible, and whether the variable was bound before.
    fn bind_variable(&mut self, type_: &Type, variable: u32) -> (bool, bool) {
        if *type_ == Type::Variable(variable) {
            return (true, true);
        }
        if let Some(known) = self.0.get(&variable).cloned() {
            if *type_ == known {
                return (true, true);
            }
            if !self.assignable(type_, &known) {
                return (false, true);
            }
            let general = most_general(type_.clone(), known);
            if !self.occurs(variable, &general) {
                self.0.insert(variable, general);
            }
            return (true, true);
        }
        let fits = !self.occurs(variable, type_);
        if fits {
            self.0.insert(variable, type_.clone());
        }
        (fits, false)
    }

    fn occurs(&self, variable: u32, within: &Type) -> bool {
        match within {
            Type::Variable(other) if *other == variable => true,
            Type::Variable(other) => self.0.get(other).is_some_and(|known| self.occurs(variable, known)),
            Type::List(inner) | Type::Optional(inner) | Type::Meta(inner) => self.occurs(variable, inner),
            Type::Map(key, value) => self.occurs(variable, key) || self.occurs(variable, value),
            _ => false,
        }
    }

    /// Replaces bound variables. With `unknown_is_dyn`, unbound ones become `dyn`.
    fn apply(&self, type_: &Type, unknown_is_dyn: bool) -> Type {
        let inner = |type_: &Arc<Type>| Arc::new(self.apply(type_, unknown_is_dyn));
        match type_ {
            Type::Variable(variable) => match self.0.get(variable) {
                Some(known) => self.apply(known, unknown_is_dyn),
                None if unknown_is_dyn => Type::Dyn,
                None => type_.clone(),
            },
            Type::List(element) => Type::List(inner(element)),
            Type::Map(key, value) => Type::Map(inner(key), inner(value)),
            Type::Optional(value) => Type::Optional(inner(value)),
            Type::Meta(of) => Type::Meta(inner(of)),
            _ => type_.clone(),
        }
    }

    /// The type with its type parameters replaced by fresh variables.
    fn rename(&mut self, type_: &Type, next: &mut u32) -> Type {
        let mut variables = vec![type_];
        while let Some(type_) = variables.pop() {
            match type_ {
                Type::Variable(variable) => {
                    self.0.entry(*variable).or_insert_with(|| {
                        *next += 1;
                        Type::Variable(*next)
                    });
                }
                Type::List(inner) | Type::Optional(inner) | Type::Meta(inner) => variables.push(inner),
                Type::Map(key, value) => variables.extend([&**key, &**value]),
                _ => {}
            }
        }
        self.apply(type_, false)
    }
}

fn most_general(first: Type, second: Type) -> Type {
    if is_less_specific(&first, &second) { first } else { second }
}

fn is_less_specific(first: &Type, second: &Type) -> bool {
    match (first, second) {
        (Type::Dyn | Type::Variable(_), _) => true,
        (_, Type::Dyn | Type::Variable(_)) => false,
        (Type::List(first), Type::List(second)) | (Type::Optional(first), Type::Optional(second)) => {
            is_less_specific(first, second)
        }
        (Type::Map(first_key, first), Type::Map(second_key, second)) => {
            is_less_specific(first_key, second_key) && is_less_specific(first, second)
        }
        (Type::Meta(_), Type::Meta(_)) => true,
        _ => first == second,
    }
}

fn no_field(object: &Declaration, field: &str) -> String {
    let Shape::Object(fields) = &object.shape else { return format!("no field `{field}`") };
    let hint = match super::types::escape(field) {
        Some(escaped) if fields.contains_key(&escaped) => format!("; CEL writes it `{escaped}`"),
        _ => suggestion(field, fields.keys().map(String::as_str)),
    };
    format!("no field `{field}`{hint}")
}

fn no_function(expr: &Expr, name: &str) -> Problem {
    Problem::at(expr.range.clone(), format!("no function `{name}`{}", suggestion(name, library::names())))
}

/// `; did you mean …?`, or an empty string if no known name is close.
fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn no_overload(name: &str, member: bool, mut args: Vec<String>, overloads: &[Overload]) -> String {
    let sign = name.trim_matches(['_', '@']);
    if name != sign && !name.starts_with("__") {
        return match (name, args.as_slice()) {
            ("_?_:_", [_, then, otherwise]) => {
                format!("`… ? … : …` wants a bool, and two values of one type, not {then} and {otherwise}")
            }
            ("_[_]" | "_[?_]", [of, index]) => format!("{of} has nothing at {index}"),
            (_, [only]) => format!("no `{sign}` for {only}"),
            (_, [left, right]) => format!("no `{sign}` between {left} and {right}"),
            _ => format!("no `{sign}` for these types"),
        };
    }
    if member {
        let receiver = args.remove(0);
        let takes = overloads.iter().filter(|overload| overload.member && overload.args[0].to_string() == receiver);
        let signatures: Vec<String> = takes.map(|overload| list(&overload.args[1..])).collect();
        return match signatures.as_slice() {
            [] => format!("{receiver} has no `{name}({})`", args.join(", ")),
            _ => format!("`{name}` of {receiver} takes {}, not ({})", signatures.join(" or "), args.join(", ")),
        };
    }
    let signatures: Vec<String> =
        overloads.iter().filter(|overload| !overload.member).map(|overload| list(&overload.args)).collect();
    format!("`{name}` takes {}, not ({})", signatures.join(" or "), args.join(", "))
}

fn list(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}
