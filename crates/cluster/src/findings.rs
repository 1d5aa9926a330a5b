//! Findings of checks, and their rendering as text.

use opctl_model::diagnostic::Diagnostic;
use opctl_model::{aligned, counted};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The affected file, or the position in it.
    pub location: Option<String>,
    pub what: String,
    /// Alternative commands that fix the problem; an instruction if no command does.
    pub help: Vec<String>,
    /// The facts of the message for programs, such as `("image", "…")`, in the order of the columns of a table.
    pub fields: Vec<(&'static str, Value)>,
    /// The finding is a row of the section's table, which shows the fields instead of the message.
    pub is_row: bool,
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
        Self { severity, location: None, what: what.into(), help: Vec::new(), fields: Vec::new(), is_row: false }
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

    pub fn with(mut self, field: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((field, value.into()));
        self
    }

    /// Sets the object that the finding is about, as the first field.
    pub fn about(mut self, name: impl Into<Value>) -> Self {
        self.fields.insert(0, ("name", name.into()));
        self
    }

    pub fn row(self) -> Self {
        Self { is_row: true, ..self }
    }
}

impl From<&Diagnostic> for Finding {
    fn from(diagnostic: &Diagnostic) -> Self {
        let severity = if diagnostic.is_error() { Severity::Error } else { Severity::Warning };
        let location = diagnostic.span.as_ref().map(|(span, _)| span.to_string());
        let what = format!("{}, {}", diagnostic.code, diagnostic.message);
        Self { location, help: diagnostic.help.clone(), ..Self::new(severity, what) }
    }
}

/// The findings about one subject.
#[derive(Clone, Debug)]
pub struct Section {
    pub title: &'static str,
    pub findings: Vec<Finding>,
}

/// Renders the findings of at least this severity below the titles of their sections: a table of the rows, and a line
/// for each of the others, followed by its help.
pub fn text(sections: &[Section], least: Severity) -> String {
    let mut text = String::new();
    for Section { title, findings } in sections {
        let shown: Vec<&Finding> = findings.iter().filter(|finding| finding.severity >= least).collect();
        if shown.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        let (rows, others): (Vec<&Finding>, Vec<&Finding>) = shown.into_iter().partition(|finding| finding.is_row);
        text.push_str(&table(&rows));
        for Finding { severity, location, what, help, .. } in others {
            let location = location.as_ref().map(|location| format!("{location}: ")).unwrap_or_default();
            text.push_str(&format!("  {:8} {location}{what}\n", severity.word()));
            for help in help {
                text.push_str(&format!("    help: {}\n", help.replace('\n', "\n          ")));
            }
        }
    }
    text
}

/// A table like those of kubectl, with the columns of the first row.
fn table(rows: &[&Finding]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let columns = first.fields.iter().map(|(name, _)| *name);
    let header = columns.clone().map(heading).collect();
    let cells = |row: &&Finding| {
        let value = |column| row.fields.iter().find(|(name, _)| *name == column).map(|(_, value)| cell(value));
        columns.clone().map(|column| value(column).unwrap_or_default()).collect()
    };
    let lines: Vec<Vec<String>> = [header].into_iter().chain(rows.iter().map(cells)).collect();
    aligned(&lines, "   ").iter().map(|line| format!("  {line}\n")).collect()
}

/// `notReady` as `NOT READY`.
fn heading(field: &str) -> String {
    let mut heading = String::new();
    for c in field.chars() {
        if c.is_uppercase() {
            heading.push(' ');
        }
        heading.extend(c.to_uppercase());
    }
    heading
}

/// A list as its items, separated by commas.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

/// The sections and their findings, for programs.
pub fn json(sections: &[Section]) -> Value {
    let finding = |finding: &Finding| {
        let Finding { severity, location, what, help, fields, is_row: _ } = finding;
        let mut value = json!({ "severity": severity.word(), "message": what, "help": help });
        if !fields.is_empty() {
            value["fields"] = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        }
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

    #[test]
    fn rows_are_a_table_before_the_other_findings() {
        let row = |name: &str, total: u32, versions: &[&str]| {
            Finding::ok("all is well").with("notReady", total).with("versions", versions).about(name).row()
        };
        let findings = vec![Finding::warning("two"), row("a.b.c", 12, &["v1", "v2"]), row("long.b.c", 0, &["v1"])];
        let sections = [Section { title: "a", findings }];
        let expected = "\
a
  NAME       NOT READY   VERSIONS
  a.b.c      12          v1,v2
  long.b.c   0           v1
  warning  two
";
        assert_eq!(text(&sections, Severity::Ok), expected);
        assert_eq!(text(&sections, Severity::Warning), "a\n  warning  two\n");
        let fields = json!({ "name": "a.b.c", "notReady": 12, "versions": ["v1", "v2"] });
        assert_eq!(json(&sections)[0]["findings"][1]["fields"], fields);
    }
}
