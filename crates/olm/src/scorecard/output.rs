//! Results as text, JSON (`TestList`) and xUnit XML, in the formats of operator-sdk.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Outcome, State};

/// Text for people.
pub fn text(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return "0 tests selected\n".into();
    }
    let mut text = String::new();
    for Outcome { test, results } in outcomes {
        text.push_str(&format!("{}\nImage:      {}\n", "-".repeat(80), test.image));
        if !test.entrypoint.is_empty() {
            text.push_str(&format!("Entrypoint: [{}]\n", test.entrypoint.join(" ")));
        }
        if !test.labels.is_empty() {
            text.push_str("Labels:\n");
            test.labels.iter().for_each(|(key, value)| text.push_str(&format!("\t{key:?}:{value:?}\n")));
        }
        if !results.is_empty() {
            text.push_str("Results:\n");
        }
        for result in results {
            if !result.name.is_empty() {
                text.push_str(&format!("\tName: {}\n", result.name));
            }
            text.push_str(&format!("\tState: {}\n\n", result.state.name()));
            let lines: Vec<String> = result.log.lines().map(str::to_owned).collect();
            for (head, lines) in [("Suggestions", &result.suggestions), ("Errors", &result.errors), ("Log", &lines)] {
                if !lines.is_empty() {
                    text.push_str(&format!("\t{head}:\n"));
                    lines.iter().for_each(|line| text.push_str(&format!("\t\t{line}\n")));
                }
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// JSON of `kind: TestList`.
pub fn json(outcomes: &[Outcome]) -> Value {
    let item = |Outcome { test, results }: &Outcome| {
        let mut spec = json!({"image": test.image});
        if !test.entrypoint.is_empty() {
            spec["entrypoint"] = test.entrypoint.clone().into();
        }
        if !test.labels.is_empty() {
            spec["labels"] = json!(test.labels);
        }
        let path = test.storage.as_ref().map_or_else(|| json!({}), |path| json!({"path": path}));
        spec["storage"] = json!({"spec": {"mountPath": path}});
        let status = if results.is_empty() { json!({}) } else { json!({"results": results}) };
        json!({"kind": "Test", "apiVersion": "scorecard.operatorframework.io/v1alpha3", "spec": spec, "status": status})
    };
    json!({
        "kind": "TestList",
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "items": outcomes.iter().map(item).collect::<Vec<_>>(),
    })
}

/// The time that Go writes where there is none.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// xUnit XML for CI systems.
pub fn xunit(outcomes: &[Outcome]) -> String {
    let mut text = String::from("<testsuites name=\"scorecard\">\n");
    for (index, Outcome { test, results }) in outcomes.iter().enumerate() {
        let name = test.labels.get("test").cloned().unwrap_or_else(|| format!("testsuite-{:03}", index + 1));
        let count = |state: State| results.iter().filter(|result| result.state == state).count();
        let (failures, errors) = (count(State::Fail), count(State::Error));
        let head = format!(
            "name={} tests=\"{}\" skipped=\"0\" failures=\"{failures}\" errors=\"{errors}\"",
            quoted(&name),
            results.len()
        );
        _ = writeln!(text, "  <testsuite {head}>\n    <properties>");
        let entrypoint = test.entrypoint.join(" ");
        let phase = test.labels.get("cluster-phase").map(|phase| ("labels.cluster-phase", phase));
        let properties = [("spec.image", &test.image), ("spec.entrypoint", &entrypoint), ("labels.test", &name)];
        for (key, value) in properties.into_iter().chain(phase) {
            _ = writeln!(text, "      <property name=\"{key}\" value={}></property>", quoted(value));
        }
        text.push_str("    </properties>\n");
        for result in results {
            _ = writeln!(
                text,
                "    <testcase name={} time={}>\n      <system-out>{}</system-out>",
                quoted(&result.name),
                quoted(result.creation_timestamp.as_deref().unwrap_or(ZERO_TIME)),
                escaped(&result.log)
            );
            let (tag, kind) = match result.state {
                State::Pass => ("", ""),
                State::Fail => ("failure", "failure"),
                State::Error => ("error", "error"),
            };
            if !tag.is_empty() {
                _ = writeln!(text, "      <{tag} type=\"{kind}\">{}</{tag}>", escaped(&result.errors.join("\n")));
            }
            text.push_str("    </testcase>\n");
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Escapes text for XML, and replaces characters that are not allowed.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\n' | '\t' | '\r' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
