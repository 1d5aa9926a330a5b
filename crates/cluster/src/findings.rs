//! Findings of checks, and their rendering as text.

use opctl_model::counted;
use opctl_model::diagnostic::Diagnostic;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The affected file, or the position in it.
    pub location: Option<String>,
    pub what: String,
    /// Alternative commands that fix the problem; an instruction if no command does.
    pub help: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Ok,
    /// The check could not run, or had nothing to check.
    Skipped,
    Warning,
    Error,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Finding {
    pub fn new(severity: Severity, what: impl Into<String>) -> Self {
        Self { severity, location: None, what: what.into(), help: Vec::new() }
    }

    pub fn ok(what: impl Into<String>) -> Self {
        Self::new(Severity::Ok, what)
    }

    pub fn skipped(what: impl Into<String>) -> Self {
        Self::new(Severity::Skipped, what)
    }

    pub fn warning(what: impl Into<String>) -> Self {
        Self::new(Severity::Warning, what)
    }

    pub fn error(what: impl Into<String>) -> Self {
        Self::new(Severity::Error, what)
    }

    pub fn at(self, location: impl Into<String>) -> Self {
        Self { location: Some(location.into()), ..self }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl From<&Diagnostic> for Finding {
    fn from(diagnostic: &Diagnostic) -> Self {
        let severity = if diagnostic.is_error() { Severity::Error } else { Severity::Warning };
        let location = diagnostic.span.as_ref().map(|(span, _)| span.to_string());
        let what = format!("{}, {}", diagnostic.code, diagnostic.message);
        Self { severity, location, what, help: diagnostic.help.clone() }
    }
}

/// The findings about one subject.
#[derive(Clone, Debug)]
pub struct Section {
    pub title: &'static str,
    pub findings: Vec<Finding>,
}

/// Renders the findings of at least this severity: a line for each below the title of its section, followed by its
/// help.
pub fn text(sections: &[Section], least: Severity) -> String {
    let mut text = String::new();
    for Section { title, findings } in sections {
        let shown: Vec<&Finding> = findings.iter().filter(|finding| finding.severity >= least).collect();
        if shown.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        for Finding { severity, location, what, help } in shown {
            let location = location.as_ref().map(|location| format!("{location}: ")).unwrap_or_default();
            text.push_str(&format!("  {:8} {location}{what}\n", severity.word()));
            for help in help {
                text.push_str(&format!("    help: {}\n", help.replace('\n', "\n          ")));
            }
        }
    }
    text
}

/// The sections and their findings, for programs.
pub fn json(sections: &[Section]) -> Value {
    let finding = |finding: &Finding| {
        let Finding { severity, location, what, help } = finding;
        let mut value = json!({ "severity": severity.word(), "message": what, "help": help });
        if let Some(location) = location {
            value["location"] = json!(location);
        }
        value
    };
    let section = |section: &Section| json!({ "title": section.title, "findings": section.findings.iter().map(finding).collect::<Vec<_>>() });
    sections.iter().map(section).collect()
}

/// The highest severity; `None` if there are no findings.
pub fn worst(sections: &[Section]) -> Option<Severity> {
    sections.iter().flat_map(|section| &section.findings).map(|finding| finding.severity).max()
}

/// `12 checks: 1 error, 2 warnings, 1 skipped`
pub fn summary(sections: &[Section]) -> String {
    let findings = || sections.iter().flat_map(|section| &section.findings);
    let number = |severity| findings().filter(|finding| finding.severity == severity).count();
    let counts = [(number(Severity::Error), "error"), (number(Severity::Warning), "warning")];
    let mut parts: Vec<String> =
        counts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| counted(*number, what)).collect();
    if parts.is_empty() {
        parts.push("nothing is wrong".into());
    }
    match number(Severity::Skipped) {
        0 => {}
        skipped => parts.push(format!("{skipped} skipped")),
    }
    format!("{}: {}", counted(findings().count(), "check"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_a_line_and_the_last_one_counts() {
        let sections = [
            Section {
                title: "a",
                findings: vec![Finding::ok("one"), Finding::error("two").at("PROJECT").help("do\nit")],
            },
            Section { title: "b", findings: vec![Finding::skipped("three"), Finding::warning("four")] },
        ];
        assert_eq!(
            text(&sections, Severity::Ok),
            "a\n  ok       one\n  error    PROJECT: two\n    help: do\n          it\nb\n  skipped  three\n  warning  four\n"
        );
        assert_eq!(text(&sections, Severity::Error), "a\n  error    PROJECT: two\n    help: do\n          it\n");
        assert_eq!(summary(&sections), "4 checks: 1 error, 1 warning, 1 skipped");
        assert_eq!(summary(&[]), "0 checks: nothing is wrong");
    }
}
