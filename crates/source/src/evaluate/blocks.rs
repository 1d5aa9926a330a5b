//! Statements → what a block does to its locals, and how it is left.
//!
//! Names belong to their block; values are in a stack ([`Scope::store`]), so that an inner block can change those of an outer
//! one. An expression is evaluated with a copy of the scope and may change nothing below [`Scope::frozen`]; only what stands
//! as a statement, as the last expression of a block, behind `let … =`, or in a condition, is *run*, with its changes.

use std::cell::Cell;
use std::rc::Rc;

use quote::ToTokens;
use serde_json::Value as Json;
use syn::{BinOp, Block, Expr, ExprMacro, ExprMethodCall, Item, Label, Pat, Stmt, Type};

use super::items::Function;
use super::numbers::{arithmetic, without_parens};
use super::values::{Hint, Local, Value, has_attributes, size_of};
use crate::derive::types::{Derived, Deriver, Scope};
use crate::resolve::modules::name;

/// How an expression ends.
pub enum Flow {
    Value(Value),
    Return(Value),
    Break(Option<String>, Value),
    Continue(Option<String>),
}

/// What is expected of a value that leaves a function, or a loop.
#[derive(Clone, Copy)]
pub struct Exits<'a> {
    returned: &'a Hint,
    broken: &'a Hint,
}

impl Exits<'static> {
    const NONE: Self = Self { returned: &Hint::Unknown, broken: &Hint::Unknown };
}

/// The value of a flow; any other way out is handed on.
macro_rules! value_of {
    ($flow:expr) => {
        match $flow {
            Flow::Value(value) => value,
            left => return Ok(left),
        }
    };
}

/// Where a value of a local is, or a part of it.
struct Place {
    slot: usize,
    parts: Vec<Part>,
    hint: Hint,
}

#[derive(Clone)]
enum Part {
    Field(String),
    Index(usize),
    /// The value of a map, by its place among the keys.
    Entry(usize),
}

impl Deriver<'_> {
    /// The value of a function's body.
    pub fn body(&mut self, block: &Block, scope: &Scope, hint: &Hint) -> Derived<Value> {
        if has_attributes(block.to_token_stream()) {
            return self.not_evident(block, scope);
        }
        let exits = Exits { returned: hint, broken: &Hint::Unknown };
        match self.run_block(block, &mut scope.clone(), hint, exits)? {
            Flow::Value(value) | Flow::Return(value) => Ok(value),
            Flow::Break(..) | Flow::Continue(_) => self.not_evident(block, scope),
        }
    }

    /// The value of a closure's body, which may be left by `return` and `?`, and changes nothing of what is around it.
    pub fn closure_body(&mut self, body: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let exits = Exits { returned: hint, broken: &Hint::Unknown };
        let flow = self.deeper(body, scope, |deriver| deriver.run(body, &mut scope.clone(), hint, exits))?;
        match flow {
            Flow::Value(value) | Flow::Return(value) => Ok(value),
            Flow::Break(..) | Flow::Continue(_) => self.not_evident(body, scope),
        }
    }

    /// The value of an expression with blocks in it that changes nothing.
    pub fn run_apart(&mut self, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let mut scope = scope.clone();
        scope.frozen = scope.store.len();
        match self.run(expr, &mut scope, hint, Exits::NONE)? {
            Flow::Value(value) => Ok(value),
            _ => self.not_evident(expr, &scope),
        }
    }

    /// Evaluates an expression, with the changes that it makes.
    fn run(&mut self, expr: &Expr, scope: &mut Scope, hint: &Hint, exits: Exits<'_>) -> Derived<Flow> {
        let at = Scope::of(scope.module);
        match expr {
            Expr::Block(_) | Expr::If(_) | Expr::Match(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                self.deeper(expr, &at, |deriver| deriver.run_unchecked(expr, scope, hint, exits))
            }
            _ => self.run_unchecked(expr, scope, hint, exits),
        }
    }

    /// Small functions do the work: what runs within each other must fit into a stack.
    fn run_unchecked(&mut self, expr: &Expr, scope: &mut Scope, hint: &Hint, exits: Exits<'_>) -> Derived<Flow> {
        match expr {
            Expr::Paren(inner) => self.run(&inner.expr, scope, hint, exits),
            Expr::Group(inner) => self.run(&inner.expr, scope, hint, exits),
            Expr::Block(block) => self.run_inner_block(block, scope, hint, exits),
            Expr::If(branch) => self.run_if(branch, scope, hint.unless_free(), exits),
            Expr::Match(choice) => self.run_match(choice, expr, scope, hint.unless_free(), exits),
            Expr::ForLoop(each) => self.run_for(each, scope, exits),
            Expr::While(each) => {
                let run = |deriver: &mut Self, scope: &mut Scope| match deriver.condition(&each.cond, scope)? {
                    true => deriver.run_block(&each.body, scope, &Hint::Unknown, exits),
                    false => Ok(Flow::Break(None, Value::Unit)),
                };
                self.run_loop(&each.label, expr, scope, run)
            }
            Expr::Loop(each) => {
                let exits = Exits { broken: hint.unless_free(), ..exits };
                let run =
                    |deriver: &mut Self, scope: &mut Scope| deriver.run_block(&each.body, scope, &Hint::Unknown, exits);
                self.run_loop(&each.label, expr, scope, run)
            }
            Expr::Return(left) => self.run_exit(left.expr.as_deref(), scope, exits.returned, exits, Flow::Return),
            Expr::Break(left) => {
                let label = left.label.as_ref().map(|label| label.ident.to_string());
                // Which loop a label means decides what is expected.
                let hint = if label.is_some() { &Hint::Unknown } else { exits.broken };
                self.run_exit(left.expr.as_deref(), scope, hint, exits, |value| Flow::Break(label, value))
            }
            Expr::Continue(left) => Ok(Flow::Continue(left.label.as_ref().map(|label| label.ident.to_string()))),
            Expr::Assign(assign) => self.run_assignment(assign, scope, exits),
            Expr::Binary(binary) => match operator_of(&binary.op) {
                Some(op) => self.run_operator(&op, binary, expr, scope),
                None => self.evaluate(expr, scope, hint).map(Flow::Value),
            },
            Expr::MethodCall(call) => self.run_method(call, expr, scope, hint, exits),
            Expr::Call(call) => match self.run_call(call, scope)? {
                Some(value) => Ok(Flow::Value(value)),
                None => self.evaluate(expr, scope, hint).map(Flow::Value),
            },
            Expr::Macro(call) if is_write(&call.mac) => self.run_write(&call.mac, expr, scope).map(Flow::Value),
            Expr::Try(tried) => self.run_try(tried, scope, hint, exits),
            _ => self.evaluate(expr, scope, hint).map(Flow::Value),
        }
    }

    fn run_inner_block(
        &mut self,
        block: &syn::ExprBlock,
        scope: &mut Scope,
        hint: &Hint,
        exits: Exits<'_>,
    ) -> Derived<Flow> {
        let flow = self.nested(scope, |deriver, scope| deriver.run_block(&block.block, scope, hint, exits))?;
        Ok(match flow {
            Flow::Break(Some(label), value) if is_labelled(&block.label, &label) => Flow::Value(value),
            flow => flow,
        })
    }

    fn run_if(&mut self, branch: &syn::ExprIf, scope: &mut Scope, hint: &Hint, exits: Exits<'_>) -> Derived<Flow> {
        let taken = self.nested(scope, |deriver, scope| {
            if !deriver.condition(&branch.cond, scope)? {
                return Ok(None);
            }
            deriver.run_block(&branch.then_branch, scope, hint, exits).map(Some)
        })?;
        match (taken, &branch.else_branch) {
            (Some(flow), _) => Ok(flow),
            (None, Some((_, other))) => self.run(other, scope, hint, exits),
            (None, None) => Ok(Flow::Value(Value::Unit)),
        }
    }

    fn run_match(
        &mut self,
        choice: &syn::ExprMatch,
        expr: &Expr,
        scope: &mut Scope,
        hint: &Hint,
        exits: Exits<'_>,
    ) -> Derived<Flow> {
        let value = value_of!(self.run(&choice.expr, scope, &Hint::Unknown, exits)?);
        for arm in &choice.arms {
            let flow = self.nested(scope, |deriver, scope| {
                if !deriver.matches(&arm.pat, &value, scope)? {
                    return Ok(None);
                }
                deriver.run(&arm.body, scope, hint, exits).map(Some)
            })?;
            if let Some(flow) = flow {
                return Ok(flow);
            }
        }
        self.not_evident(expr, scope)
    }

    fn run_for(&mut self, each: &syn::ExprForLoop, scope: &mut Scope, exits: Exits<'_>) -> Derived<Flow> {
        if let Some(target) = changed_in_turn(&each.expr) {
            return self.run_for_each_place(each, target, scope, exits);
        }
        let list = self.evaluate(&each.expr, scope, &Hint::Unknown)?;
        let list = self.elements(list);
        for value in self.or_not_evident(list, &each.expr, scope)? {
            self.step(each, scope)?;
            let flow = self.nested(scope, |deriver, scope| {
                let matches = deriver.matches(&each.pat, &value, scope)?;
                deriver.or_not_evident(matches.then_some(()), &each.pat, scope)?;
                deriver.run_block(&each.body, scope, &Hint::Unknown, exits)
            })?;
            match after(flow, &each.label) {
                After::Next => {}
                After::Done(_) => break,
                After::Left(flow) => return Ok(flow),
            }
        }
        Ok(Flow::Value(Value::Unit))
    }

    /// `for x in list.iter_mut()`, `for (key, value) in &mut map`: each element is the body's own while it runs.
    fn run_for_each_place(
        &mut self,
        each: &syn::ExprForLoop,
        target: &Expr,
        scope: &mut Scope,
        exits: Exits<'_>,
    ) -> Derived<Flow> {
        let place = self.place(target, scope)?;
        let counts = matches!(without_parens(&each.expr), Expr::MethodCall(call) if call.method == "enumerate");
        let numbers = |count: usize| (0..count).map(|index| Value::Integer(index as i128, "usize")).collect();
        let is_map = matches!(self.at(&place, scope), Some(Value::Map(..)));
        let (keys, count) = match self.at(&place, scope) {
            Some(Value::List("array" | "Vec" | "VecDeque", list)) => (counts.then(|| numbers(list.len())), list.len()),
            Some(_) if counts => return self.not_evident(&each.expr, scope),
            Some(Value::Map("BTreeMap", entries)) => {
                (Some(entries.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()), entries.len())
            }
            _ => return self.not_evident(&each.expr, scope),
        };
        let is_of_values = matches!(without_parens(&each.expr), Expr::MethodCall(call) if call.method == "values_mut");
        let (key_pattern, value_pattern) = match (&*each.pat, &keys) {
            (pattern, None) => (None, pattern),
            (pattern, Some(_)) if is_of_values => (None, pattern),
            (Pat::Tuple(pair), Some(_)) if pair.elems.len() == 2 => (Some(&pair.elems[0]), &pair.elems[1]),
            _ => return self.not_evident(&each.pat, scope),
        };
        let ident = match value_pattern {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.mutability.is_none() && ident.subpat.is_none() => {
                &ident.ident
            }
            pattern => return self.not_evident(pattern, scope),
        };
        let hint = self.element(&place.hint, if is_map { 1 } else { 0 })?;
        for index in 0..count {
            self.step(each, scope)?;
            let mut parts = place.parts.clone();
            parts.push(if is_map { Part::Entry(index) } else { Part::Index(index) });
            let element = Place { slot: place.slot, parts, hint: hint.clone() };
            let flow = self.nested(scope, |deriver, scope| {
                if let (Some(pattern), Some(keys)) = (key_pattern, &keys) {
                    let matches = deriver.matches(pattern, &keys[index], scope)?;
                    deriver.or_not_evident(matches.then_some(()), pattern, scope)?;
                }
                let value = deriver.at(&element, scope).cloned();
                let value = deriver.or_not_evident(value, &each.expr, scope)?;
                let slot = scope.store.len();
                scope.hold(ident, value, hint.clone(), true);
                scope.bind(ident, Local::Exclusive { slot, hint: hint.clone() });
                let flow = deriver.run_block(&each.body, scope, &Hint::Unknown, exits)?;
                let changed = scope.store.get(slot).map(|value| (**value).clone());
                let changed = deriver.or_not_evident(changed, &each.expr, scope)?;
                deriver.write(&element, changed, &each.expr, scope)?;
                Ok(flow)
            })?;
            match after(flow, &each.label) {
                After::Next => {}
                After::Done(_) => break,
                After::Left(flow) => return Ok(flow),
            }
        }
        Ok(Flow::Value(Value::Unit))
    }

    fn run_loop(
        &mut self,
        label: &Option<Label>,
        expr: &Expr,
        scope: &mut Scope,
        run: impl Fn(&mut Self, &mut Scope) -> Derived<Flow>,
    ) -> Derived<Flow> {
        loop {
            self.step(expr, scope)?;
            match after(self.nested(scope, &run)?, label) {
                After::Next => {}
                After::Done(value) => return Ok(Flow::Value(value)),
                After::Left(flow) => return Ok(flow),
            }
        }
    }

    fn run_exit(
        &mut self,
        value: Option<&Expr>,
        scope: &mut Scope,
        hint: &Hint,
        exits: Exits<'_>,
        leave: impl FnOnce(Value) -> Flow,
    ) -> Derived<Flow> {
        Ok(match value {
            Some(value) => leave(value_of!(self.run(value, scope, hint, exits)?)),
            None => leave(Value::Unit),
        })
    }

    fn run_assignment(&mut self, assign: &syn::ExprAssign, scope: &mut Scope, exits: Exits<'_>) -> Derived<Flow> {
        let hint = self.assigned_hint(&assign.left, scope)?;
        let value = value_of!(self.run(&assign.right, scope, &hint, exits)?);
        self.assign(&assign.left, value, scope)?;
        Ok(Flow::Value(Value::Unit))
    }

    /// A method that changes something, or one of what such a method gives: `stack.pop().unwrap_or(0)`.
    fn run_method(
        &mut self,
        call: &ExprMethodCall,
        expr: &Expr,
        scope: &mut Scope,
        hint: &Hint,
        exits: Exits<'_>,
    ) -> Derived<Flow> {
        if let Some(value) = self.change(call, scope)? {
            return Ok(Flow::Value(value));
        }
        if let Some(value) = self.change_own(call, scope)? {
            return Ok(Flow::Value(value));
        }
        if !may_change(&call.receiver) {
            return self.evaluate(expr, scope, hint).map(Flow::Value);
        }
        let inner = Hint::List(Box::new(hint.unless_free().clone()));
        let receiver = value_of!(self.run(&call.receiver, scope, &inner, exits)?);
        let ident = quote::format_ident!("__receiver");
        let mut after = scope.clone();
        after.hold(&ident, receiver, Hint::Unknown, false);
        let call = ExprMethodCall { receiver: Box::new(syn::parse_quote!(#ident)), ..call.clone() };
        self.evaluate(&Expr::MethodCall(call), &after, hint).map(Flow::Value)
    }

    /// A function that is given `&mut place`; `None`: it is none.
    fn run_call(&mut self, call: &syn::ExprCall, scope: &mut Scope) -> Derived<Option<Value>> {
        let Expr::Path(path) = without_parens(&call.func) else { return Ok(None) };
        let places = call.args.iter().any(|argument| is_exclusive(argument) || scope.exclusive(argument).is_some());
        if !places {
            return Ok(None);
        }
        let expr = &Expr::Call(call.clone());
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let local = path.path.get_ident().and_then(|ident| scope.locals.get(&name(ident))).cloned();
        let function = match local {
            Some(Local::Function(function)) => Some((*function).clone()),
            Some(_) => None,
            None => self.function(path, scope, None),
        };
        if let Some(function) = function {
            return self.run_function(&function, &arguments, expr, scope).map(Some);
        }
        let of_std = self.foreign(path, scope);
        let of_std: Vec<&str> = of_std.iter().map(String::as_str).collect();
        let (["std", "mem", function], [first, rest @ ..]) = (&of_std[..], &arguments[..]) else { return Ok(None) };
        let place = self.exclusive_place(first, scope)?;
        let old = self.at(&place, scope).cloned();
        let old = self.or_not_evident(old, first, scope)?;
        match (*function, rest) {
            ("swap", [other]) => {
                let other = self.exclusive_place(other, scope)?;
                let new = self.at(&other, scope).cloned();
                let new = self.or_not_evident(new, expr, scope)?;
                self.write(&place, new, expr, scope)?;
                self.write(&other, old, expr, scope)?;
                Ok(Some(Value::Unit))
            }
            ("replace", [new]) => {
                let hint = match (&place.hint, &old) {
                    (Hint::Unknown, Value::Text(_)) => Hint::Text,
                    (Hint::Unknown, old) => Hint::like(old),
                    (hint, _) => hint.clone(),
                };
                let new = self.evaluate(new, scope, &hint)?;
                self.write(&place, new, expr, scope)?;
                Ok(Some(old))
            }
            ("take", []) => {
                let new = match (place.hint.ty().cloned(), &old) {
                    (Some((ty, at)), _) => self.default_of(&ty, &at)?,
                    (None, Value::Text(_)) => Value::Text(String::new()),
                    (None, Value::List(kind @ ("Vec" | "VecDeque" | "BTreeSet"), _)) => Value::List(kind, Vec::new()),
                    (None, Value::Map(kind, _)) => Value::Map(kind, Vec::new()),
                    _ => return self.not_evident(expr, scope),
                };
                self.write(&place, new, expr, scope)?;
                Ok(Some(old))
            }
            _ => Ok(None),
        }
    }

    /// A method of the source that takes `&mut self` or `&mut place`; `None`: it is none.
    fn change_own(&mut self, call: &ExprMethodCall, scope: &mut Scope) -> Derived<Option<Value>> {
        let method = call.method.to_string();
        if !names_place(&call.receiver) || self.may_be_of_own_trait(&method, scope) {
            return Ok(None);
        }
        let Ok(Value::Data(data)) = self.quietly(|deriver| deriver.seen_through(&call.receiver, scope, &Hint::Unknown))
        else {
            return Ok(None);
        };
        let Some(function) = self.method(&data, &method) else { return Ok(None) };
        if !function.item.sig.inputs.iter().any(super::calls::is_exclusive_parameter) {
            return Ok(None);
        }
        let arguments: Vec<&Expr> = std::iter::once(&*call.receiver).chain(&call.args).collect();
        self.run_function(&function, &arguments, &Expr::MethodCall(call.clone()), scope).map(Some)
    }

    /// Runs a function of the source on places of its caller: each is the function's own while it runs, and is put back.
    fn run_function(
        &mut self,
        function: &Function,
        arguments: &[&Expr],
        expr: &Expr,
        scope: &mut Scope,
    ) -> Derived<Value> {
        let signature = &function.item.sig;
        if signature.inputs.len() != arguments.len() || super::calls::mentions_mut(&signature.output) {
            return self.not_evident(expr, scope);
        }
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for (input, argument) in signature.inputs.iter().zip(arguments) {
            let ty = function.parameter_type(input);
            if !super::calls::is_exclusive_parameter(input) {
                let value = match input {
                    syn::FnArg::Receiver(_) => self.seen_through(argument, scope, &Hint::Unknown)?,
                    syn::FnArg::Typed(_) => self.evaluate(argument, scope, &Hint::of(ty.as_ref()))?,
                };
                values.push((value, ty));
                continue;
            }
            let place = match input {
                syn::FnArg::Receiver(_) => self.place(argument, scope)?,
                syn::FnArg::Typed(_) => self.exclusive_place(argument, scope)?,
            };
            let value = self.at(&place, scope).cloned();
            let value = self.or_not_evident(value, argument, scope)?;
            let parameter = match input {
                syn::FnArg::Receiver(_) => Some("self".to_string()),
                syn::FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(ident) => Some(name(&ident.ident)),
                    _ => None,
                },
            };
            places.extend(parameter.map(|parameter| (parameter, place)));
            values.push((value, ty));
        }
        let (mut inner, returned) = self.entered(function, values, true, expr, scope)?;
        let locals = inner.locals.clone();
        let block = &function.item.block;
        if has_attributes(block.to_token_stream()) {
            return self.not_evident(&**block, scope);
        }
        let exits = Exits { returned: &returned, broken: &Hint::Unknown };
        let flow = self.deeper(expr, scope, |deriver| deriver.run_block(block, &mut inner, &returned, exits))?;
        for (parameter, place) in places {
            let slot = match locals.get(&parameter) {
                Some(Local::Exclusive { slot, .. }) => inner.store.get(*slot),
                _ => None,
            };
            let value = self.or_not_evident(slot.map(|value| (**value).clone()), expr, scope)?;
            self.write(&place, value, expr, scope)?;
        }
        match flow {
            Flow::Value(value) | Flow::Return(value) => self.known(value),
            Flow::Break(..) | Flow::Continue(_) => self.not_evident(expr, scope),
        }
    }

    /// What `fmt(&self, f)` writes to its formatter.
    pub fn written_to(&mut self, function: &Function, value: Value) -> Derived<Option<String>> {
        let node = &function.item.sig.ident;
        let scope = &Scope::of(function.scope.module);
        let [_, syn::FnArg::Typed(formatter)] = function.item.sig.inputs.iter().collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let Pat::Ident(formatter) = &*formatter.pat else { return Ok(None) };
        let values = vec![(value, None), (Value::Text(String::new()), None)];
        let (mut inner, _) = self.entered(function, values, true, node, scope)?;
        let Some(Local::Exclusive { slot, .. }) = inner.locals.get(&name(&formatter.ident)).cloned() else {
            return Ok(None);
        };
        if has_attributes(function.item.block.to_token_stream()) {
            return Ok(None);
        }
        let body =
            Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: (*function.item.block).clone() });
        let flow = self.deeper(&body, scope, |deriver| {
            deriver.run_block(&function.item.block, &mut inner, &Hint::Unknown, Exits::NONE)
        })?;
        Ok(match (flow, inner.store.get(slot).map(|value| (**value).clone())) {
            (Flow::Value(Value::Result(Some(_))) | Flow::Return(Value::Result(Some(_))), Some(Value::Text(text))) => {
                Some(text)
            }
            _ => None,
        })
    }

    /// `&mut place`, or an exclusive reference handed on.
    fn exclusive_place(&mut self, argument: &Expr, scope: &mut Scope) -> Derived<Place> {
        match without_parens(argument) {
            Expr::Reference(inner) if inner.mutability.is_some() => self.place(&inner.expr, scope),
            argument if scope.exclusive(argument).is_some() => self.place(argument, scope),
            argument => self.not_evident(argument, scope),
        }
    }

    /// `write!(text, …)`.
    fn run_write(&mut self, mac: &syn::Macro, expr: &Expr, scope: &mut Scope) -> Derived<Value> {
        let written = self.written_by(mac, expr, scope)?;
        let (target, text) = self.or_not_evident(written, expr, scope)?;
        let place = match without_parens(&target) {
            Expr::Reference(inner) if inner.mutability.is_some() => self.place(&inner.expr, scope)?,
            target => self.place(target, scope)?,
        };
        let new = match self.at(&place, scope) {
            Some(Value::Text(old)) => Some(Value::Text(format!("{old}{text}"))),
            _ => None,
        };
        let new = self.or_not_evident(new, expr, scope)?;
        self.write(&place, new, expr, scope)?;
        Ok(Value::Result(Some(Box::new(Value::Unit))))
    }

    /// `place += …`
    fn run_operator(&mut self, op: &BinOp, binary: &syn::ExprBinary, expr: &Expr, scope: &mut Scope) -> Derived<Flow> {
        let place = self.place(&binary.left, scope)?;
        let old = self.at(&place, scope).cloned();
        let old = self.or_not_evident(old, &binary.left, scope)?;
        let shifts = matches!(op, BinOp::Shl(_) | BinOp::Shr(_));
        let hint = if shifts { Hint::Free } else { Hint::like(&old) };
        let new = self.evaluate(&binary.right, scope, &hint)?;
        let new = if shifts { super::numbers::shifted(op, old, new) } else { arithmetic(op, old, new) };
        let new = self.or_not_evident(new, expr, scope)?;
        self.write(&place, new, expr, scope)?;
        Ok(Flow::Value(Value::Unit))
    }

    fn run_try(&mut self, tried: &syn::ExprTry, scope: &mut Scope, hint: &Hint, exits: Exits<'_>) -> Derived<Flow> {
        let hint = Hint::List(Box::new(hint.unless_free().clone()));
        match value_of!(self.run(&tried.expr, scope, &hint, exits)?) {
            Value::Option(Some(value)) | Value::Result(Some(value)) => Ok(Flow::Value(*value)),
            Value::Option(None) => Ok(Flow::Return(Value::Option(None))),
            Value::Result(None) => Ok(Flow::Return(Value::Result(None))),
            _ => self.not_evident(tried, scope),
        }
    }

    /// Counts against what an evaluation may take.
    pub fn step(&mut self, node: &impl syn::spanned::Spanned, scope: &Scope) -> Derived<()> {
        self.steps += 1;
        if self.steps > super::values::MAX_STEPS { self.not_evident(node, scope) } else { Ok(()) }
    }

    /// Runs something in a scope of its own, whose changes of the values outside of it are kept.
    fn nested<T>(&mut self, scope: &mut Scope, run: impl FnOnce(&mut Self, &mut Scope) -> Derived<T>) -> Derived<T> {
        let outside = scope.store.len();
        let mut inner = scope.clone();
        scope.store = Rc::default();
        let result = run(self, &mut inner);
        if inner.store.len() > outside {
            Rc::make_mut(&mut inner.store).truncate(outside);
        }
        scope.store = inner.store;
        result
    }

    /// Whether a condition holds; what `let` binds in it is added to the scope.
    pub fn condition(&mut self, condition: &Expr, scope: &mut Scope) -> Derived<bool> {
        match condition {
            Expr::Let(binding) => match self.run(&binding.expr, scope, &Hint::Unknown, Exits::NONE)? {
                Flow::Value(value) => self.matches(&binding.pat, &value, scope),
                _ => self.not_evident(condition, scope),
            },
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
                Ok(self.condition(&binary.left, scope)? && self.condition(&binary.right, scope)?)
            }
            _ => match self.run(condition, scope, &Hint::Unknown, Exits::NONE)? {
                Flow::Value(Value::Bool(holds)) => Ok(holds),
                _ => self.not_evident(condition, scope),
            },
        }
    }

    /// Runs the statements of a block.
    fn run_block(&mut self, block: &Block, scope: &mut Scope, hint: &Hint, exits: Exits<'_>) -> Derived<Flow> {
        self.bind_items(block, scope)?;
        let mut waiting = Vec::new();
        let flow = self.run_statements(&block.stmts, scope, hint, exits, &mut waiting)?;
        match waiting.iter().find(|(_, evaluated)| !evaluated.get()) {
            Some((unknown, _)) => self.not_evident(unknown, scope),
            None => Ok(flow),
        }
    }

    fn run_statements<'b>(
        &mut self,
        statements: &'b [Stmt],
        scope: &mut Scope,
        hint: &Hint,
        exits: Exits<'_>,
        waiting: &mut Vec<(&'b syn::Local, Rc<Cell<bool>>)>,
    ) -> Derived<Flow> {
        // What the body gives in the end has the type that is expected of the body.
        let result = match statements.last() {
            Some(Stmt::Expr(Expr::Path(path), None)) => path.path.get_ident(),
            _ => None,
        };
        let result = statements.iter().rposition(|statement| {
            matches!(statement, Stmt::Local(local) if result.is_some() && bound(local).map(|(ident, ..)| ident) == result)
        });
        for (index, statement) in statements.iter().enumerate() {
            let is_last = index + 1 == statements.len();
            match statement {
                Stmt::Local(local) => {
                    let hint = if result == Some(index) { hint } else { &Hint::Unknown };
                    if let Some(left) = self.bind_local(local, hint, scope, exits, waiting)? {
                        return Ok(left);
                    }
                }
                Stmt::Item(_) => {}
                Stmt::Expr(expr, None) if is_last => return self.run(expr, scope, hint, exits),
                // `map.entry(key).or_insert(value);`
                Stmt::Expr(Expr::MethodCall(call), Some(_)) if entry_of(call).is_some() => {
                    self.place(&Expr::MethodCall(call.clone()), scope)?;
                }
                Stmt::Expr(expr, _) => _ = value_of!(self.run(expr, scope, &Hint::Unknown, exits)?),
                Stmt::Macro(statement) if is_last && statement.semi_token.is_none() => {
                    let call = Expr::Macro(ExprMacro { attrs: Vec::new(), mac: statement.mac.clone() });
                    return self.run(&call, scope, hint, exits);
                }
                Stmt::Macro(statement) if is_write(&statement.mac) => {
                    let call = Expr::Macro(ExprMacro { attrs: Vec::new(), mac: statement.mac.clone() });
                    self.run_write(&statement.mac, &call, scope)?;
                }
                Stmt::Macro(statement) => self.check_assertion(&statement.mac, scope)?,
            }
        }
        Ok(Flow::Value(Value::Unit))
    }

    /// `assert!(…)`, which must hold: a panic has no value.
    fn check_assertion(&mut self, mac: &syn::Macro, scope: &Scope) -> Derived<()> {
        let of_std = self.known_macro(mac, scope).unwrap_or_default();
        let asserts = self.modules.cfg_holds(scope.module, &quote::quote!(debug_assertions)) == Some(true);
        if of_std.starts_with("debug_assert") && !asserts {
            return Ok(());
        }
        let parts = mac.parse_body_with(syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated);
        let parts: Vec<Expr> = self.parsed(scope, parts)?.into_iter().collect();
        let condition: Expr = match (of_std.trim_start_matches("debug_"), parts.as_slice()) {
            ("assert", [condition, ..]) => condition.clone(),
            ("assert_eq", [left, right, ..]) => syn::parse_quote!((#left) == (#right)),
            ("assert_ne", [left, right, ..]) => syn::parse_quote!((#left) != (#right)),
            _ => return self.not_evident(mac, scope),
        };
        match self.evaluate(&condition, scope, &Hint::Unknown)? {
            Value::Bool(true) => Ok(()),
            _ => self.not_evident(mac, scope),
        }
    }

    /// The constants and functions of a block are there from its start, and see neither locals nor parameters.
    fn bind_items(&mut self, block: &Block, scope: &mut Scope) -> Derived<()> {
        let items: Vec<&Item> = block
            .stmts
            .iter()
            .filter_map(|statement| match statement {
                Stmt::Item(item) => Some(item),
                _ => None,
            })
            .collect();
        let mut named = Vec::new();
        for item in &items {
            named.push(match item {
                Item::Const(item) => &item.ident,
                Item::Fn(item) => &item.sig.ident,
                _ => return self.not_evident(item, scope),
            });
        }
        let is_item = |local: &Local| {
            !matches!(local, Local::Value { .. } | Local::Exclusive { .. } | Local::Waiting(..) | Local::Closure(..))
        };
        let mut inner = Scope::of(scope.module);
        let outer = scope.locals.iter().filter(|(_, local)| is_item(local));
        Rc::make_mut(&mut inner.locals).extend(outer.map(|(name, local)| (name.clone(), local.clone())));
        for ident in &named {
            inner.bind(ident, Local::Open);
        }
        // Items name each other: in each round, one more of them is known to the others.
        for _ in &items {
            let before = inner.clone();
            for (item, ident) in items.iter().zip(&named) {
                let local = match item {
                    Item::Const(item) => {
                        let ty = Box::new(((*item.ty).clone(), before.clone()));
                        Local::Constant(item.expr.clone(), before.clone(), ty)
                    }
                    Item::Fn(item) => Local::Function(Rc::new(Function::new(before.clone(), Rc::new(item.clone())))),
                    _ => Local::Open,
                };
                inner.bind(ident, local);
            }
        }
        for ident in named {
            let local = inner.locals.get(&name(ident)).cloned();
            scope.bind(ident, local.unwrap_or(Local::Open));
        }
        Ok(())
    }

    /// Binds a `let`; `Some`: its block is left here.
    fn bind_local<'b>(
        &mut self,
        local: &'b syn::Local,
        hint: &Hint,
        scope: &mut Scope,
        exits: Exits<'_>,
        waiting: &mut Vec<(&'b syn::Local, Rc<Cell<bool>>)>,
    ) -> Derived<Option<Flow>> {
        let (pattern, ty) = untyped(&local.pat);
        let ty = ty.map(|ty| Hint::exactly((ty.clone(), scope.clone())));
        let found = bound(local);
        let Some(init) = &local.init else {
            // It gets its value later.
            let Some((ident, ..)) = found else { return self.not_evident(local, scope) };
            let none = self.if_needed(|deriver| deriver.not_evident(local, scope));
            scope.hold(ident, none, ty.unwrap_or_else(|| hint.clone()), true);
            return Ok(None);
        };
        if let (Some((ident, false, _)), Expr::Closure(closure)) = (&found, without_parens(&init.expr)) {
            scope.bind(ident, Local::Closure(Rc::new(closure.clone()), scope.clone()));
            return Ok(None);
        }
        let Some((ident, mutable, _)) = found else {
            let value = match self.run(&init.expr, scope, &ty.unwrap_or(Hint::Unknown), exits)? {
                Flow::Value(value) => value,
                left => return Ok(Some(left)),
            };
            let mut bound = scope.clone();
            if self.matches(pattern, &value, &mut bound)? {
                *scope = bound;
                return Ok(None);
            }
            let Some((_, other)) = &init.diverge else { return self.not_evident(local, scope) };
            return match self.run(other, scope, &Hint::Unknown, exits)? {
                Flow::Value(_) => self.not_evident(local, scope),
                left => Ok(Some(left)),
            };
        };
        let hint = ty.unwrap_or_else(|| hint.clone());
        let mut after = scope.clone();
        let mut left = None;
        let value = self.if_needed(|deriver| match deriver.run(&init.expr, &mut after, &hint, exits)? {
            Flow::Value(value) => Ok(value),
            flow => {
                left = Some(flow);
                Ok(Value::Unit)
            }
        });
        match value {
            // Its use may say the type.
            Value::Unknown(_) if !mutable => {
                // A literal does nothing, whatever its type.
                let evaluated = Rc::new(Cell::new(matches!(&*init.expr, Expr::Lit(_))));
                scope.bind(ident, Local::Waiting(init.expr.clone(), scope.clone(), Rc::clone(&evaluated)));
                waiting.push((local, evaluated));
            }
            value => {
                let value = self.known(value)?;
                *scope = after;
                scope.hold(ident, value, hint, mutable);
            }
        }
        Ok(left)
    }

    /// What is known of what is assigned.
    fn assigned_hint(&mut self, left: &Expr, scope: &mut Scope) -> Derived<Hint> {
        match without_parens(left) {
            Expr::Infer(_) => Ok(Hint::Unknown),
            Expr::Tuple(tuple) => match tuple.elems.iter().collect::<Vec<_>>()[..] {
                [left, right] => {
                    let (left, right) = (self.assigned_hint(left, scope)?, self.assigned_hint(right, scope)?);
                    Ok(Hint::Pair(Box::new(left), Box::new(right)))
                }
                _ => Ok(Hint::Unknown),
            },
            left => {
                let place = self.place(left, scope)?;
                Ok(match (place.hint.clone(), self.at(&place, scope)) {
                    (Hint::Unknown, Some(old)) => Hint::like(old),
                    (hint, _) => hint,
                })
            }
        }
    }

    fn assign(&mut self, left: &Expr, value: Value, scope: &mut Scope) -> Derived<()> {
        match (without_parens(left), value) {
            (Expr::Infer(_), _) => Ok(()),
            (Expr::Tuple(tuple), Value::List("tuple", values)) if tuple.elems.len() == values.len() => {
                tuple.elems.iter().zip(values).try_for_each(|(left, value)| self.assign(left, value, scope))
            }
            (left, value) => {
                let place = self.place(left, scope)?;
                self.write(&place, value, left, scope)
            }
        }
    }

    /// A part of a local that may be changed here.
    fn place(&mut self, expr: &Expr, scope: &mut Scope) -> Derived<Place> {
        if let Some((slot, hint)) = scope.exclusive(expr) {
            let place = Place { slot, parts: Vec::new(), hint: hint.clone() };
            return if slot >= scope.frozen { Ok(place) } else { self.not_evident(expr, scope) };
        }
        match without_parens(expr) {
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => match without_parens(&unary.expr) {
                Expr::MethodCall(call) if entry_of(call).is_some() => self.place(&unary.expr, scope),
                inner if scope.exclusive(inner).is_some() => {
                    let place = self.place(inner, scope)?;
                    match self.at(&place, scope).cloned() {
                        Some(Value::Data(data)) => match self.dereferences(&data) {
                            true => self.not_evident(expr, scope),
                            false => Ok(place),
                        },
                        _ => Ok(place),
                    }
                }
                _ => self.not_evident(expr, scope),
            },
            Expr::MethodCall(call) => match entry_of(call) {
                Some(entry) => self.entry_place(call, entry, scope),
                None => self.not_evident(expr, scope),
            },
            Expr::Path(path) => match path.path.get_ident().and_then(|ident| scope.locals.get(&name(ident))) {
                Some(Local::Value { slot, hint, mutable: true }) if *slot >= scope.frozen => {
                    Ok(Place { slot: *slot, parts: Vec::new(), hint: hint.clone() })
                }
                _ => self.not_evident(expr, scope),
            },
            Expr::Field(field) => {
                let mut place = self.place(&field.base, scope)?;
                let key = super::values::key_of(&field.member);
                place.hint = match self.at(&place, scope) {
                    Some(Value::Data(data)) => data.field_type(&key),
                    _ => match key.parse() {
                        Ok(index) => self.element(&place.hint, index)?,
                        Err(_) => Hint::Unknown,
                    },
                };
                place.parts.push(Part::Field(key));
                Ok(place)
            }
            Expr::Index(index) => {
                let mut place = self.place(&index.expr, scope)?;
                place.hint = self.element(&place.hint, 0)?;
                let at = usize::try_from(self.integer(&index.index, scope, "usize")?).ok();
                place.parts.push(Part::Index(self.or_not_evident(at, expr, scope)?));
                Ok(place)
            }
            _ => self.not_evident(expr, scope),
        }
    }

    /// `map.entry(key).or_insert(value)`, which is there from then on.
    fn entry_place(&mut self, call: &ExprMethodCall, entry: &ExprMethodCall, scope: &mut Scope) -> Derived<Place> {
        let node = &Expr::MethodCall(call.clone());
        let methods = [entry.method.to_string(), call.method.to_string()];
        let [Some(key), None] = [entry.args.first(), entry.args.get(1)] else { return self.not_evident(node, scope) };
        if methods.iter().any(|method| self.may_be_of_own_trait(method, scope)) {
            return self.not_evident(node, scope);
        }
        let mut place = self.place(&entry.receiver, scope)?;
        let (key_hint, value_hint) = (self.element(&place.hint, 0)?, self.element(&place.hint, 1)?);
        let Some(Value::Map(kind, mut entries)) = self.at(&place, scope).cloned() else {
            return self.not_evident(node, scope);
        };
        let key = self.evaluate(key, scope, &key_hint)?;
        let found = |entries: &[(Value, Value)]| {
            let order = entries.iter().map(|(other, _)| super::conversions::order(other, &key));
            order.collect::<Option<Vec<_>>>().map(|order| order.iter().position(|order| order.is_eq()))
        };
        let before = found(&entries);
        if self.or_not_evident(before, node, scope)?.is_none() {
            let value = match (methods[1].as_str(), call.args.iter().collect::<Vec<_>>().as_slice()) {
                ("or_insert", [value]) => self.evaluate(value, scope, &value_hint)?,
                ("or_insert_with", [function]) => self.called(function, Vec::new(), scope, &value_hint)?,
                ("or_default", []) => match value_hint.ty().cloned() {
                    Some((ty, at)) => self.default_of(&ty, &at)?,
                    None => return self.not_evident(node, scope),
                },
                _ => return self.not_evident(node, scope),
            };
            entries.push((key.clone(), value));
            let map = super::conversions::map(kind, entries);
            let map = self.or_not_evident(map, node, scope)?;
            self.write(&place, map, node, scope)?;
        }
        let at = match self.at(&place, scope) {
            Some(Value::Map(_, entries)) => found(entries).flatten(),
            _ => None,
        };
        place.parts.push(Part::Entry(self.or_not_evident(at, node, scope)?));
        place.hint = value_hint;
        Ok(place)
    }

    fn at<'s>(&self, place: &Place, scope: &'s Scope) -> Option<&'s Value> {
        place.parts.iter().try_fold(&**scope.store.get(place.slot)?, |value, part| match (value, part) {
            (Value::Data(data), Part::Field(key)) => data.fields.get(key),
            (Value::List("tuple", list), Part::Field(key)) => list.get(key.parse::<usize>().ok()?),
            (Value::List("array" | "Vec" | "VecDeque", list), Part::Index(index)) => list.get(*index),
            (Value::Map(_, entries), Part::Entry(index)) => entries.get(*index).map(|(_, value)| value),
            _ => None,
        })
    }

    fn write(&mut self, place: &Place, new: Value, node: &Expr, scope: &mut Scope) -> Derived<()> {
        let slot = Rc::make_mut(&mut scope.store).get_mut(place.slot).map(Rc::make_mut);
        let written = slot.and_then(|whole| {
            // It may have been copied.
            self.steps += size_of(whole) / 16;
            let part = place.parts.iter().try_fold(whole, |value, part| match (value, part) {
                (Value::Data(data), Part::Field(key)) => data.fields.get_mut(key),
                (Value::List("tuple", list), Part::Field(key)) => list.get_mut(key.parse::<usize>().ok()?),
                (Value::List("array" | "Vec" | "VecDeque", list), Part::Index(index)) => list.get_mut(*index),
                (Value::Map(_, entries), Part::Entry(index)) => entries.get_mut(*index).map(|(_, value)| value),
                _ => None,
            })?;
            *part = new;
            Some(())
        });
        self.or_not_evident(written, node, scope)
    }

    /// A method that changes what it is called on, with what it gives; `None`: it is none of these.
    fn change(&mut self, call: &ExprMethodCall, scope: &mut Scope) -> Derived<Option<Value>> {
        let method = call.method.to_string();
        if !CHANGES.contains(&method.as_str()) || self.may_be_of_own_trait(&method, scope) {
            return Ok(None);
        }
        let receiver = match without_parens(&call.receiver) {
            Expr::MethodCall(inner) if inner.method == "ensure_object" => &inner.receiver,
            _ => &call.receiver,
        };
        // What is changed is gone.
        if method == "next" && matches!(without_parens(receiver), Expr::MethodCall(_)) {
            return Ok(None);
        }
        // Iterators and texts have methods of these names that change nothing.
        let is_of_option = matches!(method.as_str(), "replace" | "take");
        if is_of_option && !names_place(receiver) {
            return Ok(None);
        }
        let place = match is_of_option {
            true => self.quietly(|deriver| deriver.place(receiver, scope)),
            false => self.place(receiver, scope),
        };
        let place = match place {
            Err(_) if is_of_option => return Ok(None),
            place => place?,
        };
        let value = self.at(&place, scope).cloned();
        let mut value = self.or_not_evident(value, receiver, scope)?;
        if matches!(value, Value::Data(_)) || is_of_option && !matches!(value, Value::Option(_)) {
            return Ok(None);
        }
        let node = &Expr::MethodCall(call.clone());
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let result = match (&mut value, method.as_str(), arguments.as_slice()) {
            (Value::Json(Json::Object(object)), "insert", [key, new]) => {
                let key = self.text(key, scope)?;
                let new = self.evaluate(new, scope, &Hint::Json)?;
                let new = self.serialized(new, node, scope)?;
                object.insert(key, new).map_or(Value::Option(None), |old| some(Value::Json(old)))
            }
            (Value::Json(Json::Object(object)), "remove", [key]) => {
                object.remove(&self.text(key, scope)?).map_or(Value::Option(None), |old| some(Value::Json(old)))
            }
            (Value::List("Vec" | "VecDeque", list), "push" | "push_back" | "push_front", [new]) => {
                let element = self.element_like(&place.hint, list)?;
                let new = self.evaluate(new, scope, &element)?;
                list.insert(if method == "push_front" { 0 } else { list.len() }, new);
                Value::Unit
            }
            (Value::List("Vec" | "VecDeque", list), "insert", [at, new]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).ok().filter(|at| *at <= list.len());
                let at = self.or_not_evident(at, node, scope)?;
                let element = self.element_like(&place.hint, list)?;
                list.insert(at, self.evaluate(new, scope, &element)?);
                Value::Unit
            }
            (Value::List("Vec", list), "remove", [at]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).ok().filter(|at| *at < list.len());
                list.remove(self.or_not_evident(at, node, scope)?)
            }
            (Value::List("Vec", list), "pop", []) | (Value::List("VecDeque", list), "pop_back", []) => {
                Value::Option(list.pop().map(Box::new))
            }
            (Value::List("VecDeque", list), "pop_front", []) | (Value::List("iterator", list), "next", []) => {
                Value::Option((!list.is_empty()).then(|| Box::new(list.remove(0))))
            }
            (Value::List("Vec", list), "extend", [new]) => {
                let elements = Hint::List(Box::new(self.element_like(&place.hint, list)?));
                let new = self.evaluate(new, scope, &elements)?;
                let new = self.elements(new);
                list.extend(self.or_not_evident(new, node, scope)?);
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "sort" | "sort_unstable", []) => {
                let sorted = self.in_order(std::mem::take(list));
                *list = self.or_not_evident(sorted, node, scope)?;
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "sort_by_key", [function]) => {
                let mut keyed = Vec::new();
                for value in std::mem::take(list) {
                    keyed.push((self.called(function, vec![value.clone()], scope, &Hint::Unknown)?, value));
                }
                let sorted = self.in_order_of(keyed);
                *list = self.or_not_evident(sorted, node, scope)?;
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "reverse", []) => {
                list.reverse();
                Value::Unit
            }
            (Value::List("Vec", list), "dedup", []) => {
                let mut kept: Vec<Value> = Vec::new();
                for value in std::mem::take(list) {
                    let same = kept.last().map_or(Some(false), |last| self.equal(last, &value));
                    if !self.or_not_evident(same, node, scope)? {
                        kept.push(value);
                    }
                }
                *list = kept;
                Value::Unit
            }
            (Value::List("Vec", list), "truncate", [length]) => {
                list.truncate(usize::try_from(self.integer(length, scope, "usize")?).unwrap_or(usize::MAX));
                Value::Unit
            }
            (Value::List("Vec", list), "clear", []) => {
                list.clear();
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "swap", [one, other]) => {
                let one = usize::try_from(self.integer(one, scope, "usize")?).unwrap_or(usize::MAX);
                let other = usize::try_from(self.integer(other, scope, "usize")?).unwrap_or(usize::MAX);
                let swapped = (one < list.len() && other < list.len()).then(|| list.swap(one, other));
                self.or_not_evident(swapped, node, scope)?;
                Value::Unit
            }
            (Value::List("Vec", list), "retain", [function]) => {
                let mut kept = Vec::new();
                for value in std::mem::take(list) {
                    match self.called(function, vec![value.clone()], scope, &Hint::Unknown)? {
                        Value::Bool(true) => kept.push(value),
                        Value::Bool(false) => {}
                        _ => return self.not_evident(function, scope),
                    }
                }
                *list = kept;
                Value::Unit
            }
            (Value::List("Vec", list), "append", [other]) => {
                let other = self.exclusive_place(other, scope)?;
                let Some(Value::List("Vec", more)) = self.at(&other, scope).cloned() else {
                    return self.not_evident(call, scope);
                };
                list.extend(more);
                self.write(&other, Value::List("Vec", Vec::new()), node, scope)?;
                Value::Unit
            }
            (Value::List("Vec", list), "extend_from_slice", [new]) => {
                let elements = Hint::List(Box::new(self.element_like(&place.hint, list)?));
                let new = self.evaluate(new, scope, &elements)?;
                let new = if self.clones(&new) { self.elements(new) } else { None };
                list.extend(self.or_not_evident(new, node, scope)?);
                Value::Unit
            }
            (Value::List("Vec", list), "drain", [range]) => {
                let Expr::Range(range) = without_parens(range) else { return self.not_evident(call, scope) };
                let range = self.span_of_range(range, list.len(), scope)?;
                let range = Some(range).filter(|range| range.start <= range.end && range.end <= list.len());
                let range = self.or_not_evident(range, node, scope)?;
                Value::List("iterator", list.drain(range).collect())
            }
            (Value::List("Vec", list), "split_off", [at]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).ok().filter(|at| *at <= list.len());
                Value::List("Vec", list.split_off(self.or_not_evident(at, node, scope)?))
            }
            (Value::List("Vec", list), "swap_remove", [at]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).ok().filter(|at| *at < list.len());
                list.swap_remove(self.or_not_evident(at, node, scope)?)
            }
            (Value::List("Vec", list), "resize", [length, new]) => {
                let length = usize::try_from(self.integer(length, scope, "usize")?).ok();
                let length = length.filter(|length| *length <= super::values::MAX_SIZE);
                let length = self.or_not_evident(length, node, scope)?;
                let element = self.element_like(&place.hint, list)?;
                let new = self.evaluate(new, scope, &element)?;
                let clones = self.clones(&new).then_some(());
                self.or_not_evident(clones, node, scope)?;
                list.resize(length, new);
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "fill", [new]) => {
                let element = self.element_like(&place.hint, list)?;
                let new = self.evaluate(new, scope, &element)?;
                let clones = self.clones(&new).then_some(());
                self.or_not_evident(clones, node, scope)?;
                list.fill(new);
                Value::Unit
            }
            (Value::List("Vec" | "array" | "VecDeque", list), "rotate_left" | "rotate_right", [by]) => {
                let by = usize::try_from(self.integer(by, scope, "usize")?).ok().filter(|by| *by <= list.len());
                let by = self.or_not_evident(by, node, scope)?;
                if method == "rotate_left" {
                    list.rotate_left(by)
                } else {
                    list.rotate_right(by)
                }
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "sort_by" | "sort_unstable_by", [function]) => {
                let sorted = self.sorted_by(std::mem::take(list), function, scope)?;
                *list = self.or_not_evident(sorted, node, scope)?;
                Value::Unit
            }
            (Value::Option(option), "take", []) => Value::Option(option.take()),
            (Value::Option(option), "replace", [new]) => {
                let element = self.element(&place.hint, 0)?;
                Value::Option(option.replace(Box::new(self.evaluate(new, scope, &element)?)))
            }
            (Value::Text(text), "insert" | "insert_str", [at, new]) => {
                let at =
                    usize::try_from(self.integer(at, scope, "usize")?).ok().filter(|at| text.is_char_boundary(*at));
                let at = self.or_not_evident(at, node, scope)?;
                match (method.as_str(), self.evaluate(new, scope, &Hint::Unknown)?) {
                    ("insert", Value::Char(new)) => text.insert(at, new),
                    ("insert_str", Value::Text(new)) => text.insert_str(at, &new),
                    _ => return self.not_evident(call, scope),
                }
                Value::Unit
            }
            (Value::Text(text), "remove", [at]) => {
                let at = usize::try_from(self.integer(at, scope, "usize")?).ok();
                let at = at.filter(|at| *at < text.len() && text.is_char_boundary(*at));
                Value::Char(text.remove(self.or_not_evident(at, node, scope)?))
            }
            (Value::Text(text), "truncate", [length]) => {
                let length = usize::try_from(self.integer(length, scope, "usize")?).unwrap_or(usize::MAX);
                let fits = (length >= text.len() || text.is_char_boundary(length)).then(|| text.truncate(length));
                self.or_not_evident(fits, node, scope)?;
                Value::Unit
            }
            (Value::Text(text), "extend", [new]) => {
                let new = self.evaluate(new, scope, &Hint::Unknown)?;
                let new = self.elements(new).and_then(super::methods::concatenated_texts);
                text.push_str(&self.or_not_evident(new, node, scope)?);
                Value::Unit
            }
            (Value::Text(text), "drain", [range]) => {
                let Expr::Range(range) = without_parens(range) else { return self.not_evident(call, scope) };
                let range = self.span_of_range(range, text.len(), scope)?;
                let range = Some(range).filter(|range| text.get(range.clone()).is_some());
                let range = self.or_not_evident(range, node, scope)?;
                Value::List("iterator", text.drain(range).map(Value::Char).collect())
            }
            (Value::Text(text), "write_str", [new]) => {
                text.push_str(&self.text(new, scope)?);
                Value::Result(Some(Box::new(Value::Unit)))
            }
            (Value::Text(text), "push_str", [new]) => {
                text.push_str(&self.text(new, scope)?);
                Value::Unit
            }
            (Value::Text(text), "push", [new]) => match self.evaluate(new, scope, &Hint::Unknown)? {
                Value::Char(new) => {
                    text.push(new);
                    Value::Unit
                }
                _ => return self.not_evident(call, scope),
            },
            (Value::Text(text), "pop", []) => text.pop().map_or(Value::Option(None), |last| some(Value::Char(last))),
            (Value::Text(text), "clear", []) => {
                text.clear();
                Value::Unit
            }
            (Value::Map(kind, entries), "insert", [key, new]) => {
                let hints = (self.element(&place.hint, 0)?, self.element(&place.hint, 1)?);
                let (key, new) = (self.evaluate(key, scope, &hints.0)?, self.evaluate(new, scope, &hints.1)?);
                let mut old = Value::Option(None);
                for (other, value) in entries.iter() {
                    let same = self.equal(other, &key);
                    if self.or_not_evident(same, node, scope)? {
                        old = some(value.clone());
                    }
                }
                entries.push((key, new));
                let map = super::conversions::map(kind, std::mem::take(entries));
                value = self.or_not_evident(map, node, scope)?;
                old
            }
            (Value::Map(_, entries), "remove", [key]) => {
                let hint = self.element(&place.hint, 0)?;
                let key = self.evaluate(key, scope, &hint)?;
                let order = entries.iter().map(|(other, _)| super::conversions::order(other, &key));
                let at = order.collect::<Option<Vec<_>>>().map(|order| order.iter().position(|order| order.is_eq()));
                match self.or_not_evident(at, node, scope)? {
                    Some(at) => some(entries.remove(at).1),
                    None => Value::Option(None),
                }
            }
            (Value::Map(kind, entries), "extend", [new]) => {
                let pair = Hint::Pair(Box::new(self.element(&place.hint, 0)?), Box::new(self.element(&place.hint, 1)?));
                let new = self.evaluate(new, scope, &Hint::List(Box::new(pair)))?;
                let new = self.elements(new).and_then(|new| super::conversions::collection(kind, new));
                let Value::Map(_, new) = self.or_not_evident(new, node, scope)? else {
                    return self.not_evident(call, scope);
                };
                entries.extend(new);
                let map = super::conversions::map(kind, std::mem::take(entries));
                value = self.or_not_evident(map, node, scope)?;
                Value::Unit
            }
            (Value::List(kind @ "BTreeSet", list), "extend", [new]) => {
                let elements = Hint::List(Box::new(self.element(&place.hint, 0)?));
                let new = self.evaluate(new, scope, &elements)?;
                let new = self.elements(new);
                list.extend(self.or_not_evident(new, node, scope)?);
                let set = super::conversions::collection(kind, std::mem::take(list));
                value = self.or_not_evident(set, node, scope)?;
                Value::Unit
            }
            (Value::List(kind @ "BTreeSet", list), "insert", [new]) => {
                let element = self.element(&place.hint, 0)?;
                let new = self.evaluate(new, scope, &element)?;
                let before = list.len();
                list.push(new);
                let set = super::conversions::collection(kind, std::mem::take(list));
                let set = self.or_not_evident(set, node, scope)?;
                let is_new = matches!(&set, Value::List(_, list) if list.len() > before);
                value = set;
                Value::Bool(is_new)
            }
            _ => return self.not_evident(call, scope),
        };
        self.write(&place, value, node, scope)?;
        Ok(Some(result))
    }

    /// What is known of an element to come: what the list's type says, or an element that it has.
    fn element_like(&mut self, list: &Hint, elements: &[Value]) -> Derived<Hint> {
        Ok(match (self.element(list, 0)?, elements.first()) {
            (Hint::Unknown, Some(first)) => Hint::like(first),
            (element, _) => element,
        })
    }
}

/// The methods of std that change what they are called on.
const CHANGES: [&str; 35] = [
    "append",
    "clear",
    "dedup",
    "drain",
    "extend",
    "extend_from_slice",
    "fill",
    "insert",
    "insert_str",
    "next",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "replace",
    "resize",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "split_off",
    "swap",
    "swap_remove",
    "take",
    "truncate",
    "write_str",
];

/// `map.entry(key)` of `map.entry(key).or_insert(value)`.
fn entry_of(call: &ExprMethodCall) -> Option<&ExprMethodCall> {
    let is_made = ["or_default", "or_insert", "or_insert_with"].iter().any(|method| call.method == method);
    match without_parens(&call.receiver) {
        Expr::MethodCall(entry) if is_made && entry.method == "entry" => Some(entry),
        _ => None,
    }
}

/// What a `for` changes the elements of.
fn changed_in_turn(expr: &Expr) -> Option<&Expr> {
    match without_parens(expr) {
        Expr::Reference(inner) if inner.mutability.is_some() => Some(&inner.expr),
        Expr::MethodCall(call) if ["iter_mut", "values_mut"].iter().any(|method| call.method == method) => {
            call.args.is_empty().then_some(&call.receiver)
        }
        Expr::MethodCall(call) if call.method == "enumerate" && call.args.is_empty() => match &*call.receiver {
            Expr::MethodCall(inner) if inner.method == "iter_mut" => changed_in_turn(&call.receiver),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression has the form of a local, or a part of one.
fn names_place(expr: &Expr) -> bool {
    matches!(without_parens(expr), Expr::Path(_) | Expr::Field(_) | Expr::Index(_))
}

/// `&mut place`
fn is_exclusive(expr: &Expr) -> bool {
    matches!(without_parens(expr), Expr::Reference(inner) if inner.mutability.is_some())
}

/// Whether a part of a chain of methods changes something, as far as its form shows.
fn may_change(expr: &Expr) -> bool {
    match without_parens(expr) {
        Expr::MethodCall(call) => {
            let changes = names_place(&call.receiver) && CHANGES.iter().any(|change| call.method == change);
            changes || may_change(&call.receiver)
        }
        Expr::Macro(call) => is_write(&call.mac),
        Expr::Call(call) => call.args.iter().any(is_exclusive),
        Expr::Try(tried) => may_change(&tried.expr),
        _ => false,
    }
}

fn is_write(mac: &syn::Macro) -> bool {
    mac.path.segments.last().is_some_and(|last| last.ident == "write" || last.ident == "writeln")
}

fn some(value: Value) -> Value {
    Value::Option(Some(Box::new(value)))
}

/// What follows one run of a loop's body.
enum After {
    Next,
    Done(Value),
    Left(Flow),
}

fn after(flow: Flow, label: &Option<Label>) -> After {
    match flow {
        Flow::Value(_) | Flow::Continue(None) => After::Next,
        Flow::Break(None, value) => After::Done(value),
        Flow::Continue(Some(named)) if is_labelled(label, &named) => After::Next,
        Flow::Break(Some(named), value) if is_labelled(label, &named) => After::Done(value),
        left => After::Left(left),
    }
}

fn is_labelled(label: &Option<Label>, named: &str) -> bool {
    label.as_ref().is_some_and(|label| label.name.ident == named)
}

/// `+` of `+=`.
fn operator_of(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        _ => return None,
    })
}

/// The name that a `let` binds, whether it may be changed, and its type.
fn bound(local: &syn::Local) -> Option<(&syn::Ident, bool, Option<&Type>)> {
    let (pattern, ty) = untyped(&local.pat);
    match pattern {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
            Some((&ident.ident, ident.mutability.is_some(), ty))
        }
        _ => None,
    }
}

fn untyped(pattern: &Pat) -> (&Pat, Option<&Type>) {
    match pattern {
        Pat::Type(typed) => (&typed.pat, Some(&typed.ty)),
        pattern => (pattern, None),
    }
}
