//! Finds the span of a value in an argument of a marker, or in a rule of a role.

use opctl_model::RbacRule;
use opctl_model::diagnostic::Span;

/// The span of a value in a marker or rule; the whole span if the value is not found, or empty.
pub fn span(rule: &RbacRule, argument: &str, value: &str) -> Span {
    if value.is_empty() {
        return rule.span.clone();
    }
    let marker = &rule.span.file.text[rule.span.range.clone()];
    let at = list(marker, argument).and_then(|start| word(marker, start, value));
    match at {
        Some(at) => {
            let start = rule.span.range.start + at;
            Span { file: rule.span.file.clone(), range: start..start + value.len() }
        }
        None => rule.span.clone(),
    }
}

/// The offset at which the values of an argument start.
fn list(marker: &str, argument: &str) -> Option<usize> {
    let key = if argument == "groups" { "apiGroups:" } else { &format!("{argument}:") };
    let in_rule = || Some(marker.find(key)? + key.len());
    in_marker(marker, argument).or_else(in_rule)
}

fn in_marker(marker: &str, argument: &str) -> Option<usize> {
    marker.match_indices(argument).find_map(|(at, _)| {
        let is_start = marker[..at].trim_end().ends_with([':', ',', '/']);
        let after = marker[at + argument.len()..].trim_start();
        (is_start && after.starts_with('=')).then(|| marker.len() - after.len() + 1)
    })
}

fn word(marker: &str, start: usize, value: &str) -> Option<usize> {
    const AROUND: &[char] = &['=', ';', ',', '{', '}', '[', ']', '"', '\'', '`', ' ', '\n', '\\'];
    marker[start..].match_indices(value).map(|(at, _)| start + at).find(|at| {
        let after = &marker[at + value.len()..];
        marker[..*at].ends_with(AROUND)
            && (after.is_empty() || after.starts_with(AROUND) || after.starts_with(char::is_whitespace))
    })
}
