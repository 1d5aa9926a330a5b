//! The actions of Helm templates, `{{ … }}`, in a text that is otherwise YAML.

use std::ops::Range;

/// An action and its effect on the YAML around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub range: Range<usize>,
    pub kind: ActionKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Always prints this text, such as `` {{`{{`}} ``.
    Text(String),
    /// On separate lines, and prints nothing itself: `{{- if .Values.crds }}`, a comment, a variable.
    Control { is_end: bool },
    /// On separate lines, with unknown output: `{{- include "labels" . | nindent 4 }}`.
    Lines,
    /// A part of a line: `namespace: {{ .Release.Namespace }}`.
    Value,
}

/// The actions of a text. An unclosed action is skipped, since helm rejects the template.
pub fn actions(text: &str) -> Vec<Action> {
    let ranges = ranges(text);
    let is_blank = |range: Range<usize>| text[range].trim().is_empty();
    let kind = |index: usize| {
        let range = &ranges[index];
        let inside = text[range.start + 2..range.end - 2].trim_start_matches('-').trim_end_matches('-').trim();
        if let Some(constant) = constant(&text[range.start + 2..range.end - 2]) {
            return ActionKind::Text(constant.to_owned());
        }
        let before = ranges[..index].iter().map(|other| other.end).next_back().unwrap_or(0);
        let after = ranges.get(index + 1).map_or(text.len(), |other| other.start);
        let line = crate::text::line_start(text, range.start).max(before);
        let end = crate::text::line_end(text, range.end).min(after);
        if !is_blank(line..range.start) || !is_blank(range.end..end) {
            return ActionKind::Value;
        }
        let word = inside.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let is_control = ["if", "else", "end", "with", "range", "define", "block"].contains(&word)
            || inside.starts_with("/*")
            || inside.starts_with('$') && inside.contains('=');
        match is_control {
            true => ActionKind::Control { is_end: word == "end" },
            false => ActionKind::Lines,
        }
    };
    let mut actions: Vec<Action> =
        (0..ranges.len()).map(|index| Action { range: ranges[index].clone(), kind: kind(index) }).collect();
    // Several actions on the same line are all on separate lines, or none is.
    for index in (1..actions.len()).rev() {
        joined(text, &mut actions, index, index - 1);
    }
    for index in 1..actions.len() {
        joined(text, &mut actions, index - 1, index);
    }
    actions
}

/// The ranges of the actions in a text, from `{{` to `}}`.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
        let Some(end) = end_of(text, start) else { break };
        ranges.push(start..end);
        from = end;
    }
    ranges
}

/// Makes an action a part of a line if its neighbour on the line is one.
fn joined(text: &str, actions: &mut [Action], one: usize, other: usize) {
    let between = actions[one.min(other)].range.end..actions[one.max(other)].range.start;
    let prints = |action: &Action| matches!(action.kind, ActionKind::Value | ActionKind::Text(_));
    let is_known = matches!(actions[other].kind, ActionKind::Text(_));
    if prints(&actions[one]) && !is_known && !text[between].contains('\n') {
        actions[other].kind = ActionKind::Value;
    }
}

/// The end of the action that starts here. Strings and comments in it may contain `}}`.
fn end_of(text: &str, start: usize) -> Option<usize> {
    let mut at = start + 2;
    let inside = text[at..].trim_start_matches('-').trim_start();
    if inside.starts_with("/*") {
        at += text[at..].find("*/")? + 2;
        return Some(at + text[at..].find("}}")? + 2);
    }
    while at < text.len() {
        let rest = &text[at..];
        let next = rest.chars().next()?;
        match next {
            '}' if rest.starts_with("}}") => return Some(at + 2),
            '`' => at += 1 + rest[1..].find('`')? + 1,
            '"' | '\'' => {
                at += 1;
                loop {
                    let inner = text[at..].chars().next()?;
                    at += inner.len_utf8();
                    match inner {
                        '\\' => at += text[at..].chars().next()?.len_utf8(),
                        '\n' => return None,
                        _ if inner == next => break,
                        _ => {}
                    }
                }
            }
            _ => at += next.len_utf8(),
        }
    }
    None
}

/// The text of an action that is a single string without escapes. `None` if the action trims spaces.
fn constant(inside: &str) -> Option<&str> {
    let inside = inside.trim();
    let text = ['`', '"'].iter().find_map(|quote| inside.strip_prefix(*quote)?.strip_suffix(*quote))?;
    (!text.contains(['`', '"', '\\', '\n'])).then_some(text)
}

/// The known output of helm for the text: without control structures, with constants, and with `x` for unknown values.
/// Line breaks are kept, and all positions if `is_aligned`.
pub fn without_actions(text: &str, actions: &[Action], is_aligned: bool) -> String {
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for Action { range, kind } in actions {
        new.push_str(&text[at..range.start]);
        at = range.end;
        match kind {
            ActionKind::Text(constant) if !is_aligned => new.push_str(constant),
            ActionKind::Text(_) | ActionKind::Value => {
                // A YAML value is on one line, whatever the action.
                new.extend(text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { 'x' }));
            }
            ActionKind::Control { .. } | ActionKind::Lines => {
                new.extend(text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            }
        }
    }
    new.push_str(&text[at..]);
    new
}

/// Escapes the text for a template.
pub fn escape(text: &str) -> String {
    text.replace("{{", "{{`{{`}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_told_apart() {
        let text = "{{- if .a }}{{ if .b -}}\nname: {{ .c }}-{{ .d }}\n  {{- include \"x}}\" . | nindent 2 }}\n{{/* }} */}}\n\
                    text: a {{`{{`}} b\n{{- $x := 1 }}\n{{- end }}{{ end }}\nlast: {{ .e";
        let kinds: Vec<ActionKind> = actions(text).into_iter().map(|action| action.kind).collect();
        let control = |is_end| ActionKind::Control { is_end };
        assert_eq!(
            kinds,
            [
                control(false),
                control(false),
                ActionKind::Value,
                ActionKind::Value,
                ActionKind::Lines,
                control(false),
                ActionKind::Text("{{".into()),
                control(false),
                control(true),
                control(true),
            ]
        );
        let plain = without_actions(text, &actions(text), true);
        assert_eq!(plain.len(), text.len());
        assert!(plain.contains("\nname: xxxxxxxx-xxxxxxxx\n"), "{plain}");
        assert!(without_actions(text, &actions(text), false).contains("text: a {{ b\n"));
    }

    #[test]
    fn an_escaped_text_is_printed() {
        for text in ["a {{ b }} c", "{{{", "`{{` or `}}`", "{{`{{`}}"] {
            let escaped = escape(text);
            assert_eq!(without_actions(&escaped, &actions(&escaped), false), text);
        }
    }
}
