//! The keys of a values.yaml in their order, and what the comments say of them.
//!
//! A comment belongs to the key below it, in the same column, or to the key in its line. The forms of helm-docs (`# -- text`) and of
//! Bitnami's generator (`## @param key text`) are read, too.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser};

/// A key outside of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub path: Vec<String>,
    /// In one line; empty: none.
    pub comment: String,
}

/// All keys of a text that is YAML.
pub fn keys(text: &str) -> Vec<Key> {
    let parameters = parameters(text);
    let mut keys: Vec<Key> = Vec::new();
    // The current key of each open mapping; `None`: of a list.
    let mut open: Vec<Option<Option<String>>> = Vec::new();
    for event in Parser::new_from_str_with_options(text, granit_parser::options! { emit_comments: false }) {
        let Ok((event, span)) = event else { break };
        match event {
            Event::MappingStart(..) => open.push(Some(None)),
            Event::SequenceStart(..) => open.push(None),
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                value_ends(&mut open);
            }
            Event::Alias(_) => value_ends(&mut open),
            Event::Scalar(scalar, ..) => match open.last_mut() {
                Some(Some(key @ None)) => {
                    *key = Some(scalar.into_owned());
                    let path: Option<Vec<String>> = open.iter().map(|level| level.clone().flatten()).collect();
                    let Some(path) = path else { continue };
                    let parameter = parameters.get(&path.join(".")).cloned();
                    let at = span.byte_range().map_or(0, |range| range.start);
                    let comment = parameter.unwrap_or_else(|| comment(text, at, &path));
                    keys.push(Key { path, comment });
                }
                _ => value_ends(&mut open),
            },
            _ => {}
        }
    }
    keys
}

fn value_ends(open: &mut [Option<Option<String>>]) {
    if let Some(Some(key)) = open.last_mut() {
        *key = None;
    }
}

/// `## @param image.tag [string] The tag`
fn parameters(text: &str) -> BTreeMap<String, String> {
    let lines =
        text.lines().filter_map(|line| line.trim_start().trim_start_matches('#').trim_start().strip_prefix("@param "));
    lines
        .filter_map(|line| line.trim_start().split_once(' '))
        .map(|(key, text)| (key.to_owned(), words(without_kind(text.trim_start(), ['[', ']']))))
        .collect()
}

/// What the lines above the key at `at` say of it, or else the end of its line.
fn comment(text: &str, at: usize, path: &[String]) -> String {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = &text[start..at];
    let is_alone = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('#'));
    let mut above: Vec<&str> = text[..start].lines().rev().take_while(is_alone).collect();
    above.reverse();
    let above: Vec<&str> = above.iter().map(|line| stripped(line)).filter(|line| !line.starts_with('@')).collect();
    let old = format!("{} -- ", path.join("."));
    let marked = above.iter().rposition(|line| line.starts_with("-- ") || line.starts_with(&old));
    let lines = match marked {
        Some(first) => {
            let text = above[first].strip_prefix("-- ").or_else(|| above[first].strip_prefix(&old)).unwrap_or_default();
            [&[without_kind(text, ['(', ')'])], &above[first + 1..]].concat()
        }
        None => above,
    };
    match words(&lines.join(" ")) {
        above if above.is_empty() => words(beside(text[at..].lines().next().unwrap_or_default())),
        above => above,
    }
}

fn stripped(line: &str) -> &str {
    line.trim_start().trim_start_matches('#').trim()
}

/// The comment at the end of a line.
fn beside(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') if matches!(before, ' ' | '[' | '{' | ',') => quote = Some(letter),
            (None, '#') if before.is_whitespace() => return stripped(&line[at..]).trim_start_matches("-- "),
            _ => {}
        }
        before = letter;
    }
    ""
}

/// Without `(int)` at the start.
fn without_kind(text: &str, [open, close]: [char; 2]) -> &str {
    let rest = text.strip_prefix(open).and_then(|text| text.split_once(close));
    rest.filter(|(kind, _)| !kind.contains(' ') || open == '[').map_or(text, |(_, rest)| rest.trim_start())
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_comment() {
        let text = "\
# About all.

# How many
# replicas.
replicaCount: 1
image:
  # Ignored: see the next.
  # -- (string) The tag.
  # More of it.
  # @default -- none
  tag: \"#1\" # no more
  pullPolicy: Always # when
  # image.old -- The old form.
  old: x
ports: {}
  # - an example
list:
  - a: 1
    # b
    b: 2
## @param auth.user [string, nullable] Who
## @param auth.password The secret
##
auth:
  user: \"\"
  password: |
    # no comment
    x
next: 1
";
        let found: Vec<String> =
            keys(text).into_iter().map(|key| format!("{}: {}", key.path.join("."), key.comment)).collect();
        assert_eq!(
            found,
            [
                "replicaCount: How many replicas.",
                "image: ",
                "image.tag: The tag. More of it.",
                "image.pullPolicy: when",
                "image.old: The old form.",
                "ports: ",
                "list: ",
                "auth: ",
                "auth.user: Who",
                "auth.password: The secret",
                "next: ",
            ]
        );
    }
}
