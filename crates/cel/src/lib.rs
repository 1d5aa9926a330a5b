//! Kubernetes' CEL: the expressions in `x-kubernetes-validations` of CustomResourceDefinitions.
//!
//! An [`Expression`] is parsed, type-checked against a [`Schema`], its worst-case cost is estimated, and it is
//! evaluated, all as in an API server, with the libraries of Kubernetes (quantities, URLs, IP addresses, versions,
//! formats) and without a cluster.
//!
//! ```
//! use opctl_cel::{Budget, Data, Declaration, Expression, Output, RULE_COST_LIMIT, Schema};
//! use serde_json::json;
//!
//! let schema: Schema = serde_json::from_value(json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer"}, "image": {"type": "string", "maxLength": 100}},
//! }))?;
//! let declaration = Declaration::new(&schema, false).expect("an object is visible in CEL");
//!
//! let rule = Expression::compile("self.replicas <= 3 && self.image.startsWith('example.com/')", &declaration, false)?;
//! assert_eq!(rule.result(), "bool");
//! assert!(rule.cost() < RULE_COST_LIMIT);
//!
//! let object = json!({"replicas": 5, "image": "example.com/app"});
//! let outcome = rule.evaluate(&Data::new(&object, &schema, false), None, &mut Budget::default())?;
//! assert_eq!(outcome, Output::Bool(false));
//!
//! let error = Expression::compile("self.replica <= 3", &declaration, false).unwrap_err();
//! assert_eq!(error.to_string(), "no field `replica`; did you mean `replicas`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`mod@format`] and [`pattern`] validate strings by the rules of schemas, which CEL's libraries use as well;
//! [`version`] and [`parse_duration`] parse formats that Kubernetes parses with Go libraries.
//!
//! Nothing here does I/O or depends on a version of Kubernetes' API types.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

mod check;
mod cost;
mod evaluate;
pub mod format;
mod functions;
mod go;
mod lexer;
mod library;
mod literals;
mod macros;
mod nearest;
mod network;
mod parse;
pub mod pattern;
mod quantity;
mod schema;
mod types;
mod value;
pub mod version;

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

pub use go::time::parse_duration;
pub use schema::Schema;
pub use types::{Declaration, escape};
pub use value::Failure;

use check::Checked;
use parse::{Problem, Tree};
use value::Value;

/// The maximum cost of one rule or `messageExpression` that an API server accepts.
pub const RULE_COST_LIMIT: u64 = 10_000_000;

/// The maximum total cost of all rules of a version that an API server accepts.
pub const TOTAL_COST_LIMIT: u64 = 100_000_000;

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    tree: Tree,
    checked: Checked,
    declaration: Arc<Declaration>,
    optional_old_self: bool,
}

/// Error of compiling an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// Invalid syntax.
    #[error("{message}")]
    Syntax {
        /// The affected part of the expression, in bytes.
        range: Range<usize>,
        /// The error message.
        message: String,
    },
    /// An unknown name or a type mismatch.
    #[error("{message}")]
    Type {
        /// The affected part of the expression, in bytes.
        range: Range<usize>,
        /// The error message.
        message: String,
    },
    /// A literal that its function cannot parse, e.g. `duration('1 day')`.
    #[error("{message}")]
    Literal {
        /// The affected part of the expression, in bytes.
        range: Range<usize>,
        /// The error message.
        message: String,
    },
    /// This crate cannot determine whether an API server accepts the expression.
    #[error("cannot tell whether an API server accepts this expression")]
    Unknown,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// The value of a rule.
    Bool(bool),
    /// The value of a `messageExpression`.
    String(String),
    /// A value of any other type; the string is the name of the type.
    Other(&'static str),
}

/// A value on which expressions are evaluated, typed by its schema.
#[derive(Clone, Debug)]
pub struct Data(Value);

/// The remaining steps for evaluations. The default suffices for all rules on one object.
#[derive(Clone, Debug)]
pub struct Budget(u64);

impl Expression {
    /// Parses an expression and checks its types. `self` and `oldSelf` have the type of the declaration; with
    /// `optional_old_self`, `oldSelf` is an optional, as with `optionalOldSelf: true` in a rule.
    ///
    /// # Errors
    ///
    /// If an API server rejects it, or if that is unknown.
    pub fn compile(text: &str, self_: &Arc<Declaration>, optional_old_self: bool) -> Result<Self, CompileError> {
        let tree = parse::parse(text).map_err(CompileError::syntax)?;
        let checked = check::check(&tree, self_, optional_old_self)
            .map_err(|problem| CompileError::of(problem, |range, message| CompileError::Type { range, message }))?;
        literals::check(&tree, &checked)
            .map_err(|problem| CompileError::of(problem, |range, message| CompileError::Literal { range, message }))?;
        Ok(Self { tree, checked, declaration: Arc::clone(self_), optional_old_self })
    }

    /// The name of the expression's type: `bool`, `string`, `list(int)`, …
    pub fn result(&self) -> String {
        self.checked.types[self.tree.root.id].to_string()
    }

    /// `true` if the expression uses `oldSelf`, and so applies to updates only.
    pub fn uses_old_self(&self) -> bool {
        self.checked.uses_old_self
    }

    /// The estimated worst-case cost for one value, which an API server compares with [`RULE_COST_LIMIT`].
    pub fn cost(&self) -> u64 {
        cost::estimate(&self.tree, &self.checked, &self.declaration)
    }

    /// The fields of `self` in the expression, e.g. `self.spec.name`, by their names in CEL. May contain duplicates.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = Vec::new();
        let mut rest = vec![&self.tree.root];
        while let Some(expr) = rest.pop() {
            match expr.qualified_name() {
                Some(name) if name == "self" || name.starts_with("self.") => fields.push(name),
                _ => rest.extend(expr.children()),
            }
        }
        fields
    }

    /// Evaluates the expression. `old_self` is `None` when an object is created.
    ///
    /// # Errors
    ///
    /// If the evaluation fails, if the budget is spent, or if this crate cannot evaluate it.
    pub fn evaluate(&self, self_: &Data, old_self: Option<&Data>, budget: &mut Budget) -> Result<Output, Failure> {
        let mut variables = vec![("self", self_.0.clone())];
        match old_self.map(|Data(value)| value.clone()) {
            old if self.optional_old_self => variables.push(("oldSelf", old.map_or(Value::NONE, Value::some))),
            Some(old) => variables.push(("oldSelf", old)),
            None => {}
        }
        Ok(match evaluate::evaluate(&self.tree, &self.checked, variables, &mut budget.0)? {
            Value::Bool(value) => Output::Bool(value),
            Value::String(text) => Output::String(text.to_string()),
            other => Output::Other(other.type_name()),
        })
    }
}

/// Checks only the syntax of an expression, not its names and types.
///
/// # Errors
///
/// If it is not CEL, or if that is unknown.
pub fn check_syntax(text: &str) -> Result<(), CompileError> {
    parse::parse(text).map(drop).map_err(CompileError::syntax)
}

/// `true` if two expressions differ only in whitespace and comments.
pub fn has_same_tokens(one: &str, other: &str) -> bool {
    let tokens = |text: &str| -> Option<Vec<lexer::Token>> {
        lexer::tokens(text).ok().map(|tokens| tokens.into_iter().map(|(token, _)| token).collect())
    };
    tokens(one).is_some_and(|one| Some(one) == tokens(other))
}

impl CompileError {
    fn syntax(problem: Problem) -> Self {
        Self::of(problem, |range, message| Self::Syntax { range, message })
    }

    fn of(problem: Problem, wrong: impl FnOnce(Range<usize>, String) -> Self) -> Self {
        match problem {
            Problem::Unknown => Self::Unknown,
            Problem::Wrong { range, message } => wrong(range, message),
        }
    }
}

impl Data {
    /// A part of an object that has its defaults and fits the schema. Set `resource` for a Kubernetes object, whose
    /// kind, API version and name are visible even if the schema does not declare them.
    pub fn new(json: &Json, schema: &Schema, resource: bool) -> Self {
        Self(Value::of(json, schema, resource))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(evaluate::TOTAL_LIMIT)
    }
}

impl Budget {
    /// `true` if no steps remain.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
