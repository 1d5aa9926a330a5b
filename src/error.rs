//! The errors of commands: problems that the user can fix, all reported at once. A bug in opctl is a panic.

use std::fmt;

use opctl_edit::EditError;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::is_unreadable;

/// A problem that the user can fix: a message with the location, and possible fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError {
    pub message: String,
    pub help: Vec<String>,
}

/// The help for a project that needs a newer opctl.
pub const USE_A_NEWER_OPCTL: &str = concat!("use a newer opctl: see ", env!("CARGO_PKG_REPOSITORY"), "#installation");

impl UserError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: Vec::new() }
    }

    /// The error for an edit that cannot be made or undone.
    pub fn edit(path: &str, error: EditError) -> Self {
        Self::new(format!("cannot edit `{path}`: {}", error.reason)).help(error.help)
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}

/// All errors of a command.
#[derive(Debug, Default)]
pub struct UserErrors(pub Vec<UserError>);

impl UserErrors {
    /// Returns the value, or records the error.
    pub fn check<T, E: Into<UserError>>(&mut self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.0.push(error.into())).ok()
    }

    pub fn push(&mut self, refusal: UserError) {
        self.0.push(refusal);
    }

    /// Returns the recorded errors, if any.
    pub fn settle(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for UserErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.0.iter().map(|refusal| refusal.message.as_str()).collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for UserErrors {}

/// A problem outside of the project, so its files are not mentioned.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExternalError(pub UserError);

/// Problems in files of the user.
#[derive(Debug, Default, thiserror::Error)]
#[error("{} problems in the source", .diagnostics.len())]
pub struct SourceErrors {
    pub diagnostics: Vec<Diagnostic>,
    /// Possible fixes of all problems.
    pub help: Vec<String>,
}

impl SourceErrors {
    /// `true` if one of the files cannot be read.
    pub fn is_unreadable(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.is_error() && is_unreadable(diagnostic))
    }
}

impl From<Vec<Diagnostic>> for SourceErrors {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, help: Vec::new() }
    }
}

impl From<opctl_model::names::NameError> for UserError {
    fn from(error: opctl_model::names::NameError) -> Self {
        Self::new(format!("invalid {} `{}`", error.what, error.text)).help(error.rule)
    }
}
