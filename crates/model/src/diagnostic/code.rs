//! The codes of diagnostics. Each is an item near the check that reports it; `opctl explain` and
//! `docs/reference/diagnostics.md` are generated from these items.

use std::fmt;

use super::{Diagnostic, Severity};

/// A problem that opctl can report, declared with [`diagnostics!`](macro@crate::diagnostics).
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// `OP` and three digits. Stable, so that users can search for it.
    pub name: &'static str,
    pub chapter: Chapter,
    pub class: Class,
    /// The lines of the doc comment, each with the space after the slashes.
    pub comment: &'static str,
}

/// The chapters of the reference, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    Source,
    Markers,
    Project,
    ApiServer,
    Check,
    Decoding,
    Charts,
    Ansible,
    Metrics,
    BundleGeneration,
    Bundles,
    Changes,
}

/// The usual kind of problem. A few codes are errors in some cases and warnings in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// An error that a compiler, kube, the API server or another tool would report as well.
    Mistake,
    /// An error about code that may be correct: opctl cannot tell without compiling it.
    CompilerOnly,
    Warning,
}

/// The command that reports the diagnostics of a chapter. Only this command knows whether a marker allows a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedBy {
    /// `opctl check`: even errors can be allowed, since they may be intended.
    Check,
    /// `opctl manifests --against`: a breaking change may be intended.
    Against,
    /// All other commands: their errors cannot be allowed.
    OtherCommands,
}

impl Chapter {
    pub fn reported_by(self) -> ReportedBy {
        match self {
            Self::Check | Self::Decoding | Self::Charts | Self::Ansible | Self::Metrics => ReportedBy::Check,
            Self::Changes => ReportedBy::Against,
            Self::Source | Self::Markers | Self::Project | Self::ApiServer | Self::BundleGeneration | Self::Bundles => {
                ReportedBy::OtherCommands
            }
        }
    }
}

impl Code {
    pub fn error(&'static self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, code: self, message: message.into(), span: None, help: Vec::new() }
    }

    pub fn warning(&'static self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..self.error(message) }
    }

    /// The URL of the code in the reference.
    pub fn url(&self) -> String {
        let anchor = self.name.to_lowercase();
        format!("{}/blob/main/docs/reference/diagnostics.md#{anchor}", env!("CARGO_PKG_REPOSITORY"))
    }

    /// The cause, the fix, and often an example, as Markdown. The first sentence is complete on its own.
    pub fn explanation(&self) -> String {
        let mut text = if self.class == Class::Warning { "Warning: ".to_owned() } else { String::new() };
        for line in self.comment.lines() {
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
        }
        text
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// Declares diagnostics: the explanation of each as a doc comment, its code, [`Chapter`] and [`Class`]. `CODES` lists
/// them.
///
/// The explanation of a warning begins in lowercase, because it is printed after `Warning: `.
///
/// ```
/// opctl_model::diagnostics! {
///     /// The file is empty. Write something into it.
///     OP998: Source, Mistake;
///
///     /// the file has one line only.
///     OP999: Source, Warning;
/// }
///
/// assert_eq!(OP998.explanation(), "The file is empty. Write something into it.\n");
/// assert_eq!(OP999.explanation(), "Warning: the file has one line only.\n");
/// assert_eq!(CODES, [OP998, OP999]);
/// ```
#[macro_export]
macro_rules! diagnostics {
    ($($(#[doc = $line:literal])+ $name:ident: $chapter:ident, $class:ident;)+) => {
        $(
            // The explanation is not the rustdoc comment, because rustdoc would compile its examples as tests.
            #[doc = concat!("`opctl explain ", stringify!($name), "` explains it.")]
            pub const $name: &$crate::diagnostic::Code = &$crate::diagnostic::Code {
                name: stringify!($name),
                chapter: $crate::diagnostic::Chapter::$chapter,
                class: $crate::diagnostic::Class::$class,
                comment: concat!($($line, "\n"),+),
            };
        )+

        /// The diagnostics declared in this module.
        pub const CODES: &[&$crate::diagnostic::Code] = &[$($name),+];
    };
}
