//! APIs of a project, i.e. types and controllers: arguments of `create api` → a checked [`Request`] → the [`plan`] of its changes.
//!
//! PROJECT keeps the part of the arguments that the scaffold depends on, so [`rescaffold`] renders a whole project again. Nothing here knows
//! the console: questions are parameters, and what takes time reports [`Message`]s.

pub mod adopted;
pub mod ansible;
mod args;
pub mod chart;
pub mod components;
mod conflicts;
mod existing;
pub mod external;
mod names;
pub mod plan;
pub mod record;
mod request;
pub mod rescaffold;
pub mod subject;
pub mod versions;
mod wiring;

pub use args::{AnsibleArgs, Args, ChartArgs};
pub use names::Names;
pub use request::{Request, complete};

use opctl_model::diagnostic::Diagnostic;

/// A message of an operation that may take long.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// The current step; replaced by the next message.
    Progress(&'a str),
    Note(&'a str),
    Warning(&'a str),
    Diagnostics(&'a [Diagnostic]),
}

/// Shows messages.
pub type Report<'a> = &'a dyn Fn(Message);

/// Names in backticks, sorted, each once.
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    format!("`{}`", names.join("`, `"))
}
