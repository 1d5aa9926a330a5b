//! The gap between two siblings (modules, elements of a list), which contains only spaces, commas and comments; and the
//! position in it for a new sibling, so that each comment stays with the sibling that it describes.

use std::ops::Range;

use crate::text::{indent, insert, line_end, line_start, newline, starts_line};

/// One of several adjacent elements.
pub struct Sibling {
    pub key: String,
    pub range: Range<usize>,
}

/// The comments in a range that contains no tokens except punctuation.
pub fn comments(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let length = if rest.starts_with("//") {
            let line = rest.find('\n').map_or(rest, |newline| &rest[..newline]);
            line.trim_end().len()
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// The length of the block comment at the start of the text. Block comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// `true` if the range contains an empty line outside of comments.
pub fn has_blank_line(text: &str, range: Range<usize>) -> bool {
    last_blank_line(text, range).is_some()
}

/// The end of the last empty line in the range.
pub fn last_blank_line(text: &str, range: Range<usize>) -> Option<usize> {
    let mut ends = Vec::new();
    let mut from = range.start;
    for comment in comments(text, range.clone()).into_iter().chain(std::iter::once(range.end..range.end)) {
        let space = &text[from..comment.start];
        let mut newlines = space.match_indices('\n').map(|(at, _)| from + at + 1);
        if let (Some(_), Some(last)) = (newlines.next(), newlines.next_back()) {
            ends.push(last);
        }
        from = comment.end;
    }
    ends.pop()
}

/// The position for a sibling before the first one, which starts at `start`; the list opens at `open`.
///
/// Comments there are the heading of the list, except those after an empty line, which describe the current first
/// sibling.
pub fn before_first(text: &str, open: usize, start: usize) -> usize {
    let Some(blank) = last_blank_line(text, open..start) else { return start };
    let comments = comments(text, open..start);
    let has_heading = comments.iter().any(|comment| comment.start < blank);
    match comments.iter().find(|comment| comment.start >= blank) {
        Some(comment) if has_heading => comment.start,
        _ => start,
    }
}

/// Inserts `new` (with its punctuation) on a separate line before `at`, with the indentation of the element there.
pub fn insert_line_before(text: &str, at: usize, new: &str) -> String {
    let (indent, newline) = (indent(text, at), newline(text));
    if starts_line(text, at) {
        insert(text, line_start(text, at), &format!("{indent}{new}{newline}"))
    } else {
        insert(text, at, &format!("{new}{newline}{indent}"))
    }
}

/// Inserts `new` (with its punctuation) on a separate line after `at`, where a sibling in the column `indent` ends.
pub fn insert_line_after(text: &str, at: usize, indent: &str, new: &str) -> String {
    let newline = newline(text);
    match end_with_comments(text, at, indent) {
        Some(end) if text[..end].ends_with('\n') => insert(text, end, &format!("{indent}{new}{newline}")),
        Some(end) => insert(text, end, &format!("{newline}{indent}{new}{newline}")),
        None => insert(text, at, &format!("{newline}{indent}{new}")),
    }
}

/// The end of the line of `at`, if only a comment follows, which then describes the element before `at`.
pub fn end_with_comment(text: &str, at: usize) -> Option<usize> {
    let end = line_end(text, at);
    let rest = text[at..end].trim();
    let is_block = || rest.starts_with("/*") && rest.ends_with("*/") && block_comment(rest) == rest.len();
    (rest.is_empty() || rest.starts_with("//") || is_block()).then_some(end)
}

/// Like [`end_with_comment`], including lines on which the comment continues: they are indented deeper than the
/// sibling.
pub fn end_with_comments(text: &str, at: usize, column: &str) -> Option<usize> {
    let end = end_with_comment(text, at)?;
    let goes_on = |line: &&str| line.trim_start().starts_with("//") && indent(line, 0).len() > column.len();
    let has_comment = text[at..end].trim_start().starts_with("//");
    let below = text[end..].split_inclusive('\n').take_while(|line| has_comment && goes_on(line));
    Some(end + below.map(str::len).sum::<usize>())
}

/// The text that one more level adds to this indentation.
pub fn step(indent: &str) -> &'static str {
    if indent.starts_with('\t') { "\t" } else { "    " }
}
