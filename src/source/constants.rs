//! Constants: what an expression in an attribute or a default is, where it can only be one thing.
//!
//! Literals, arithmetic, casts, `concat!`, constants and functions of the source, free and associated.

use std::rc::Rc;

use serde_json::{Value, json};
use syn::punctuated::Punctuated;
use syn::{BinOp, Block, Expr, ItemFn, Lit, Path, ReturnType, Stmt, Token, Type, UnOp};

use super::modules::{ModuleId, UsePath, name};
use super::resolve::{Namespace, Target, resolve};
use super::types::{Derived, Deriver, Scope, all};
use crate::diagnostic::Diagnostic;

/// A constant of a primitive type.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Integer(i128),
    Float(f64),
    Text(String),
    Bool(bool),
    Char(char),
}

impl Deriver<'_> {
    /// A string known at compile time: a literal, `concat!`, a constant.
    pub fn text(&mut self, expr: &Expr, scope: &Scope) -> Derived<String> {
        match self.constant(expr, scope)? {
            Constant::Text(text) => Ok(text),
            Constant::Char(letter) => Ok(letter.to_string()),
            Constant::Integer(number) => Ok(number.to_string()),
            Constant::Bool(value) => Ok(value.to_string()),
            Constant::Float(_) => self.not_constant(expr, scope),
        }
    }

    pub fn integer(&mut self, expr: &Expr, scope: &Scope) -> Derived<i128> {
        match self.constant(expr, scope)? {
            Constant::Integer(number) => Ok(number),
            _ => self.not_constant(expr, scope),
        }
    }

    /// A number as it stands in a schema.
    pub fn number(&mut self, expr: &Expr, scope: &Scope) -> Derived<Value> {
        match self.constant(expr, scope)? {
            Constant::Integer(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Ok(number.into()),
                (_, Ok(number)) => Ok(number.into()),
                _ => self.not_constant(expr, scope),
            },
            Constant::Float(number) => Ok(json!(number)),
            _ => self.not_constant(expr, scope),
        }
    }

    pub fn not_constant<T>(&mut self, expr: &Expr, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, expr);
        self.refuse(
            Diagnostic::error("OP014", "the value of this expression is not evident from the source")
                .at(span, "")
                .help("use a literal, or a constant made of literals"),
        )
    }

    pub fn constant(&mut self, expr: &Expr, scope: &Scope) -> Derived<Constant> {
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Ok(Constant::Text(text.value())),
                Lit::Bool(value) => Ok(Constant::Bool(value.value)),
                Lit::Char(letter) => Ok(Constant::Char(letter.value())),
                Lit::Byte(byte) => Ok(Constant::Integer(byte.value().into())),
                Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => {
                    let parsed = number.base10_digits().parse();
                    parsed.map(Constant::Float).or_else(|_| self.not_constant(expr, scope))
                }
                Lit::Int(number) => {
                    number.base10_parse().map(Constant::Integer).or_else(|_| self.not_constant(expr, scope))
                }
                // `to_value` of an `f32` is the nearest `f64`, digits and all.
                Lit::Float(number) if number.suffix() == "f32" => {
                    let parsed = number.base10_digits().parse::<f32>();
                    parsed.map(|number| Constant::Float(number.into())).or_else(|_| self.not_constant(expr, scope))
                }
                Lit::Float(number) => {
                    number.base10_digits().parse().map(Constant::Float).or_else(|_| self.not_constant(expr, scope))
                }
                _ => self.not_constant(expr, scope),
            },
            Expr::Paren(inner) => self.constant(&inner.expr, scope),
            Expr::Group(inner) => self.constant(&inner.expr, scope),
            Expr::Reference(inner) => self.constant(&inner.expr, scope),
            Expr::Block(block) => match only_expression(&block.block) {
                Some(inner) => self.constant(inner, scope),
                None => self.not_constant(expr, scope),
            },
            Expr::Unary(unary) => match (&unary.op, self.constant(&unary.expr, scope)?) {
                (UnOp::Neg(_), Constant::Integer(number)) => Ok(Constant::Integer(-number)),
                (UnOp::Neg(_), Constant::Float(number)) => Ok(Constant::Float(-number)),
                (UnOp::Not(_), Constant::Bool(value)) => Ok(Constant::Bool(!value)),
                _ => self.not_constant(expr, scope),
            },
            Expr::Binary(binary) => {
                let (left, right) = (self.constant(&binary.left, scope)?, self.constant(&binary.right, scope)?);
                arithmetic(&binary.op, left, right).map_or_else(|| self.not_constant(expr, scope), Ok)
            }
            Expr::Cast(cast) => {
                let to = match &*cast.ty {
                    Type::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
                    _ => String::new(),
                };
                match (self.constant(&cast.expr, scope)?, to.as_str()) {
                    (Constant::Integer(number), "f64") => Ok(Constant::Float(number as f64)),
                    (Constant::Integer(number), "f32") => Ok(Constant::Float(f64::from(number as f32))),
                    (Constant::Integer(number), to) if range_of(to).is_some_and(|range| range.contains(&number)) => {
                        Ok(Constant::Integer(number))
                    }
                    _ => self.not_constant(expr, scope),
                }
            }
            Expr::Macro(call) => self.constant_macro(expr, call, scope),
            Expr::Path(path) if path.qself.is_none() => self.constant_path(expr, &path.path, scope),
            Expr::MethodCall(call) if call.args.is_empty() && is_conversion(&call.method) => {
                self.constant(&call.receiver, scope)
            }
            _ => self.not_constant(expr, scope),
        }
    }

    fn constant_macro(&mut self, expr: &Expr, call: &syn::ExprMacro, scope: &Scope) -> Derived<Constant> {
        let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "concat" => {
                let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let parts = self.parsed(scope, parts)?;
                Ok(Constant::Text(all(parts.iter().map(|part| self.text(part, scope)))?.concat()))
            }
            _ => self.not_constant(expr, scope),
        }
    }

    fn constant_path(&mut self, expr: &Expr, path: &Path, scope: &Scope) -> Derived<Constant> {
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        if let [.., ty, limit @ ("MAX" | "MIN")] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && let Some(range) = range_of(ty)
        {
            return Ok(Constant::Integer(if limit == "MAX" { *range.end() } else { *range.start() }));
        }
        if let Some((at, item)) = self.const_item(path, scope) {
            return self.constant(&item.1, &at);
        }
        self.not_constant(expr, scope)
    }

    /// A constant of the source, free or associated: where it stands, its type and its value.
    pub fn const_item(&mut self, path: &Path, scope: &Scope) -> Option<(Scope, (Type, Expr))> {
        match self.value(path, scope)? {
            Named::Free(module, name) => {
                let item = self.modules.module(module).consts.get(&name)?.clone();
                Some((Scope::of(module), ((*item.ty).clone(), (*item.expr).clone())))
            }
            Named::Associated(module, type_name, last) => {
                self.associated(module, &type_name).into_iter().find_map(|(at, item)| {
                    item.items.iter().find_map(|item| match item {
                        syn::ImplItem::Const(item) if item.ident == last => {
                            Some((Scope::of(at), (item.ty.clone(), item.expr.clone())))
                        }
                        _ => None,
                    })
                })
            }
        }
    }

    /// A function of the source, free or associated, and where its body stands.
    pub fn function(&mut self, path: &Path, scope: &Scope) -> Option<(Scope, Rc<ItemFn>)> {
        match self.value(path, scope)? {
            Named::Free(module, name) => {
                Some((Scope::of(module), self.modules.module(module).functions.get(&name)?.clone()))
            }
            Named::Associated(module, type_name, last) => {
                self.associated(module, &type_name).into_iter().find_map(|(at, item)| {
                    item.items.iter().find_map(|item| match item {
                        syn::ImplItem::Fn(function) if function.sig.ident == last => {
                            Some((Scope::of(at), Rc::new(free(function, &type_name))))
                        }
                        _ => None,
                    })
                })
            }
        }
    }

    fn value(&self, path: &Path, scope: &Scope) -> Option<Named> {
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let global = path.leading_colon.is_some();
        let whole = UsePath { global, segments: segments.clone() };
        if let Some(Target::Item(module, name)) = resolve(self.modules, scope.module, &whole, Namespace::Value) {
            return Some(Named::Free(module, name));
        }
        let (last, owner) = segments.split_last()?;
        let owner = UsePath { global, segments: owner.to_vec() };
        match resolve(self.modules, scope.module, &owner, Namespace::Type)? {
            Target::Item(module, type_name) => Some(Named::Associated(module, type_name, last.clone())),
            _ => None,
        }
    }
}

/// What the path of a value names.
enum Named {
    /// An item of a module.
    Free(ModuleId, String),
    /// An item in an `impl` of a type: the type's module and name, the item's name.
    Associated(ModuleId, String, String),
}

/// An associated function as a free one, with `Self` in its result written out.
fn free(function: &syn::ImplItemFn, type_name: &str) -> ItemFn {
    let mut sig = function.sig.clone();
    if let ReturnType::Type(_, ty) = &mut sig.output
        && matches!(&**ty, Type::Path(path) if path.path.is_ident("Self"))
    {
        let ident = quote::format_ident!("{type_name}");
        **ty = syn::parse_quote!(#ident);
    }
    ItemFn {
        attrs: Vec::new(),
        vis: syn::Visibility::Inherited,
        modifiers: function.modifiers.clone(),
        sig,
        block: Box::new(function.block.clone()),
    }
}

fn arithmetic(op: &BinOp, left: Constant, right: Constant) -> Option<Constant> {
    use Constant::{Float, Integer};
    match (left, right) {
        (Integer(left), Integer(right)) => {
            let shift = || u32::try_from(right).ok();
            Some(Integer(match op {
                BinOp::Add(_) => left.checked_add(right)?,
                BinOp::Sub(_) => left.checked_sub(right)?,
                BinOp::Mul(_) => left.checked_mul(right)?,
                BinOp::Div(_) => left.checked_div(right)?,
                BinOp::Rem(_) => left.checked_rem(right)?,
                BinOp::Shl(_) => left.checked_shl(shift()?)?,
                BinOp::Shr(_) => left.checked_shr(shift()?)?,
                BinOp::BitOr(_) => left | right,
                BinOp::BitAnd(_) => left & right,
                _ => return None,
            }))
        }
        (Float(left), Float(right)) => Some(Float(match op {
            BinOp::Add(_) => left + right,
            BinOp::Sub(_) => left - right,
            BinOp::Mul(_) => left * right,
            BinOp::Div(_) => left / right,
            _ => return None,
        })),
        _ => None,
    }
}

/// The values of an integer type, as far as `i128` has them.
pub fn range_of(ty: &str) -> Option<std::ops::RangeInclusive<i128>> {
    Some(match ty {
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "i32" => i32::MIN.into()..=i32::MAX.into(),
        "i64" | "isize" => i64::MIN.into()..=i64::MAX.into(),
        "u8" => 0..=u8::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "u32" => 0..=u32::MAX.into(),
        "u64" | "usize" => 0..=u64::MAX.into(),
        _ => return None,
    })
}

fn is_conversion(method: &syn::Ident) -> bool {
    ["into", "to_string", "to_owned", "as_str", "clone"].iter().any(|name| method == name)
}

/// The expression that a body consists of.
pub fn only_expression(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => match expr {
            Expr::Return(returned) => returned.expr.as_deref(),
            expr => Some(expr),
        },
        _ => None,
    }
}
