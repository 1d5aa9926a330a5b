//! Evaluates expressions whose value follows from the source by the rules below; all else is OP014, "only a compiler knows".
//!
//! - **Types.** Each value carries its type: integers and floats by name, collections by kind. A number without a suffix
//!   takes its type from where it stands ([`Hint`](values::Hint)): a field, parameter, constant, result, or the other operand. Where certainly
//!   nothing else can say it, it is an `i32` or `f64` ([`Hint::Free`](values::Hint::Free)). If nothing says it yet, an integer is of *any* type as
//!   long as all types that it may have agree on it (`numbers::ANY`); else, and if it is a float, it is refused.
//! - **Names.** A name is a `let`, a parameter, a constant, a function or a constructor that resolution finds, also in a
//!   pattern. Behind a glob, it is refused if a macro of the module could make it.
//! - **Calls.** A function of the source is its body, applied to values. A method is std's only for the values and names in
//!   `methods`, and only if no trait of the crate that may be in scope has a method of that name (`shadows`). The same
//!   holds for macros, and for `Default` and `From`. `==`, `clone` and `Default` of a type of the source are its derive's.
//! - **Methods** of std's values are those of tables (`methods`, `texts`, `quantities`). An iterator is the list of what it
//!   gives. Of other crates' types, constants and constructors are known (`foreign`). A closure or a function that is handed on is a value, and runs where it is called. `{}` and `{:?}` of a type of
//!   the source are what its only `Display` writes, and what the derive of `Debug` does.
//! - **Blocks** (`blocks`) are `let` bindings, constants and an expression, and may be left by `return` and `?`. Nothing changes a
//!   value, except that the statements of a block may set fields of its own `let mut` and insert into a schema. Loops, assignments,
//!   methods such as `list.push(…)` and everything with `&mut` are refused. The constants of a block see no locals.
//! - **Effects.** What is not evaluated may change something or panic. So a `let` whose type only its uses tell is refused
//!   unless one of them is evaluated or it is a literal, and a field that is not needed unless it can neither reach a local nor
//!   leave the body. The functions of the source that either reaches must not panic as far as it shows (`panics`).
//! - **Order** (`conversions`). Sets and maps are made sorted and without duplicates when they are made; where the order or
//!   equality of their elements is not that of numbers or strings, or is random, more than one element is refused.
//! - **Attributes** in a body are refused: `#[cfg]` may stand at any expression.
//!
//! Everything here is pure, so evaluating twice changes nothing. Only what a `fmt` writes is collected; it is run once, and in order.

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

/// The schemas of types, which functions that make a schema ask for.
pub trait Schemas {
    fn schema_of(&mut self, cx: &mut Context<'_>, ty: &Type, scope: &Scope) -> Derived<Json>;
}

/// Evaluates expressions.
pub struct Evaluator<'e, 'a> {
    pub cx: &'e mut Context<'a>,
    pub schemas: &'e mut dyn Schemas,
}
