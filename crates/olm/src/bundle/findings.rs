//! What validation found: diagnostics, each by a rule of the table in [`super::table`].

use super::table::{RULES, Rule};
use opctl_model::diagnostic::{Diagnostic, Severity, Span};

/// A diagnostic and the rule that it follows from.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    pub diagnostic: Diagnostic,
}

/// In the order in which they were found.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub(crate) fn error(&mut self, rule: &str, span: &Span, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Error, rule, Some(span), message.as_ref())
    }

    pub(crate) fn warning(&mut self, rule: &str, span: &Span, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Warning, rule, Some(span), message.as_ref())
    }

    /// Of the bundle as a whole, or of a file that is missing.
    pub(crate) fn error_without_place(&mut self, rule: &str, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Error, rule, None, message.as_ref())
    }

    pub(crate) fn warning_without_place(&mut self, rule: &str, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Warning, rule, None, message.as_ref())
    }

    /// The way out of the last finding.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        if let Some(Finding { diagnostic, .. }) = self.0.last_mut() {
            diagnostic.help.push(help.into());
        }
        self
    }

    pub(crate) fn push(&mut self, severity: Severity, rule: &str, span: Option<&Span>, message: &str) -> &mut Self {
        let rule = RULES.iter().find(|known| known.id == rule).expect("every rule is in the table");
        let message = format!("{message} [{}]", rule.id);
        let span = span.map(|span| (span.clone(), String::new()));
        let diagnostic = Diagnostic { severity, code: rule.family.code(), message, span, help: Vec::new() };
        self.0.push(Finding { rule, diagnostic });
        self
    }

    /// By file and position; the same finding once.
    pub fn sorted(mut self) -> Vec<Finding> {
        let place = |finding: &Finding| {
            finding.diagnostic.span.as_ref().map(|(span, _)| (span.file.path.clone(), span.range.start))
        };
        self.0.sort_by_key(place);
        self.0.dedup_by(|one, other| one.diagnostic == other.diagnostic);
        self.0
    }
}
