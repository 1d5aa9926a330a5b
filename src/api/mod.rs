//! APIs of a project, i.e. types and controllers: turns arguments of `create api` into a validated [`Request`], and
//! that into a [`plan`].
//!
//! PROJECT stores the arguments that the scaffold depends on, so [`rescaffold`] can render a whole project again. This
//! module does not know the console: questions are parameters, and slow operations report [`Message`]s.

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

/// A message of a slow operation.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// The current step; replaced by the next message.
    Progress(&'a str),
    Note(&'a str),
    Warning(&'a str),
    Diagnostics(&'a [Diagnostic]),
}

/// Displays messages.
pub type Report<'a> = &'a dyn Fn(Message);

/// The names in backticks, sorted and without duplicates.
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    format!("`{}`", names.join("`, `"))
}
