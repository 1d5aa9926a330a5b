//! Evaluates expressions whose value follows from the source by the rules below; all others are OP014, "only a
//! compiler knows".
//!
//! - **Types.** Each value carries its type: integers and floats by name, collections by kind. A number without a
//!   suffix takes its type from its context ([`Hint`](values::Hint)): a field, parameter, constant, result, or the
//!   other operand. If certainly nothing else can determine it, it is an `i32` or `f64`
//!   ([`Hint::Free`](values::Hint::Free)). If it is not determined yet, an integer is of *any* type as long as all
//!   types that it may have agree on it (`numbers::ANY`); else, and if it is a float, it is refused.
//! - **Names.** A name is a `let`, a parameter, a constant, a function or a constructor that resolution finds, also
//!   in a pattern. If it comes from a glob, it is refused if a macro of the module could declare it.
//! - **Calls.** A function in the source is its body, applied to values. A method is std's only for the values and
//!   names in `methods`, and only if no trait of the crate that may be in scope has a method of that name
//!   (`shadows`). The same holds for macros, and for `Default` and `From`. `==`, `clone` and `Default` of a type in
//!   the source are its derive's.
//! - **Methods** of std's values are those of tables (`methods`, `texts`, `quantities`). An iterator is the list of
//!   its elements. Of other crates' types, constants and constructors are known (`foreign`). A closure or a function
//!   that is passed on is a value, and runs where it is called. `{}` of a type in the source is the output of its
//!   only `Display`, and `{:?}` that of the derive of `Debug`.
//! - **Blocks** (`blocks`) are `let` bindings, constants and an expression, and may be left by `return` and `?`.
//!   Nothing modifies a value, except that the statements of a block may set fields of its own `let mut` and insert
//!   into a schema. Loops, assignments, methods such as `list.push(…)` and everything with `&mut` are refused. The
//!   constants of a block see no locals.
//! - **Effects.** Code that is not evaluated may have an effect or panic. So a `let` whose type only follows from its
//!   uses is refused unless one of them is evaluated or it is a literal, and an unused field unless it can neither
//!   reach a local nor leave the body. The functions in the source that either calls must not panic, as far as can be
//!   seen (`panics`).
//! - **Order** (`conversions`). Sets and maps are sorted and without duplicates from the start; if the order or
//!   equality of their elements is not that of numbers or strings, or is random, more than one element is refused.
//! - **Attributes** in a body are refused: `#[cfg]` may be on any expression.
//!
//! Evaluation is pure, so evaluating twice is harmless. Only the output of a `fmt` is collected; it is run once,
//! and in order.

pub mod blocks;
pub mod calls;
pub mod context;
pub mod conversions;
pub mod defaults;
pub mod foreign;
pub mod format;
pub mod items;
pub mod json;
pub mod methods;
pub mod numbers;
pub mod quantities;
pub mod serialized;
pub mod texts;
pub mod values;

use serde_json::Value as Json;
use syn::Type;

use context::{Context, Derived, Scope};

/// The schemas of types, for functions that build a schema.
pub trait Schemas {
    fn schema_of(&mut self, cx: &mut Context<'_>, ty: &Type, scope: &Scope) -> Derived<Json>;
}

pub struct Evaluator<'e, 'a> {
    pub cx: &'e mut Context<'a>,
    pub schemas: &'e mut dyn Schemas,
}
