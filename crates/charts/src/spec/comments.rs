//! The keys of a values.yaml in file order, with the documentation in its comments.
//!
//! A comment documents the key below it in the same column, or the key on its own line. The formats of helm-docs
//! (`# -- text`) and of Bitnami's generator (`## @param key text`) are supported.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser};

/// A key outside of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub path: Vec<String>,
    /// On one line; empty if the key has no comment.
    pub comment: String,
    /// The type that the comment states, such as `int`.
    pub stated: Option<String>,
}

/// All keys of a YAML text outside of lists.
pub fn keys(text: &str) -> Vec<Key> {
    let parameters = parameters(text);
    let mut keys: Vec<Key> = Vec::new();
    // The current key of each open mapping; `None` for a list.
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
                    let (comment, stated) = parameter.unwrap_or_else(|| comment(text, at, &path));
                    keys.push(Key { path, comment, stated });
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
fn parameters(text: &str) -> BTreeMap<String, (String, Option<String>)> {
    let lines =
        text.lines().filter_map(|line| line.trim_start().trim_start_matches('#').trim_start().strip_prefix("@param "));
    lines
        .filter_map(|line| line.trim_start().split_once(' '))
        .map(|(key, text)| {
            let (stated, text) = split_type(text.trim_start(), ['[', ']']);
            (key.to_owned(), (words(text), stated))
        })
        .collect()
}

/// The comment above the key at byte `at`, or else the one at the end of its line; and the type that it states.
fn comment(text: &str, at: usize, path: &[String]) -> (String, Option<String>) {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = &text[start..at];
    let is_alone = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('#'));
    let mut above: Vec<&str> = text[..start].lines().rev().take_while(is_alone).collect();
    above.reverse();
    let (tags, above): (Vec<&str>, Vec<&str>) =
        above.iter().map(|line| stripped(line)).partition(|line| line.starts_with('@'));
    // `# @type: string`, and helm-schema's `# @schema type: string`.
    let mut stated = tags.iter().rev().find_map(|tag| {
        let rest = tag.strip_prefix("@type:").or_else(|| tag.strip_prefix("@schema")?.trim().strip_prefix("type:"))?;
        Some(rest.split(';').next().unwrap_or_default().trim().to_owned())
    });
    let old = format!("{} -- ", path.join("."));
    let marked = above.iter().rposition(|line| line.starts_with("-- ") || line.starts_with(&old));
    let lines = match marked {
        Some(first) => {
            let text = above[first].strip_prefix("-- ").or_else(|| above[first].strip_prefix(&old)).unwrap_or_default();
            let (own, text) = split_type(text, ['(', ')']);
            stated = stated.or(own);
            [&[text], &above[first + 1..]].concat()
        }
        None => above,
    };
    let comment = match words(&lines.join(" ")) {
        above if above.is_empty() => words(beside(text[at..].lines().next().unwrap_or_default())),
        above => above,
    };
    (comment, stated)
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

/// The type in `(int) text`, and the text.
fn split_type(text: &str, [open, close]: [char; 2]) -> (Option<String>, &str) {
    let parts = text.strip_prefix(open).and_then(|text| text.split_once(close));
    match parts.filter(|(stated, _)| !stated.contains(' ') || open == '[') {
        Some((stated, rest)) => (Some(stated.to_owned()), rest.trim_start()),
        None => (None, text),
    }
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

# Number of
# replicas.
# @type: integer
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
        let found: Vec<String> = keys(text)
            .into_iter()
            .map(|Key { path, comment, stated }| {
                let stated = stated.map(|stated| format!(" ({stated})")).unwrap_or_default();
                format!("{}: {comment}{stated}", path.join("."))
            })
            .collect();
        assert_eq!(
            found,
            [
                "replicaCount: Number of replicas. (integer)",
                "image: ",
                "image.tag: The tag. More of it. (string)",
                "image.pullPolicy: when",
                "image.old: The old form.",
                "ports: ",
                "list: ",
                "auth: ",
                "auth.user: Who (string, nullable)",
                "auth.password: The secret",
                "next: ",
            ]
        );
    }
}
