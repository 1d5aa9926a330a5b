//! Diagnostics for other programs: one line each, cargo's JSON, annotations of GitHub Actions, SARIF.
//!
//! Sources: [cargo's messages](https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages),
//! [rustc's diagnostics](https://doc.rust-lang.org/rustc/json.html),
//! [workflow commands](https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands) and
//! [SARIF 2.1.0](https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::{Diagnostic, Severity, Span, render};

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Diagnostic {
    /// The message and the help, without the source.
    fn text(&self) -> String {
        let label = self.span.iter().map(|(_, label)| label.as_str()).filter(|label| !label.is_empty());
        let help = self.help.iter().map(|help| format!("help: {help}"));
        [self.message.clone()].into_iter().chain(label.map(String::from)).chain(help).collect::<Vec<_>>().join("\n")
    }
}

/// Lines and columns are 1-based, columns in characters; the end is exclusive.
struct Region {
    start: (usize, usize),
    end: (usize, usize),
}

impl Region {
    fn of(span: &Span) -> Self {
        let end = Span { file: span.file.clone(), range: span.range.end..span.range.end };
        Self { start: span.line_column(), end: end.line_column() }
    }
}

/// `src/main.rs:1:5: error[OP014]: message`. `path` maps the path of a file to the printed one.
pub fn short(diagnostics: &[Diagnostic], path: impl Fn(&str) -> String) -> String {
    let line = |diagnostic: &Diagnostic| {
        let place = diagnostic.span.as_ref().map(|(span, _)| {
            let (line, column) = span.line_column();
            format!("{}:{line}:{column}: ", path(&span.file.path))
        });
        let Diagnostic { severity, code, message, .. } = diagnostic;
        format!("{}{}[{code}]: {message}\n", place.unwrap_or_default(), severity.name())
    };
    diagnostics.iter().map(line).collect()
}

/// The lines of `cargo check --message-format json`: a message for each diagnostic, then `build-finished` with
/// `success`. `package` is `NAME@VERSION` of the crate in the absolute folder `root`.
pub fn json(diagnostics: &[Diagnostic], root: &Path, package: &str, success: bool) -> String {
    let target = json!({
        "kind": ["bin"], "crate_types": ["bin"], "name": package.split('@').next(), "src_path": root.join("src/main.rs"),
        "edition": "2024", "doc": true, "doctest": false, "test": true,
    });
    let message = |diagnostic: &Diagnostic| {
        json!({
            "reason": "compiler-message",
            "package_id": format!("path+file://{}#{package}", root.display()),
            "manifest_path": root.join("Cargo.toml"),
            "target": target,
            "message": rustc(diagnostic, root),
        })
    };
    let finished = json!({ "reason": "build-finished", "success": success });
    diagnostics.iter().map(message).chain([finished]).map(|message| format!("{message}\n")).collect()
}

fn rustc(diagnostic: &Diagnostic, root: &Path) -> Value {
    let child = |help: &String| json!({ "message": help, "code": null, "level": "help", "spans": [], "children": [], "rendered": null });
    json!({
        "$message_type": "diagnostic",
        "message": diagnostic.message,
        "code": { "code": diagnostic.code.name, "explanation": null },
        "level": diagnostic.severity.name(),
        "spans": diagnostic.span.iter().map(|(span, label)| rustc_span(span, label, root)).collect::<Vec<_>>(),
        "children": diagnostic.help.iter().map(child).collect::<Vec<_>>(),
        "rendered": render(std::slice::from_ref(diagnostic), false),
    })
}

fn rustc_span(span: &Span, label: &str, root: &Path) -> Value {
    let Region { start, end } = Region::of(span);
    let lines = span.file.text.lines().enumerate().skip(start.0 - 1).take(end.0 - start.0 + 1).map(|(index, line)| {
        let first = if index + 1 == start.0 { start.1 } else { 1 };
        let last = if index + 1 == end.0 { end.1 } else { line.chars().count() + 1 };
        json!({ "text": line, "highlight_start": first, "highlight_end": last })
    });
    json!({
        "file_name": root.join(&span.file.path),
        "byte_start": span.range.start, "byte_end": span.range.end,
        "line_start": start.0, "line_end": end.0, "column_start": start.1, "column_end": end.1,
        "is_primary": true,
        "text": lines.collect::<Vec<_>>(),
        "label": (!label.is_empty()).then_some(label),
        "suggested_replacement": null, "suggestion_applicability": null, "expansion": null,
    })
}

/// Workflow commands, which GitHub shows at the lines of a pull request. `path` maps the path of a file to that in the
/// repository.
pub fn github(diagnostics: &[Diagnostic], path: impl Fn(&str) -> String) -> String {
    let text = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |value: &str| text(value).replace(':', "%3A").replace(',', "%2C");
    let command = |diagnostic: &Diagnostic| {
        let place = diagnostic.span.as_ref().map(|(span, _)| {
            let Region { start, end } = Region::of(span);
            let columns =
                if start.0 == end.0 { format!(",col={},endColumn={}", start.1, end.1) } else { String::new() };
            format!("file={},line={},endLine={}{columns},", property(&path(&span.file.path)), start.0, end.0)
        });
        let (level, code) = (diagnostic.severity.name(), diagnostic.code);
        format!("::{level} {}title={code}::{}\n", place.unwrap_or_default(), text(&diagnostic.text()))
    };
    diagnostics.iter().map(command).collect()
}

/// A log for code scanning. `path` maps the path of a file to that in the repository. Diagnostics without a span are
/// reported at the manifest of the crate, because GitHub drops results without a location.
pub fn sarif(diagnostics: &[Diagnostic], path: impl Fn(&str) -> String) -> String {
    let codes: BTreeMap<&str, Value> = diagnostics
        .iter()
        .map(|Diagnostic { code, .. }| (code.name, json!({ "id": code.name, "helpUri": code.url() })))
        .collect();
    let result = |diagnostic: &Diagnostic| {
        let (file, region) = match &diagnostic.span {
            Some((span, _)) => {
                let Region { start, end } = Region::of(span);
                let region =
                    json!({ "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1 });
                (span.file.path.as_str(), region)
            }
            None => ("Cargo.toml", json!({ "startLine": 1 })),
        };
        let uri = path(file).replace('%', "%25").replace(' ', "%20");
        json!({
            "ruleId": diagnostic.code.name,
            "level": diagnostic.severity.name(),
            "message": { "text": diagnostic.text() },
            "locations": [{
                "physicalLocation": { "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" }, "region": region },
            }],
        })
    };
    let driver = json!({
        "name": "opctl",
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": codes.into_values().collect::<Vec<_>>(),
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": diagnostics.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceFile;
    use crate::diagnostics::{OP031, OP032};

    fn diagnostics() -> Vec<Diagnostic> {
        let file = SourceFile::new("src/a b.rs", "fn é() {\n    x: 100%,\n}\n");
        let range = file.text.find("x:").unwrap()..file.text.find(",\n").unwrap();
        vec![
            OP031.error("a, b: 100%").at(Span { file, range }, "here").help("do this\nthen that"),
            OP032.warning("no place"),
        ]
    }

    #[test]
    fn one_line_each() {
        let expected = "./src/a b.rs:2:5: error[OP031]: a, b: 100%\nwarning[OP032]: no place\n";
        assert_eq!(short(&diagnostics(), |path| format!("./{path}")), expected);
    }

    #[test]
    fn annotations_are_escaped() {
        let expected = "::error file=o%2Cp/src/a b.rs,line=2,endLine=2,col=5,endColumn=12,title=OP031::a, b: 100%25%0Ahere%0Ahelp: do \
            this%0Athen that\n::warning title=OP032::no place\n";
        assert_eq!(github(&diagnostics(), |path| format!("o,p/{path}")), expected);
    }

    #[test]
    fn json_has_what_cargo_and_rustc_write() {
        use cargo_metadata::Message;

        let lines = json(&diagnostics(), Path::new("/p"), "shop@0.1.0", false);
        // Parsed as rust-analyzer does.
        let messages: Vec<Message> = Message::parse_stream(lines.as_bytes()).map(Result::unwrap).collect();
        let is_read = |message: &Message| matches!(message, Message::CompilerMessage(_) | Message::BuildFinished(_));
        assert!(messages.iter().all(is_read), "{messages:#?}");
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        let span = &lines[0]["message"]["spans"][0];
        assert_eq!(span["file_name"], "/p/src/a b.rs");
        assert_eq!(span["text"], json!([{ "text": "    x: 100%,", "highlight_start": 5, "highlight_end": 12 }]));
        assert_eq!(&diagnostics()[0].span.as_ref().unwrap().0.file.text[14..21], "x: 100%");
        assert_eq!((&span["byte_start"], &span["byte_end"]), (&json!(14), &json!(21)));
        assert_eq!(lines[1]["message"]["level"], "warning");
        assert_eq!(lines[2], json!({ "reason": "build-finished", "success": false }));
    }

    #[test]
    fn sarif_places_everything() {
        let log: Value = serde_json::from_str(&sarif(&diagnostics(), str::to_owned)).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let uri = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
        assert_eq!(results.iter().map(uri).collect::<Vec<_>>(), ["src/a%20b.rs", "Cargo.toml"]);
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
    }
}
