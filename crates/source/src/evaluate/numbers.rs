//! Numbers: literals, arithmetic, casts. Each number has a type, and is within its range.

use syn::{BinOp, DeriveInput, Expr, ExprBinary, ExprCast, Lit, UnOp};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope};
use super::values::{Hint, Value, is_pointer};
use crate::resolve::modules::name;

const NUMBERS: [&str; 14] =
    ["f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// The type of an integer that is not determined: the value fits each possible type, or all signed ones if it is
/// negative.
pub const ANY: &str = "{integer}";

/// The common type of both operands.
pub fn common(left: &'static str, right: &'static str) -> Option<&'static str> {
    match (left, right) {
        (ANY, ty) | (ty, ANY) => Some(ty),
        (left, right) => (left == right).then_some(left),
    }
}

/// The integer type with this name.
pub fn integer_type(name: &str) -> Option<&'static str> {
    number_type(name).filter(|ty| !ty.starts_with('f'))
}

fn number_type(name: &str) -> Option<&'static str> {
    NUMBERS.into_iter().find(|known| *known == name)
}

impl Evaluator<'_, '_> {
    pub fn literal(
        &mut self,
        literal: &Lit,
        negative: bool,
        expr: &Expr,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Value> {
        let (digits, suffix, is_float) = match literal {
            Lit::Int(number) => (number.base10_digits(), number.suffix(), false),
            Lit::Float(number) => (number.base10_digits(), number.suffix(), true),
            _ => {
                let value = match literal {
                    Lit::Str(text) => Some(Value::Text(text.value())),
                    Lit::Bool(value) => Some(Value::Bool(value.value)),
                    Lit::Char(letter) => Some(Value::Char(letter.value())),
                    Lit::Byte(byte) => Some(Value::Integer(byte.value().into(), "u8")),
                    Lit::ByteStr(bytes) => {
                        let bytes = bytes.value().into_iter().map(|byte| Value::Integer(byte.into(), "u8"));
                        Some(Value::List("array", bytes.collect()))
                    }
                    _ => None,
                };
                return self.cx.or_not_evident(value.filter(|_| !negative), expr, scope);
            }
        };
        let ty = match number_type(suffix) {
            Some(ty) => Some(ty),
            None if suffix.is_empty() => self.cx.number_of(hint)?.or(match hint {
                Hint::Free => Some(if is_float { "f64" } else { "i32" }),
                _ => None,
            }),
            None => None,
        };
        let digits = if negative { format!("-{digits}") } else { digits.to_string() };
        let value = match ty {
            // `1` is not an `f32`, but `1f32` is.
            Some("f32") if is_float || !suffix.is_empty() => digits.parse().ok().map(Value::Single),
            Some("f64") if is_float || !suffix.is_empty() => digits.parse().ok().map(Value::Double),
            Some(ty) if !is_float => digits.parse().ok().and_then(|number| in_range(number, ty)),
            // An integer literal without a suffix has an integer type, never a float's.
            None if !is_float && suffix.is_empty() && !matches!(hint, Hint::Type(_)) => {
                digits.parse().ok().and_then(|number| in_range(number, ANY))
            }
            _ => None,
        };
        self.cx.or_not_evident(value, expr, scope)
    }

    pub fn binary(&mut self, binary: &ExprBinary, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let value = match &binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let left = self.evaluate(&binary.left, scope, &Hint::Unknown)?;
                match (&binary.op, &left) {
                    (BinOp::And(_), Value::Bool(false)) | (BinOp::Or(_), Value::Bool(true)) => return Ok(left),
                    _ => {}
                }
                match (left, self.evaluate(&binary.right, scope, &Hint::Unknown)?) {
                    (Value::Bool(_), right @ Value::Bool(_)) => Some(right),
                    _ => None,
                }
            }
            BinOp::Shl(_) | BinOp::Shr(_) => {
                let left = self.evaluate(&binary.left, scope, hint)?;
                // The right operand of a shift has its own type.
                shifted(&binary.op, left, self.evaluate(&binary.right, scope, &Hint::Free)?)
            }
            BinOp::Eq(_) | BinOp::Ne(_) => {
                let (left, right) = self.operands(binary, scope, &Hint::Free)?;
                self.cx.equal(&left, &right).map(|equal| Value::Bool(equal == matches!(binary.op, BinOp::Eq(_))))
            }
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let (left, right) = self.operands(binary, scope, &Hint::Free)?;
                match (&left, &right) {
                    (Value::Data(_), Value::Data(_)) => {
                        let order = self.cx.ordered(&left, &right).map(|order| Value::Integer(order as i128, "i8"));
                        order.and_then(|order| compared(&binary.op, &order, &Value::Integer(0, "i8")))
                    }
                    _ => compared(&binary.op, &left, &right),
                }
                .map(Value::Bool)
            }
            op => {
                let (left, right) = self.operands(binary, scope, hint)?;
                arithmetic(op, left, right)
            }
        };
        self.cx.or_not_evident(value, expr, scope)
    }

    /// Two operands of one type: it follows from the hint, or else from the other operand.
    pub fn operands(&mut self, binary: &ExprBinary, scope: &Scope, hint: &Hint) -> Derived<(Value, Value)> {
        if is_untyped(&binary.left) && !is_untyped(&binary.right) {
            let right = self.evaluate(&binary.right, scope, hint)?;
            return Ok((self.evaluate(&binary.left, scope, &Hint::like(&right))?, right));
        }
        let left = self.evaluate(&binary.left, scope, hint)?;
        let right = self.evaluate(&binary.right, scope, &Hint::like(&left))?;
        Ok((left, right))
    }

    /// The discriminant of a variant without fields.
    pub fn discriminant(&mut self, input: &DeriveInput, variant: &str, scope: &Scope) -> Derived<i128> {
        let syn::Data::Enum(data) = &input.data else { return self.cx.not_evident(&input.ident, scope) };
        let repr = input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr"));
        let repr = repr.filter_map(|attribute| attribute.parse_args::<syn::Ident>().ok());
        let ty = repr.filter_map(|repr| integer_type(&repr.to_string())).next().unwrap_or("isize");
        let mut next = 0;
        for found in &data.variants {
            if let Some((_, discriminant)) = &found.discriminant {
                next = self.integer(discriminant, scope, ty)?;
            }
            if name(&found.ident) == variant {
                return Ok(next);
            }
            next += 1;
        }
        self.cx.not_evident(&input.ident, scope)
    }

    pub fn cast(&mut self, cast: &ExprCast, expr: &Expr, scope: &Scope) -> Derived<Value> {
        let to = match self.cx.meaning(&((*cast.ty).clone(), scope.clone()))? {
            Some(Resolved::Known { path, .. }) if path.len() == 1 && path[0] == "char" => {
                let letter = match self.evaluate(&cast.expr, scope, &Hint::Number("u8"))? {
                    Value::Integer(byte, "u8") => u8::try_from(byte).ok().map(|byte| Value::Char(byte.into())),
                    letter @ Value::Char(_) => Some(letter),
                    _ => None,
                };
                return self.cx.or_not_evident(letter, expr, scope);
            }
            Some(Resolved::Known { path, .. }) if path.len() == 1 => number_type(&path[0]),
            _ => None,
        };
        let to = self.cx.or_not_evident(to, expr, scope)?;
        // `300 as u8` is a `u8` from the start, and no longer compiles; the type of `(1 << 31) as i64` is not
        // determined here.
        let hint = match without_parens(&cast.expr) {
            Expr::Lit(syn::ExprLit { lit: Lit::Int(_), .. }) if !to.starts_with('f') => Hint::Number(to),
            Expr::Lit(syn::ExprLit { lit: Lit::Float(_), .. }) if to.starts_with('f') => Hint::Number(to),
            Expr::Lit(_) => Hint::Free,
            // The expected type does not apply to the operands.
            inner @ Expr::Binary(_) if is_untyped(inner) => Hint::Free,
            _ => Hint::Unknown,
        };
        let value = match (self.evaluate(&cast.expr, scope, &hint)?, to) {
            (Value::Integer(number, _), "f64") => Some(Value::Double(number as f64)),
            (Value::Integer(number, _), "f32") => Some(Value::Single(number as f32)),
            (Value::Single(number), "f32") => Some(Value::Single(number)),
            (Value::Single(number), "f64") => Some(Value::Double(number.into())),
            (Value::Double(number), "f32") => Some(Value::Single(number as f32)),
            (Value::Double(number), "f64") => Some(Value::Double(number)),
            (Value::Integer(number, _), to) => truncated(number, to),
            (Value::Single(number), to) => saturated(number.into(), to),
            (Value::Double(number), to) => saturated(number, to),
            (Value::Bool(value), to) => truncated(value.into(), to),
            (Value::Char(letter), to) => truncated(u32::from(letter).into(), to),
            (Value::Data(data), to) => match (&data.variant, data.fields.is_empty()) {
                (Some(variant), true) => {
                    let number = self.discriminant(&data.input, variant, &data.scope)?;
                    truncated(number, to)
                }
                _ => None,
            },
            _ => None,
        };
        self.cx.or_not_evident(value, expr, scope)
    }
}

impl Context<'_> {
    /// The number type that a hint determines.
    pub fn number_of(&mut self, hint: &Hint) -> Derived<Option<&'static str>> {
        match hint {
            Hint::Number(ty) => Ok(Some(ty)),
            Hint::Type(ty) => Ok(match self.meaning(ty)? {
                Some(Resolved::Known { path, arguments, .. }) => match (path.as_slice(), arguments.first()) {
                    ([name], _) => number_type(name),
                    (path, Some(inner)) if is_pointer(path) => self.number_of(&Hint::exactly(inner.clone()))?,
                    _ => None,
                },
                _ => None,
            }),
            _ => Ok(None),
        }
    }
}

pub fn without_parens(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => without_parens(&inner.expr),
        Expr::Group(inner) => without_parens(&inner.expr),
        expr => expr,
    }
}

/// `true` if a number consists of literals alone, none of which has a suffix.
pub fn is_untyped(expr: &Expr) -> bool {
    match without_parens(expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.suffix().is_empty(),
            Lit::Float(number) => number.suffix().is_empty(),
            _ => false,
        },
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Deref(_)) && is_untyped(&unary.expr),
        Expr::Binary(binary) if matches!(binary.op, BinOp::Shl(_) | BinOp::Shr(_)) => is_untyped(&binary.left),
        Expr::Binary(binary) => is_untyped(&binary.left) && is_untyped(&binary.right),
        _ => false,
    }
}

pub fn negative(value: Value) -> Option<Value> {
    match value {
        // Its type is a signed one.
        Value::Integer(number, ANY) => in_range(number.checked_neg()?, ANY),
        Value::Integer(number, ty) if ty.starts_with('i') => in_range(number.checked_neg()?, ty),
        Value::Single(number) => Some(Value::Single(-number)),
        Value::Double(number) => Some(Value::Double(-number)),
        _ => None,
    }
}

pub fn arithmetic(op: &BinOp, left: Value, right: Value) -> Option<Value> {
    macro_rules! float {
        ($left:expr, $right:expr) => {
            match op {
                BinOp::Add(_) => $left + $right,
                BinOp::Sub(_) => $left - $right,
                BinOp::Mul(_) => $left * $right,
                BinOp::Div(_) => $left / $right,
                BinOp::Rem(_) => $left % $right,
                _ => return None,
            }
        };
    }
    match (left, right) {
        (Value::Integer(left, of), Value::Integer(right, same)) => {
            let of = common(of, same)?;
            let result = match op {
                BinOp::Add(_) => left.checked_add(right)?,
                BinOp::Sub(_) => left.checked_sub(right)?,
                BinOp::Mul(_) => left.checked_mul(right)?,
                BinOp::Div(_) => left.checked_div(right)?,
                // An overflow of the division is one of the remainder, too.
                BinOp::Rem(_) => in_range(left.checked_div(right)?, of).and(left.checked_rem(right))?,
                BinOp::BitOr(_) => left | right,
                BinOp::BitAnd(_) => left & right,
                BinOp::BitXor(_) => left ^ right,
                _ => return None,
            };
            // `1 - 2` is only in the range of signed types.
            let may_be_negative = of != ANY || left < 0 || right < 0;
            in_range(result, of).filter(|_| result >= 0 || may_be_negative)
        }
        (Value::Duration(left), Value::Duration(right)) => match op {
            BinOp::Add(_) => left.checked_add(right).map(Value::Duration),
            BinOp::Sub(_) => left.checked_sub(right).map(Value::Duration),
            _ => None,
        },
        (Value::Duration(time), Value::Integer(by, of)) if common(of, "u32").is_some() => match op {
            BinOp::Mul(_) => time.checked_mul(by.try_into().ok()?).map(Value::Duration),
            BinOp::Div(_) => time.checked_div(by.try_into().ok()?).map(Value::Duration),
            _ => None,
        },
        (Value::Text(left), Value::Text(right)) if matches!(op, BinOp::Add(_)) => Some(Value::Text(left + &right)),
        (Value::Single(left), Value::Single(right)) => Some(Value::Single(float!(left, right))),
        (Value::Double(left), Value::Double(right)) => Some(Value::Double(float!(left, right))),
        (Value::Bool(left), Value::Bool(right)) => Some(Value::Bool(match op {
            BinOp::BitOr(_) => left | right,
            BinOp::BitAnd(_) => left & right,
            BinOp::BitXor(_) => left ^ right,
            _ => return None,
        })),
        _ => None,
    }
}

/// Bits that leave the type are lost, but a shift by the type's width or more is an error.
pub fn shifted(op: &BinOp, left: Value, right: Value) -> Option<Value> {
    let (Value::Integer(left, ty), Value::Integer(by, _)) = (left, right) else { return None };
    let bits: i128 = match ty {
        ANY => 8,
        "isize" | "usize" => 64,
        ty => ty[1..].parse().ok()?,
    };
    if !(0..bits).contains(&by) || bits == 128 {
        return None;
    }
    match op {
        BinOp::Shl(_) if ty == ANY => in_range(left << by, ty).filter(|_| left >= 0),
        BinOp::Shl(_) => truncated(left << by, ty),
        _ => in_range(left >> by, ty),
    }
}

pub fn compared(op: &BinOp, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Integer(left, of), Value::Integer(right, same)) if common(of, same).is_some() => {
            left.partial_cmp(right)
        }
        (Value::Single(left), Value::Single(right)) => left.partial_cmp(right),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
        (Value::Integer(..), _) => None,
        (left, right) => super::conversions::order(left, right),
    }?;
    Some(match op {
        BinOp::Lt(_) => order.is_lt(),
        BinOp::Le(_) => order.is_le(),
        BinOp::Gt(_) => order.is_gt(),
        _ => order.is_ge(),
    })
}

pub fn in_range(number: i128, ty: &'static str) -> Option<Value> {
    range_of(ty)?.contains(&number).then_some(Value::Integer(number, ty))
}

/// The values of an integer type, within those of `i128`.
pub fn range_of(ty: &str) -> Option<std::ops::RangeInclusive<i128>> {
    if ty == ANY {
        return Some(i8::MIN.into()..=i8::MAX.into());
    }
    let plain = ty.strip_prefix("NonZero").or_else(|| ty.strip_prefix("Atomic")).unwrap_or(ty).to_lowercase();
    Some(match plain.as_str() {
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "i32" => i32::MIN.into()..=i32::MAX.into(),
        "i64" | "isize" => i64::MIN.into()..=i64::MAX.into(),
        "i128" => i128::MIN..=i128::MAX,
        "u8" => 0..=u8::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "u32" => 0..=u32::MAX.into(),
        "u64" | "usize" => 0..=u64::MAX.into(),
        "u128" => 0..=i128::MAX,
        _ => return None,
    })
}

/// `number as to`, for a float: its integer part, or the nearest bound of the range.
fn saturated(number: f64, to: &'static str) -> Option<Value> {
    let range = range_of(to).filter(|_| to != "u128")?;
    Some(Value::Integer((number as i128).clamp(*range.start(), *range.end()), to))
}

/// `number as to`, for an integer: the bits that fit.
pub fn truncated(number: i128, to: &'static str) -> Option<Value> {
    let number = match to {
        "i8" => (number as i8).into(),
        "i16" => (number as i16).into(),
        "i32" => (number as i32).into(),
        "i64" | "isize" => (number as i64).into(),
        "i128" => number,
        "u8" => (number as u8).into(),
        "u16" => (number as u16).into(),
        "u32" => (number as u32).into(),
        "u64" | "usize" => (number as u64).into(),
        _ => return None,
    };
    Some(Value::Integer(number, to))
}

impl Evaluator<'_, '_> {
    /// `a..b`, `a..=b`, as the list of its elements.
    pub fn range(&mut self, range: &syn::ExprRange, expr: &Expr, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let (Some(start), Some(end)) = (&range.start, &range.end) else { return self.cx.not_evident(expr, scope) };
        let ends = ExprBinary {
            attrs: Vec::new(),
            left: start.clone(),
            op: BinOp::Lt(Default::default()),
            right: end.clone(),
        };
        let element = self.cx.element(hint, 0)?;
        let (start, end) = self.operands(&ends, scope, &element)?;
        let is_closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        let list = match (start, end) {
            (Value::Integer(start, of), Value::Integer(end, same)) => common(of, same).and_then(|ty| {
                let end = if is_closed { end } else { end.checked_sub(1)? };
                let count = end.checked_sub(start)?;
                (count < super::values::MAX_SIZE as i128)
                    .then(|| (start..=end).map(|number| Value::Integer(number, ty)).collect())
            }),
            (Value::Char(start), Value::Char(end)) if is_closed => Some((start..=end).map(Value::Char).collect()),
            _ => None,
        };
        Ok(Value::List("iterator", self.cx.or_not_evident(list, expr, scope)?))
    }
}
