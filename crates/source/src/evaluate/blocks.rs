//! Blocks → values: `let`, `if`, `match`, `return`, `?`.
//!
//! A name has one value. The exception is an idiom of `impl Default` and of functions that build a schema: the
//! statements of a block may complete the local of a `let mut` in the same block, by `local.field = value;` and
//! `schema.insert(key, value);`. All other mutation is left to a compiler: loops, `push`, `+=`, `&mut`.

use std::cell::Cell;
use std::rc::Rc;

use quote::ToTokens;
use serde_json::Value as Json;
use syn::{Block, Expr, ExprAssign, ExprMacro, ExprMethodCall, FnArg, Ident, Item, Macro, Pat, Stmt, Type};

use super::Evaluator;
use super::calls::changes_nothing;
use super::context::{Derived, Reported, Scope};
use super::items::Function;
use super::numbers::without_parens;
use super::values::{Hint, Local, Value, has_attributes, key_of, size_of};

/// The exit of an expression that has no value.
enum Exit {
    Reported,
    Return(Value),
}

impl From<Reported> for Exit {
    fn from(_: Reported) -> Self {
        Self::Reported
    }
}

/// The value of an expression that may leave its function.
type Run = Result<Value, Exit>;

/// Immutable locals of a block whose type only follows from their uses; the flag is `true` if one of these was
/// evaluated.
type Waiting<'b> = Vec<(&'b syn::Local, Rc<Cell<bool>>)>;

impl Evaluator<'_, '_> {
    /// The value of a function's body.
    pub fn body(&mut self, block: &Block, scope: &Scope, hint: &Hint) -> Derived<Value> {
        if has_attributes(block.to_token_stream()) {
            return self.cx.not_evident(block, scope);
        }
        returned(self.run_block(block, &mut scope.clone(), hint, hint))
    }

    /// The value of a closure's body.
    pub fn closure_body(&mut self, body: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        returned(self.deeper(body, scope, |evaluator| evaluator.run(body, scope, hint, hint)))
    }

    /// The value of an expression with blocks in it that do not leave the function.
    pub fn run_apart(&mut self, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        match self.run(expr, scope, hint, &Hint::Unknown) {
            Ok(value) => Ok(value),
            Err(Exit::Reported) => Err(Reported),
            Err(Exit::Return(_)) => self.cx.not_evident(expr, scope),
        }
    }

    /// The string that `fmt(&self, formatter)` writes.
    pub fn written_to(&mut self, function: &Function, value: Value) -> Derived<Option<String>> {
        let item = &function.item;
        let formatter = match item.sig.inputs.iter().collect::<Vec<_>>()[..] {
            [FnArg::Receiver(_), FnArg::Typed(formatter)] => &*formatter.pat,
            _ => return Ok(None),
        };
        let Pat::Ident(formatter) = formatter else { return Ok(None) };
        if item.block.stmts.is_empty() || !item.attrs.iter().all(changes_nothing) {
            return Ok(None);
        }
        let text = Rc::default();
        let mut inner = function.scope.clone();
        inner.hold(&quote::format_ident!("self"), value, false);
        inner.bind(&formatter.ident, Local::Formatter(Rc::clone(&text)));
        let body = |evaluator: &mut Self| evaluator.body(&item.block, &inner, &Hint::Unknown);
        let result = self.deeper(&item.sig.ident, &function.scope, body)?;
        Ok(matches!(result, Value::Result(Some(_))).then(|| text.take()))
    }

    /// Evaluates an expression once, in order with the expressions around it.
    fn run(&mut self, expr: &Expr, scope: &Scope, hint: &Hint, returned: &Hint) -> Run {
        match expr {
            Expr::Paren(inner) => self.run(&inner.expr, scope, hint, returned),
            Expr::Group(inner) => self.run(&inner.expr, scope, hint, returned),
            Expr::Block(inner) if inner.label.is_none() => self.deeper(expr, scope, |evaluator| {
                evaluator.run_block(&inner.block, &mut scope.within_block(), hint, returned)
            }),
            Expr::If(branch) => {
                self.deeper(expr, scope, |evaluator| evaluator.run_if(branch, scope, hint.unless_free(), returned))
            }
            Expr::Match(choice) => {
                self.deeper(expr, scope, |evaluator| evaluator.run_match(choice, scope, hint.unless_free(), returned))
            }
            Expr::Return(left) => Err(Exit::Return(match &left.expr {
                Some(value) => self.run(value, scope, returned, returned)?,
                None => Value::Unit,
            })),
            Expr::Try(tried) => {
                let hint = Hint::List(Box::new(hint.unless_free().clone()));
                match self.run(&tried.expr, scope, &hint, returned)? {
                    Value::Option(Some(value)) | Value::Result(Some(value)) => Ok(*value),
                    failed @ (Value::Option(None) | Value::Result(None)) => Err(Exit::Return(failed)),
                    _ => Ok(self.cx.not_evident(tried, scope)?),
                }
            }
            Expr::Macro(call) if is_write(&call.mac) => {
                let written = self.written_by(&call.mac, expr, scope)?;
                let (formatter, text) = self.cx.or_not_evident(written, expr, scope)?;
                Ok(self.write(&formatter, &text, scope)?)
            }
            Expr::MethodCall(call)
                if call.method == "write_str" && call.args.len() == 1 && scope.formatter(&call.receiver).is_some() =>
            {
                let text = self.text(&call.args[0], scope)?;
                Ok(self.write(&call.receiver, &text, scope)?)
            }
            _ => Ok(self.evaluate(expr, scope, hint)?),
        }
    }

    fn run_if(&mut self, branch: &syn::ExprIf, scope: &Scope, hint: &Hint, returned: &Hint) -> Run {
        let mut inner = scope.within_block();
        if self.condition(&branch.cond, &mut inner)? {
            return self.run_block(&branch.then_branch, &mut inner, hint, returned);
        }
        match &branch.else_branch {
            Some((_, other)) => self.run(other, scope, hint, returned),
            None => Ok(Value::Unit),
        }
    }

    fn run_match(&mut self, choice: &syn::ExprMatch, scope: &Scope, hint: &Hint, returned: &Hint) -> Run {
        let value = self.run(&choice.expr, scope, &Hint::Unknown, returned)?;
        for arm in &choice.arms {
            let mut inner = scope.within_block();
            if self.matches(&arm.pat, &value, &mut inner)? {
                return self.run(&arm.body, &inner, hint, returned);
            }
        }
        Ok(self.cx.not_evident(choice, scope)?)
    }

    /// Appends to the output of a `fmt`.
    fn write(&mut self, formatter: &Expr, text: &str, scope: &Scope) -> Derived<Value> {
        let written = scope.formatter(formatter).map(|written| written.borrow_mut().push_str(text));
        self.cx.or_not_evident(written, formatter, scope)?;
        Ok(Value::Result(Some(Box::new(Value::Unit))))
    }

    /// `true` if a condition holds; `let` bindings in it are added to the scope.
    pub fn condition(&mut self, condition: &Expr, scope: &mut Scope) -> Derived<bool> {
        match condition {
            Expr::Let(binding) => {
                let value = self.run_apart(&binding.expr, scope, &Hint::Unknown)?;
                self.matches(&binding.pat, &value, scope)
            }
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
                Ok(self.condition(&binary.left, scope)? && self.condition(&binary.right, scope)?)
            }
            _ => match self.run_apart(condition, scope, &Hint::Unknown)? {
                Value::Bool(holds) => Ok(holds),
                _ => self.cx.not_evident(condition, scope),
            },
        }
    }

    /// The value of a block with this scope.
    fn run_block(&mut self, block: &Block, scope: &mut Scope, hint: &Hint, returned: &Hint) -> Run {
        self.bind_constants(block, scope)?;
        let mut waiting = Vec::new();
        let result = self.run_statements(&block.stmts, scope, hint, returned, &mut waiting);
        match waiting.iter().find(|(_, evaluated)| !evaluated.get()) {
            Some((unknown, _)) if !matches!(result, Err(Exit::Reported)) => Ok(self.cx.not_evident(unknown, scope)?),
            _ => result,
        }
    }

    fn run_statements<'b>(
        &mut self,
        statements: &'b [Stmt],
        scope: &mut Scope,
        hint: &Hint,
        returned: &Hint,
        waiting: &mut Waiting<'b>,
    ) -> Run {
        // The local at the end of the block has the type that is expected of the block.
        let last = match statements.last() {
            Some(Stmt::Expr(Expr::Path(path), None)) => path.path.get_ident(),
            _ => None,
        };
        let last = statements.iter().rposition(|statement| {
            matches!(statement, Stmt::Local(local) if last.is_some() && bound(local).map(|(ident, _)| ident) == last)
        });
        for (index, statement) in statements.iter().enumerate() {
            let ends = index + 1 == statements.len();
            match statement {
                Stmt::Local(local) => {
                    let hint = if last == Some(index) { hint } else { &Hint::Unknown };
                    self.bind_local(local, hint, scope, returned, waiting)?;
                }
                Stmt::Item(_) => {}
                Stmt::Expr(expr, None) if ends => return self.run(expr, scope, hint, returned),
                Stmt::Expr(expr, _) => self.run_statement(expr, scope, returned)?,
                Stmt::Macro(statement) => {
                    let call = Expr::Macro(ExprMacro { attrs: Vec::new(), mac: statement.mac.clone() });
                    if ends && statement.semi_token.is_none() {
                        return self.run(&call, scope, hint, returned);
                    }
                    self.run_statement(&call, scope, returned)?;
                }
            }
        }
        Ok(Value::Unit)
    }

    fn run_statement(&mut self, expr: &Expr, scope: &mut Scope, returned: &Hint) -> Result<(), Exit> {
        match expr {
            Expr::Assign(assign) => Ok(self.assign(assign, scope)?),
            Expr::MethodCall(call) if call.method == "insert" => Ok(self.insert(call, scope)?),
            _ => self.run(expr, scope, &Hint::Unknown, returned).map(drop),
        }
    }

    /// Evaluates `local.field = value;`.
    fn assign(&mut self, assign: &ExprAssign, scope: &mut Scope) -> Derived<()> {
        let place = field(&assign.left);
        let (local, keys) = self.cx.or_not_evident(place, &assign.left, scope)?;
        let hint = match field_of(scope.local_mut(local), &keys[..keys.len() - 1]) {
            Some(Value::Data(data)) => data.field_type(&keys[keys.len() - 1]),
            _ => return self.cx.not_evident(&assign.left, scope),
        };
        let value = self.evaluate(&assign.right, scope, &hint)?;
        let changed = field_of(scope.local_mut(local), &keys).map(|field| *field = value);
        self.cx.or_not_evident(changed, &assign.left, scope)?;
        // The whole value may have been copied.
        self.cx.steps += scope.local_mut(local).map_or(0, |whole| size_of(whole)) / 16;
        Ok(())
    }

    /// Evaluates `schema.insert(key, value);` and `schema.ensure_object().insert(key, value);`.
    fn insert(&mut self, call: &ExprMethodCall, scope: &mut Scope) -> Derived<()> {
        let schema = match without_parens(&call.receiver) {
            Expr::MethodCall(inner) if inner.method == "ensure_object" => &inner.receiver,
            _ => &call.receiver,
        };
        let (Some(schema), [Some(key), Some(new), None]) = (ident(schema), [0, 1, 2].map(|at| call.args.get(at)))
        else {
            return self.cx.not_evident(call, scope);
        };
        if self.cx.shadows.may_be_of_own_trait("insert", scope.module) {
            return self.cx.not_evident(call, scope);
        }
        let key = self.text(key, scope)?;
        let value = self.evaluate(new, scope, &Hint::Json)?;
        let value = self.serialized(value, call, scope)?;
        let inserted = match scope.local_mut(schema) {
            Some(Value::Json(Json::Object(object))) => Some(object.insert(key, value)),
            _ => None,
        };
        self.cx.or_not_evident(inserted, call, scope).map(drop)
    }

    /// Constants of a block are in scope from its start, and see neither locals nor parameters.
    fn bind_constants(&mut self, block: &Block, scope: &mut Scope) -> Derived<()> {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        let mut constants = Vec::new();
        for item in items {
            match item {
                Item::Const(constant) => constants.push(constant),
                _ => return self.cx.not_evident(item, scope),
            }
        }
        let mut inner = Scope::of(scope.module);
        let outer = scope.locals.iter().filter(|(_, local)| matches!(local, Local::Constant(..) | Local::Open));
        Rc::make_mut(&mut inner.locals).extend(outer.map(|(name, local)| (name.clone(), local.clone())));
        // A constant that is declared further down is not known yet.
        constants.iter().for_each(|constant| inner.bind(&constant.ident, Local::Open));
        for constant in constants {
            let ty = Box::new(((*constant.ty).clone(), inner.clone()));
            let local = Local::Constant(constant.expr.clone(), inner.clone(), ty);
            inner.bind(&constant.ident, local.clone());
            scope.bind(&constant.ident, local);
        }
        Ok(())
    }

    fn bind_local<'b>(
        &mut self,
        local: &'b syn::Local,
        hint: &Hint,
        scope: &mut Scope,
        returned: &Hint,
        waiting: &mut Waiting<'b>,
    ) -> Result<(), Exit> {
        let (pattern, ty) = untyped(&local.pat);
        let ty = ty.map(|ty| Hint::exactly((ty.clone(), scope.clone())));
        let init = self.cx.or_not_evident(local.init.as_ref(), local, scope)?;
        let Some((ident, mutable)) = bound(local) else {
            let value = self.run(&init.expr, scope, &ty.unwrap_or(Hint::Unknown), returned)?;
            let mut bound = scope.clone();
            if self.matches(pattern, &value, &mut bound)? {
                *scope = bound;
                return Ok(());
            }
            if let Some((_, other)) = &init.diverge {
                self.run(other, scope, &Hint::Unknown, returned)?;
            }
            return Ok(self.cx.not_evident(local, scope)?);
        };
        if let (false, Expr::Closure(closure)) = (mutable, without_parens(&init.expr)) {
            scope.bind(ident, Local::Closure(Rc::new(closure.clone()), scope.clone()));
            return Ok(());
        }
        let mut left = None;
        let hint = ty.as_ref().unwrap_or(hint);
        let value = self.if_needed(|evaluator| match evaluator.run(&init.expr, scope, hint, returned) {
            Ok(value) => Ok(value),
            Err(Exit::Reported) => Err(Reported),
            Err(exit) => {
                left = Some(exit);
                Ok(Value::Unit)
            }
        });
        match (left, value) {
            (Some(exit), _) => return Err(exit),
            // A use may determine its type.
            (None, Value::Unknown(_)) if !mutable => {
                // A literal has no effect, independent of its type.
                let evaluated = Rc::new(Cell::new(matches!(&*init.expr, Expr::Lit(_))));
                scope.bind(ident, Local::Waiting(init.expr.clone(), scope.clone(), Rc::clone(&evaluated)));
                waiting.push((local, evaluated));
            }
            (None, value) => {
                let value = self.cx.known(value)?;
                scope.hold(ident, value, mutable);
            }
        }
        Ok(())
    }
}

/// The value that a function or closure returns.
fn returned(run: Run) -> Derived<Value> {
    match run {
        Ok(value) | Err(Exit::Return(value)) => Ok(value),
        Err(Exit::Reported) => Err(Reported),
    }
}

/// A local, and the path to a field of it.
fn field(expr: &Expr) -> Option<(&Ident, Vec<String>)> {
    let Expr::Field(last) = without_parens(expr) else { return None };
    let (local, mut keys) = match ident(&last.base) {
        Some(local) => (local, Vec::new()),
        None => field(&last.base)?,
    };
    keys.push(key_of(&last.member));
    Some((local, keys))
}

fn field_of<'v>(value: Option<&'v mut Value>, keys: &[String]) -> Option<&'v mut Value> {
    keys.iter().try_fold(value?, |value, key| match value {
        Value::Data(data) => data.fields.get_mut(key),
        _ => None,
    })
}

fn ident(expr: &Expr) -> Option<&Ident> {
    match without_parens(expr) {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

fn is_write(mac: &Macro) -> bool {
    mac.path.segments.last().is_some_and(|last| last.ident == "write" || last.ident == "writeln")
}

/// The name that a `let` binds, and `true` if it is `mut`.
fn bound(local: &syn::Local) -> Option<(&Ident, bool)> {
    match untyped(&local.pat).0 {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
            Some((&ident.ident, ident.mutability.is_some()))
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
