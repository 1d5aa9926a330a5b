//! Infers the types of the expressions in a function body.
//!
//! Like rustc, but lenient: expected types go in, found types come out, and the two are unified. An expression of
//! unknown type gets a variable, which may become any type.

use std::rc::Rc;
use std::sync::Arc;

use quote::ToTokens;
use syn::{
    BinOp, Block, Expr, ExprClosure, ExprMatch, ExprStruct, FnArg, Label, Lit, Local, Member, Pat, Path, QSelf,
    ReturnType, Signature, Stmt,
};

use super::function::{Analysis, Call, Fact, Unseen, Why};
use super::lower::Bounds;
use super::raw::HOLE;
use super::types::{Atom, Decl, Origin, Type, Vars};
use super::unseen::Suspect;
use super::world::{Env, World, inferred};
use crate::resolve::modules::name;
use opctl_model::diagnostic::{SourceFile, Span};

pub struct Body<'w, 'm> {
    pub world: &'w World<'m>,
    pub vars: Vars,
    pub env: Env,
    pub bounds: Bounds,
    pub file: Arc<SourceFile>,
    /// Variables in scope, inner ones last.
    pub locals: Vec<(String, Type)>,
    /// Types of `return` values: of the function, and of closures and `async` blocks in it.
    returns: Vec<Type>,
    /// Types of `break` values, with the labels of their loops and blocks.
    breaks: Vec<(Option<String>, Type)>,
    pub facts: Vec<Fact>,
    pub calls: Vec<Call>,
    pub unseen: Vec<Unseen>,
    pub suspects: Vec<Suspect>,
    /// HTTP requests that are sent: the place, the function that sends it, and the request's type.
    pub sent: Vec<(Span, String, Type)>,
    /// The next call is awaited.
    pub is_awaited: bool,
    /// Origin of the parameters of closures in the arguments of an unknown call.
    pub closures_take: Option<Origin>,
    /// Number of macro expansions around the current expression.
    pub expanded: usize,
    depth: usize,
}

/// Maximum depth of expressions.
const DEEP: usize = 200;

impl<'w, 'm> Body<'w, 'm> {
    pub fn new(world: &'w World<'m>, vars: Vars, env: Env, bounds: Bounds) -> Self {
        let file = world.modules.module(env.module).file.clone();
        Self {
            world,
            vars,
            env,
            bounds,
            file,
            locals: Vec::new(),
            returns: Vec::new(),
            breaks: Vec::new(),
            facts: Vec::new(),
            calls: Vec::new(),
            unseen: Vec::new(),
            suspects: Vec::new(),
            sent: Vec::new(),
            is_awaited: false,
            closures_take: None,
            expanded: 0,
            depth: 0,
        }
    }

    /// Binds the parameters of a function to the types of the arguments.
    pub fn receive(&mut self, signature: &Signature, arguments: &[Type]) {
        let mut arguments = arguments.iter();
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(_) => {
                    let itself = self.env.itself.clone().unwrap_or(Type::Unknown);
                    self.locals.push(("self".into(), itself));
                }
                FnArg::Typed(typed) => {
                    let ty = arguments.next().cloned().unwrap_or(Type::Unknown);
                    self.bind(&typed.pat, &ty);
                }
            }
        }
    }

    pub fn run(mut self, block: &Block, result: &Type) -> Analysis {
        self.returns.push(result.clone());
        let found = self.block(block, Some(result));
        match block.stmts.last() {
            Some(last) => self.coerce_at(last, &found, result),
            None => self.coerce(&found, result),
        }
        self.finish(result)
    }

    pub fn evaluate(mut self, value: &Expr, ty: &Type) -> Analysis {
        self.returns.push(ty.clone());
        let found = self.expr(value, Some(ty));
        self.coerce_at(value, &found, ty);
        // For strings, the value is more precise than the type.
        let is_text = matches!(self.vars.known(&found), Type::Tuple(_)) || !self.vars.atoms(&found).is_empty();
        self.finish(if is_text { &found } else { ty })
    }

    fn finish(mut self, result: &Type) -> Analysis {
        self.world.settle(&mut self.vars);
        self.report_suspects();
        self.add_sent();
        let Self { vars, mut facts, mut calls, unseen, .. } = self;
        for fact in &mut facts {
            fact.kind = vars.export(&fact.kind);
            fact.reach = vars.export(&fact.reach);
            fact.when = fact.when.as_ref().map(|when| vars.export(when));
        }
        for call in &mut calls {
            call.types.iter_mut().for_each(|ty| *ty = vars.export(ty));
        }
        Analysis { facts, calls, unseen, result: Some(vars.export(result)) }
    }

    pub fn span(&self, node: &impl syn::spanned::Spanned) -> Span {
        crate::resolve::modules::span_of(&self.file, node)
    }

    /// Checks an expression that is expected to have this type.
    pub fn check(&mut self, expr: &Expr, ty: &Type) {
        let found = self.expr(expr, Some(ty));
        self.coerce_at(expr, &found, ty);
    }

    pub fn coerce_at(&mut self, at: &impl syn::spanned::Spanned, from: &Type, to: &Type) {
        self.become_object(at, from, to);
        self.coerce(from, to);
    }

    /// A value that becomes a trait object: any function of the trait may be called on it.
    fn become_object(&mut self, at: &impl syn::spanned::Spanned, from: &Type, to: &Type) {
        let (from, to) = (self.vars.known(from), self.vars.known(to));
        let (Type::Named(of, _), Type::Named(object, _)) = (&from, &to) else { return };
        if of == object || !self.world.is_trait(*object) {
            return;
        }
        for id in self.world.functions_of_trait(*object) {
            let function = self.world.function_of(id);
            // Type parameters of the trait itself are not known here.
            if function.parameters().len() == 1 || function.body().is_none() {
                let span = self.span(at);
                self.calls.push(Call { id, types: vec![from.clone()], span });
            }
        }
    }

    /// Unifies a value with an expected type. If an iterator is expected, any type with `into_iter` is accepted.
    pub fn coerce(&mut self, from: &Type, to: &Type) {
        let known = &self.world.known;
        let (from, to) = (self.vars.known(from), self.vars.known(to));
        if self.vars.is_free(&from) && self.vars.origin(&from) != Origin::Unknown {
            self.admit_any_kind(&to);
        }
        match (&from, &to) {
            (Type::Named(from_decl, _), Type::Named(to_decl, _))
                if from_decl != to_decl && *to_decl == known.iterator =>
            {
                let items = self.items_of(&from);
                self.vars.unify(&Type::Named(*to_decl, Rc::from([items])), &to);
            }
            // A value that is known as a string gains nothing from the type `String`.
            (Type::Var(_), Type::Named(..)) if !self.vars.is_free(&from) => {}
            _ => self.vars.unify(&from, &to),
        }
    }

    /// The type of the elements that a `for` iterates over.
    pub fn items_of(&mut self, ty: &Type) -> Type {
        let iterator = self.result_of(ty, "into_iter");
        match self.vars.known(&iterator) {
            Type::Named(decl, types) if decl == self.world.known.iterator => types[0].clone(),
            iterator if self.vars.is_free(&iterator) && self.vars.origin(&iterator) != Origin::Unknown => {
                self.part_of(&iterator)
            }
            iterator => self.world.project(&mut self.vars, &iterator, "Item"),
        }
    }

    /// The type of `.await`.
    pub fn awaited(&mut self, ty: &Type) -> Type {
        let known = self.vars.known(ty);
        let output = self.part_of(&known);
        let future = self.world.future_of(output.clone());
        match known {
            Type::Named(decl, _) if decl != self.world.known.future => {
                let found = self.result_of(&known, "into_future");
                self.vars.unify(&found, &future);
            }
            known => self.vars.unify(&known, &future),
        }
        output
    }

    pub fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr, None);
        }
    }

    pub fn expr(&mut self, expr: &Expr, expected: Option<&Type>) -> Type {
        if self.depth > DEEP {
            if self.world.may_ask(self.env.module, &expr.to_token_stream()) {
                let span = self.span(expr);
                self.unseen.push(Unseen { span, why: Why::Syntax });
            }
            return self.vars.fresh();
        }
        self.depth += 1;
        let ty = self.expr_unchecked(expr, expected);
        self.depth -= 1;
        ty
    }

    fn expr_unchecked(&mut self, expr: &Expr, expected: Option<&Type>) -> Type {
        // Of the expressions between a call and its `.await`, only the call itself is awaited.
        if !matches!(expr, Expr::Call(_) | Expr::MethodCall(_) | Expr::Paren(_) | Expr::Group(_)) {
            self.is_awaited = false;
        }
        match expr {
            Expr::Paren(inner) => self.expr(&inner.expr, expected),
            Expr::Group(inner) => self.expr(&inner.expr, expected),
            Expr::Reference(inner) => {
                let ty = self.expr(&inner.expr, expected);
                if inner.mutability.is_some() {
                    self.vars.forget_text(&ty);
                }
                ty
            }
            Expr::RawAddr(inner) => self.expr(&inner.expr, expected),
            Expr::Unary(inner) => self.expr(&inner.expr, expected),
            Expr::Block(inner) if inner.label.is_some() => {
                let result = self.vars.fresh();
                self.expect(&result, expected);
                self.breaks.push((label(&inner.label), result.clone()));
                let found = self.block(&inner.block, Some(&result));
                self.breaks.pop();
                self.coerce(&found, &result);
                result
            }
            Expr::Block(inner) => self.block(&inner.block, expected),
            Expr::Unsafe(inner) => self.block(&inner.block, expected),
            Expr::Const(inner) => self.block(&inner.block, expected),
            Expr::TryBlock(inner) => self.block(&inner.block, None),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => self.vars.set(Atom::Text(text.value().into())),
                _ => self.vars.fresh_from(Origin::Other),
            },
            Expr::Path(path) => self.path(path),
            Expr::Call(call) => self.call_expr(call, expected),
            Expr::MethodCall(call) => self.method_call(call, expected),
            Expr::Macro(call) => self.macro_call(&call.mac, expected),
            Expr::Field(field) => {
                let base = self.expr(&field.base, None);
                let wanted = member(&field.member);
                self.world.field(&mut self.vars, &base, &wanted).unwrap_or_else(|| self.part_of(&base))
            }
            Expr::Struct(literal) => self.struct_literal(literal, expected),
            Expr::Tuple(tuple) => {
                let expected = match expected.map(|ty| self.vars.known(ty)) {
                    Some(Type::Tuple(types)) => types.to_vec(),
                    _ => Vec::new(),
                };
                let types = tuple.elems.iter().enumerate();
                Type::Tuple(types.map(|(index, value)| self.expr(value, expected.get(index))).collect())
            }
            Expr::Array(array) => {
                let element = self.vars.fresh();
                let list = self.world.list_of(element.clone());
                self.expect(&list, expected);
                array.elems.iter().for_each(|value| self.check(value, &element));
                list
            }
            Expr::Repeat(repeat) => {
                let element = self.expr(&repeat.expr, None);
                self.world.list_of(element)
            }
            Expr::Index(index) => {
                let base = self.expr(&index.expr, None);
                self.expr(&index.index, None);
                match &*index.index {
                    Expr::Range(_) => base,
                    _ => self.result_of(&base, "index"),
                }
            }
            Expr::Await(inner) => {
                let expected = expected.map(|ty| self.world.future_of(ty.clone()));
                self.is_awaited = true;
                let future = self.expr(&inner.base, expected.as_ref());
                self.awaited(&future)
            }
            Expr::Try(inner) => {
                let (value, error) = (self.vars.fresh(), self.vars.fresh());
                self.expect(&value, expected);
                let result = Type::Named(self.world.known.result, Rc::from([value, error]));
                let found = self.expr(&inner.expr, Some(&result));
                match self.vars.known(&found) {
                    Type::Named(decl, types) if !types.is_empty() && decl != self.world.known.future => {
                        types[0].clone()
                    }
                    found => self.part_of(&found),
                }
            }
            Expr::Closure(closure) => self.closure(closure, expected),
            Expr::Async(inner) => {
                let output = self.vars.fresh();
                let future = self.world.future_of(output.clone());
                self.expect(&future, expected);
                self.returns.push(output.clone());
                let found = self.block(&inner.block, Some(&output));
                self.vars.unify(&found, &output);
                self.returns.pop();
                future
            }
            Expr::Match(choice) => self.match_expr(choice, expected),
            Expr::If(branch) => {
                let result = self.vars.fresh();
                self.expect(&result, expected);
                let scope = self.locals.len();
                self.expr(&branch.cond, None);
                let found = self.block(&branch.then_branch, Some(&result));
                self.locals.truncate(scope);
                if let Some((_, other)) = &branch.else_branch {
                    let is_known = !self.vars.is_free(&found);
                    self.vars.unify(&found, &result);
                    let is_whole = self.branch(other, &result) && is_known;
                    self.join(&result, is_whole);
                }
                result
            }
            Expr::Let(condition) => {
                let value = self.expr(&condition.expr, None);
                self.bind(&condition.pat, &value);
                self.vars.fresh()
            }
            Expr::While(looped) => {
                let scope = self.locals.len();
                self.expr(&looped.cond, None);
                self.looped(&looped.label, &looped.body);
                self.locals.truncate(scope);
                Type::unit()
            }
            Expr::ForLoop(looped) => {
                let scope = self.locals.len();
                let over = self.expr(&looped.expr, None);
                let item = self.items_of(&over);
                self.bind(&looped.pat, &item);
                self.looped(&looped.label, &looped.body);
                self.locals.truncate(scope);
                Type::unit()
            }
            Expr::Loop(looped) => self.looped(&looped.label, &looped.body),
            Expr::Return(returned) => {
                let result = self.returns.last().cloned().unwrap_or(Type::Unknown);
                if let Some(value) = &returned.expr {
                    self.check(value, &result);
                }
                self.vars.fresh()
            }
            Expr::Break(broken) => {
                let named = broken.label.as_ref().map(|label| label.ident.to_string());
                let is_it = |(label, _): &&(Option<String>, Type)| named.is_none() || *label == named;
                let result = self.breaks.iter().rev().find(is_it).map_or(Type::Unknown, |(_, ty)| ty.clone());
                if let Some(value) = &broken.expr {
                    self.check(value, &result);
                }
                self.vars.fresh()
            }
            Expr::Assign(assign) => {
                let left = self.expr(&assign.left, None);
                self.check(&assign.right, &left);
                if let Expr::Field(field) = &*assign.left {
                    let base = self.expr(&field.base, None);
                    self.admit_any_kind(&base);
                }
                Type::unit()
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::Cast(cast) => {
                self.expr(&cast.expr, None);
                self.lower(&cast.ty)
            }
            Expr::Range(range) => {
                let ends = range.start.iter().chain(&range.end);
                self.exprs(ends.map(|end| &**end));
                self.vars.fresh()
            }
            Expr::Yield(yielded) => {
                self.exprs(yielded.expr.as_deref());
                self.vars.fresh()
            }
            Expr::Verbatim(tokens) => {
                if self.world.may_ask(self.env.module, tokens) {
                    let span = self.span(expr);
                    self.unseen.push(Unseen { span, why: Why::Syntax });
                }
                self.vars.fresh()
            }
            _ => self.vars.fresh(),
        }
    }

    /// A long sum is nested on its left side, so it is flattened. A sum of strings is a string.
    fn binary(&mut self, mut binary: &syn::ExprBinary) -> Type {
        if let BinOp::AddAssign(_) = binary.op {
            let left = self.expr(&binary.left, None);
            self.vars.forget_text(&left);
            self.expr(&binary.right, None);
            return Type::unit();
        }
        let mut rights = Vec::new();
        let mut is_sum = true;
        loop {
            rights.push(&*binary.right);
            is_sum &= matches!(binary.op, BinOp::Add(_));
            match &*binary.left {
                Expr::Binary(left) => binary = left,
                left => break rights.push(left),
            }
        }
        let parts: Vec<Type> = rights.into_iter().rev().map(|part| self.expr(part, None)).collect();
        match is_sum && !self.vars.atoms(&parts[0]).is_empty() {
            true => self.joined(&parts),
            false => self.vars.fresh_from(Origin::Other),
        }
    }

    /// The concatenation of strings, with holes for those that are known only at run time.
    pub fn joined(&mut self, parts: &[Type]) -> Type {
        let text: String =
            parts.iter().map(|part| self.text(part).unwrap_or_else(|| HOLE.into()).to_string()).collect();
        self.vars.set(text_or_pattern(text))
    }

    pub fn expect(&mut self, ty: &Type, expected: Option<&Type>) {
        if let Some(expected) = expected {
            self.vars.unify(ty, expected);
        }
    }

    pub fn lower(&mut self, ty: &syn::Type) -> Type {
        self.world.lower(&mut self.vars, &self.env, ty, &mut inferred)
    }

    pub fn block(&mut self, block: &Block, expected: Option<&Type>) -> Type {
        let module = self.env.module;
        if let Some(inner) = self.world.block(block) {
            self.env.module = inner;
        }
        let ty = self.statements(&block.stmts, expected);
        self.env.module = module;
        ty
    }

    pub fn statements(&mut self, statements: &[Stmt], expected: Option<&Type>) -> Type {
        let scope = self.locals.len();
        let result = self.statements_here(statements, expected);
        self.locals.truncate(scope);
        result
    }

    /// Statements whose variables remain in scope after them.
    pub fn statements_here(&mut self, statements: &[Stmt], expected: Option<&Type>) -> Type {
        let mut result = Type::unit();
        for (index, statement) in statements.iter().enumerate() {
            let is_last = index + 1 == statements.len();
            result = match statement {
                Stmt::Local(local) => {
                    if self.keeps(&local.attrs) {
                        self.local(local);
                    }
                    Type::unit()
                }
                Stmt::Item(_) => Type::unit(),
                Stmt::Expr(expr, semicolon) => {
                    if !self.keeps(attributes(expr)) {
                        continue;
                    }
                    let found = self.expr(expr, expected.filter(|_| is_last && semicolon.is_none()));
                    match (expr, semicolon) {
                        (_, None) => found,
                        (Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Loop(_), _) => self.vars.fresh(),
                        _ => Type::unit(),
                    }
                }
                Stmt::Macro(call) => {
                    if !self.keeps(&call.attrs) {
                        continue;
                    }
                    let found = self.macro_call(&call.mac, expected.filter(|_| is_last));
                    // The macro may panic.
                    if call.semi_token.is_none() { found } else { self.vars.fresh() }
                }
            };
        }
        result
    }

    fn keeps(&self, attributes: &[syn::Attribute]) -> bool {
        attributes.is_empty() || self.world.modules.keeps(self.env.module, attributes)
    }

    fn local(&mut self, local: &Local) {
        let ty = match &local.pat {
            Pat::Type(typed) => self.lower(&typed.ty),
            _ => self.vars.fresh(),
        };
        if let Some(init) = &local.init {
            self.check(&init.expr, &ty);
            if let Some((_, diverge)) = &init.diverge {
                self.expr(diverge, None);
            }
        }
        self.bind(&local.pat, &ty);
    }

    fn looped(&mut self, named: &Option<Label>, body: &Block) -> Type {
        let result = self.vars.fresh();
        self.breaks.push((label(named), result.clone()));
        self.block(body, None);
        self.breaks.pop();
        result
    }

    fn closure(&mut self, closure: &ExprClosure, expected: Option<&Type>) -> Type {
        let scope = self.locals.len();
        let origin = self.closures_take.take().unwrap_or_default();
        let arguments: Rc<[Type]> = closure.inputs.iter().map(|_| self.vars.fresh_from(origin)).collect();
        let output = self.vars.fresh();
        let result = match closure.asyncness {
            Some(_) => self.world.future_of(output.clone()),
            None => output.clone(),
        };
        let ty = Type::Fn(arguments.clone(), Rc::new(result));
        self.expect(&ty, expected);
        for (pattern, argument) in closure.inputs.iter().zip(arguments.iter()) {
            self.bind(pattern, argument);
        }
        if let ReturnType::Type(_, written) = &closure.output {
            let written = self.lower(written);
            self.vars.unify(&written, &output);
        }
        self.returns.push(output.clone());
        self.check(&closure.body, &output);
        self.returns.pop();
        self.locals.truncate(scope);
        ty
    }

    fn match_expr(&mut self, choice: &ExprMatch, expected: Option<&Type>) -> Type {
        let value = self.expr(&choice.expr, None);
        let result = self.vars.fresh();
        self.expect(&result, expected);
        let mut is_whole = true;
        for arm in &choice.arms {
            if self.keeps(&arm.attrs) {
                let scope = self.locals.len();
                self.bind(&arm.pat, &value);
                is_whole &= self.branch(&arm.body, &result);
                self.locals.truncate(scope);
            }
        }
        self.join(&result, is_whole);
        result
    }

    /// Adds one of several possible values. Returns `true` if something is known about it.
    fn branch(&mut self, expr: &Expr, result: &Type) -> bool {
        let found = self.expr(expr, Some(result));
        let ends = matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
        let is_known = ends || !self.vars.is_free(&found);
        self.coerce_at(expr, &found, result);
        is_known
    }

    /// If a string may also have an unknown value, it may be any string.
    fn join(&mut self, result: &Type, is_whole: bool) {
        if !is_whole && !self.vars.atoms(result).is_empty() {
            self.vars.unify(result, &Type::set([Atom::SomeNamespace]));
        }
    }

    fn struct_literal(&mut self, literal: &ExprStruct, expected: Option<&Type>) -> Type {
        let made = self.constructed(literal.qself.as_ref(), &literal.path);
        let Some((ty, fields)) = made else {
            self.exprs(literal.fields.iter().map(|field| &field.expr).chain(literal.rest.as_deref()));
            return self.made_elsewhere(&literal.path);
        };
        self.expect(&ty, expected);
        let mut found = Vec::new();
        for given in &literal.fields {
            let wanted = member(&given.member);
            let field = fields.iter().find(|(name, _)| *name == wanted).map(|(_, field)| field);
            let value = self.expr(&given.expr, field);
            if let Some(field) = field {
                self.coerce_at(&given.expr, &value, field);
            }
            found.push((wanted, value));
        }
        self.kind_of_literal(&ty, &found);
        if let Some(rest) = &literal.rest {
            self.check(rest, &ty);
        }
        ty
    }

    /// The type of a struct literal of which only the path is known.
    fn made_elsewhere(&mut self, path: &Path) -> Type {
        let is_type = |segment: &syn::PathSegment| segment.ident.to_string().starts_with(char::is_uppercase);
        let mut path = path.clone();
        if path.segments.iter().rev().nth(1).is_some_and(is_type) {
            // The last segment is a variant, and the path before it is its enum.
            path.segments.pop();
            path.segments.pop_punct();
        }
        match self.world.lower_path(&mut self.vars, &self.env, None, &path, &mut inferred) {
            Type::Unknown => self.vars.fresh(),
            ty => ty,
        }
    }

    /// The struct or variant that a path names: its type, and the types of its fields.
    pub fn constructed(&mut self, qself: Option<&QSelf>, path: &Path) -> Option<(Type, Vec<(String, Type)>)> {
        let (decl, ty, variant) = self.constructor(qself, path)?;
        let shapes = self.world.shapes(decl);
        let shape = shapes.iter().find(|shape| shape.variant == variant)?;
        let Type::Named(_, types) = &ty else { return None };
        if let Some((parameter, says)) = &shape.when
            && let Some(at) = self.world.declaration(decl).generics.iter().position(|name| name == parameter)
        {
            self.vars.unify(&types[at], &Type::set([Atom::Text(says.as_str().into())]));
        }
        let fields = self.world.fields(&mut self.vars, decl, types, shape);
        Some((ty, fields))
    }

    pub fn bind(&mut self, pattern: &Pat, ty: &Type) {
        match pattern {
            Pat::Ident(binding) => {
                if let Some((_, inner)) = &binding.subpat {
                    self.bind(inner, ty);
                }
                self.locals.push((name(&binding.ident), ty.clone()));
            }
            Pat::Type(typed) => {
                let written = self.lower(&typed.ty);
                self.vars.unify(&written, ty);
                self.bind(&typed.pat, &written);
            }
            Pat::Reference(inner) => self.bind(&inner.pat, ty),
            Pat::Paren(inner) => self.bind(&inner.pat, ty),
            Pat::Guard(guarded) => {
                self.bind(&guarded.pat, ty);
                self.expr(&guarded.guard, None);
            }
            Pat::Or(cases) => {
                // All cases bind the same names; later ones shadow earlier ones.
                cases.cases.iter().for_each(|case| self.bind(case, ty));
            }
            Pat::Tuple(tuple) => {
                let types = match self.vars.known(ty) {
                    Type::Tuple(types) => types,
                    other => {
                        let types: Rc<[Type]> = tuple.elems.iter().map(|_| self.part_of(&other)).collect();
                        self.vars.unify(&other, &Type::Tuple(types.clone()));
                        types
                    }
                };
                self.bind_all(tuple.elems.iter().collect(), &types);
            }
            Pat::Slice(slice) => {
                let element = self.vars.fresh();
                let list = self.world.list_of(element.clone());
                self.vars.unify(&list, ty);
                for inner in &slice.elems {
                    match inner {
                        Pat::Ident(rest) if rest.subpat.is_some() => {
                            self.locals.push((name(&rest.ident), list.clone()))
                        }
                        inner => self.bind(inner, &element),
                    }
                }
            }
            Pat::TupleStruct(inner) => {
                let fields = match self.constructed(inner.qself.as_ref(), &inner.path) {
                    Some((whole, fields)) => {
                        self.vars.unify(&whole, ty);
                        fields.into_iter().map(|(_, ty)| ty).collect()
                    }
                    None => inner.elems.iter().map(|_| self.part_of(ty)).collect::<Vec<_>>(),
                };
                self.bind_all(inner.elems.iter().collect(), &fields);
            }
            Pat::Struct(inner) => {
                let made = self.constructed(inner.qself.as_ref(), &inner.path);
                if let Some((whole, _)) = &made {
                    self.vars.unify(whole, ty);
                }
                for field in &inner.fields {
                    let wanted = member(&field.member);
                    let known = made.iter().flat_map(|(_, fields)| fields).find(|(name, _)| *name == wanted);
                    let known = known.map(|(_, ty)| ty.clone());
                    let known = known.unwrap_or_else(|| self.part_of(ty));
                    self.bind(&field.pat, &known);
                }
            }
            _ => {}
        }
    }

    /// Binds a list of patterns, which may contain `..`.
    fn bind_all(&mut self, patterns: Vec<&Pat>, types: &[Type]) {
        let rest = patterns.iter().position(|pattern| matches!(pattern, Pat::Rest(_)));
        for (index, pattern) in patterns.iter().enumerate() {
            let at = match rest {
                Some(rest) if index > rest => (types.len() + index).checked_sub(patterns.len()),
                Some(rest) if index == rest => continue,
                _ => Some(index),
            };
            let ty = at.and_then(|at| types.get(at)).cloned().unwrap_or_else(|| self.vars.fresh());
            self.bind(pattern, &ty);
        }
    }

    /// `true` if a declaration is an enum with this variant.
    pub fn has_variant(&self, decl: Decl, wanted: &str) -> bool {
        self.world.shapes(decl).iter().any(|shape| shape.variant.as_deref() == Some(wanted))
    }
}

pub fn text_or_pattern(text: String) -> Atom {
    if text.contains(HOLE) { Atom::Pattern(text.into()) } else { Atom::Text(text.into()) }
}

fn label(label: &Option<Label>) -> Option<String> {
    label.as_ref().map(|label| label.name.ident.to_string())
}

fn member(member: &Member) -> String {
    match member {
        Member::Named(ident) => name(ident),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn attributes(expr: &Expr) -> &[syn::Attribute] {
    match expr {
        Expr::Async(expr) => &expr.attrs,
        Expr::Await(expr) => &expr.attrs,
        Expr::Block(expr) => &expr.attrs,
        Expr::Call(expr) => &expr.attrs,
        Expr::ForLoop(expr) => &expr.attrs,
        Expr::If(expr) => &expr.attrs,
        Expr::Macro(expr) => &expr.attrs,
        Expr::Match(expr) => &expr.attrs,
        Expr::MethodCall(expr) => &expr.attrs,
        Expr::Return(expr) => &expr.attrs,
        Expr::Try(expr) => &expr.attrs,
        _ => &[],
    }
}
