//! Findings of validation: diagnostics, each for a rule of the table in [`super::table`].

use super::table::{RULES, Rule};
use opctl_model::diagnostic::{Diagnostic, Severity, Span};

/// A diagnostic, with the violated rule.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    pub diagnostic: Diagnostic,
}

/// Findings in the order of discovery.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub(crate) fn error(&mut self, rule: &str, span: &Span, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Error, rule, Some(span), message.as_ref())
    }

    pub(crate) fn warning(&mut self, rule: &str, span: &Span, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Warning, rule, Some(span), message.as_ref())
    }

    /// Reports an error of the whole bundle, or of a missing file.
    pub(crate) fn error_without_place(&mut self, rule: &str, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Error, rule, None, message.as_ref())
    }

    pub(crate) fn warning_without_place(&mut self, rule: &str, message: impl AsRef<str>) -> &mut Self {
        self.push(Severity::Warning, rule, None, message.as_ref())
    }

    /// Adds help to the last finding.
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

    /// Sorts findings by file and position, and removes duplicates.
    pub fn sorted(mut self) -> Vec<Finding> {
        let place = |finding: &Finding| {
            finding.diagnostic.span.as_ref().map(|(span, _)| (span.file.path.clone(), span.range.start))
        };
        self.0.sort_by_key(place);
        self.0.dedup_by(|one, other| one.diagnostic == other.diagnostic);
        self.0
    }
}
