//! Rust text → [`Operator`]: module tree and `use` resolution, serde, schemars and kube attributes, types → schema,
//! comment markers. Nothing is compiled or run; what cannot be derived exactly is a diagnostic.

pub mod markers;

use crate::diagnostic::Diagnostic;
use crate::model::Operator;
use crate::project::Tree;

/// Reads the package in `folder` (where its Cargo.toml is; `""` is the root). The operator is whole only if no
/// diagnostic is an error.
pub fn read(_tree: &Tree, _folder: &str) -> (Operator, Vec<Diagnostic>) {
    (Operator::default(), Vec::new())
}
