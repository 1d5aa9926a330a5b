//! A list in brackets, `[a, b]`, in TOML or YAML: inserts an element in the existing layout.

use std::ops::Range;

use super::text::{indent, insert, line_end, line_start, newline, starts_line};

/// A list, with the ranges of its elements and the position of the closing bracket.
pub struct List<'a> {
    pub text: &'a str,
    pub elements: Vec<Range<usize>>,
    pub close: usize,
}

impl List<'_> {
    /// The text with `item` inserted at this index: on a separate line if its neighbour has one.
    pub fn insert(&self, index: usize, item: &str) -> String {
        let (text, newline) = (self.text, newline(self.text));
        if let Some(next) = self.elements.get(index) {
            return if starts_line(text, next.start) {
                let line = format!("{}{item},{newline}", indent(text, next.start));
                insert(text, line_start(text, next.start), &line)
            } else {
                insert(text, next.start, &format!("{item}, "))
            };
        }
        let Some(last) = self.elements.last() else {
            return if starts_line(text, self.close) {
                let line = format!("{}    {item},{newline}", indent(text, self.close));
                insert(text, line_start(text, self.close), &line)
            } else {
                insert(text, self.close, item)
            };
        };
        let end = line_end(text, last.end);
        if !starts_line(text, last.start) || end > self.close {
            return insert(text, last.end, &format!(", {item}"));
        }
        let (comma, add) = if text[last.end..].trim_start().starts_with(',') { (",", "") } else { ("", ",") };
        let line = format!("{}{item}{comma}{newline}", indent(text, last.start));
        insert(&insert(text, end, &line), last.end, add)
    }
}
