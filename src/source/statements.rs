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

use super::constants::Function;
use super::modules::name;
use super::numbers::{arithmetic, without_parens};
use super::types::{Derived, Deriver, Scope};
use super::values::{Hint, Local, Value, has_attributes, size_of};

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

enum Part {
    Field(String),
    Index(usize),
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
            Expr::MethodCall(call) => match self.change(call, scope)? {
                Some(value) => Ok(Flow::Value(value)),
                None => self.evaluate(expr, scope, hint).map(Flow::Value),
            },
            Expr::Try(tried) => self.run_try(tried, scope, hint),
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

    fn run_try(&mut self, tried: &syn::ExprTry, scope: &Scope, hint: &Hint) -> Derived<Flow> {
        let hint = Hint::List(Box::new(hint.unless_free().clone()));
        match self.evaluate(&tried.expr, scope, &hint)? {
            Value::Option(Some(value)) | Value::Result(Some(value)) => Ok(Flow::Value(*value)),
            Value::Option(None) => Ok(Flow::Return(Value::Option(None))),
            Value::Result(None) => Ok(Flow::Return(Value::Result(None))),
            _ => self.not_evident(tried, scope),
        }
    }

    /// Counts against what an evaluation may take.
    fn step(&mut self, node: &impl syn::spanned::Spanned, scope: &Scope) -> Derived<()> {
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
                Stmt::Expr(expr, _) => _ = value_of!(self.run(expr, scope, &Hint::Unknown, exits)?),
                Stmt::Macro(statement) if is_last && statement.semi_token.is_none() => {
                    let call = Expr::Macro(ExprMacro { attrs: Vec::new(), mac: statement.mac.clone() });
                    return self.evaluate(&call, scope, hint).map(Flow::Value);
                }
                Stmt::Macro(statement) => self.check_assertion(&statement.mac, scope)?,
            }
        }
        Ok(Flow::Value(Value::Unit))
    }

    /// `assert!(…)`, which must hold: a panic has no value.
    fn check_assertion(&mut self, mac: &syn::Macro, scope: &Scope) -> Derived<()> {
        let of_std = self.known_macro(mac, scope).unwrap_or_default();
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
        let is_item = |local: &Local| !matches!(local, Local::Value { .. } | Local::Waiting(..) | Local::Closure(..));
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
    fn assigned_hint(&mut self, left: &Expr, scope: &Scope) -> Derived<Hint> {
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
    fn place(&mut self, expr: &Expr, scope: &Scope) -> Derived<Place> {
        match without_parens(expr) {
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

    fn at<'s>(&self, place: &Place, scope: &'s Scope) -> Option<&'s Value> {
        place.parts.iter().try_fold(&**scope.store.get(place.slot)?, |value, part| match (value, part) {
            (Value::Data(data), Part::Field(key)) => data.fields.get(key),
            (Value::List("tuple", list), Part::Field(key)) => list.get(key.parse::<usize>().ok()?),
            (Value::List("array" | "Vec" | "VecDeque", list), Part::Index(index)) => list.get(*index),
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
        let place = self.place(receiver, scope)?;
        let value = self.at(&place, scope).cloned();
        let mut value = self.or_not_evident(value, receiver, scope)?;
        if matches!(value, Value::Data(_)) {
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
                let sorted = super::conversions::in_order(std::mem::take(list));
                *list = self.or_not_evident(sorted, node, scope)?;
                Value::Unit
            }
            (Value::List("Vec" | "array", list), "sort_by_key", [function]) => {
                let mut keyed = Vec::new();
                for value in std::mem::take(list) {
                    keyed.push((self.called(function, vec![value.clone()], scope, &Hint::Unknown)?, value));
                }
                let sorted = super::conversions::in_order_of(keyed);
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
const CHANGES: [&str; 20] = [
    "clear",
    "dedup",
    "extend",
    "insert",
    "next",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "retain",
    "reverse",
    "sort",
    "sort_by_key",
    "sort_unstable",
    "swap",
    "truncate",
];

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
