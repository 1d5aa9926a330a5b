//! Finds the fields of a mapping and the elements of a sequence in a block of YAML, as ranges of lines.
//!
//! Supports only YAML that people write by hand in such files, and returns `None` otherwise. It need not be right about
//! every oddity of YAML, because callers parse the result and compare.

use std::ops::Range;

use crate::brackets::List;
use crate::text::newline;

/// A text split into lines.
pub struct Lines<'a> {
    pub text: &'a str,
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    start: usize,
    /// Without the line ending.
    text: &'a str,
}

/// `key: value`, or `key:` and further lines.
pub struct Field {
    pub key: String,
    pub lines: Range<usize>,
    /// The text after the colon on its line, without spaces and comment.
    pub value: Range<usize>,
    /// The column of the key, in bytes.
    pub column: usize,
}

/// `- …`
pub struct Element {
    pub lines: Range<usize>,
    pub column: usize,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut start = 0;
        let lines = text
            .split_inclusive('\n')
            .map(|line| {
                let content = line.strip_suffix('\n').unwrap_or(line);
                let line_start = start;
                start += line.len();
                Line { start: line_start, text: content.strip_suffix('\r').unwrap_or(content) }
            })
            .collect();
        Self { text, lines }
    }

    /// The fields of the top-level mapping.
    pub fn top_level(&self) -> Option<Vec<Field>> {
        let marker = |line: &Line| line.text.trim_end() == "---";
        let first = self.lines.iter().position(|line| !line.is_blank() && !line.is_comment() && !marker(line));
        self.fields(first.unwrap_or(self.lines.len())..self.lines.len(), 0)
    }

    /// The fields of a block mapping in these lines, with keys in `column`. The first field may follow a dash.
    pub fn fields(&self, lines: Range<usize>, column: usize) -> Option<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        for number in lines.clone() {
            let line = &self.lines[number];
            if line.is_blank() || (line.is_comment() && (line.indent() <= column || fields.is_empty())) {
                continue;
            }
            // A sequence may be in the column of its key, and so may a closing bracket.
            let is_deeper = line.indent() > column || (line.indent() == column && line.continues_value());
            if number == lines.start && line.text.len() > column {
                fields.push(self.field(number, column)?);
            } else if is_deeper {
                fields.last_mut()?.lines.end = number + 1;
            } else if line.indent() == column {
                fields.push(self.field(number, column)?);
            } else {
                return None;
            }
        }
        Some(fields)
    }

    fn field(&self, number: usize, column: usize) -> Option<Field> {
        let line = &self.lines[number];
        let rest = line.text.get(column..)?;
        let (key, after) = match rest.as_bytes().first()? {
            b'"' | b'\'' => {
                let length = quoted(rest)?;
                (super::parse_string(&rest[..length])?, length)
            }
            b'?' | b'{' | b'[' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b'#' => return None,
            _ => {
                let length = rest.find(": ").or_else(|| rest.trim_end().strip_suffix(':').map(str::len))?;
                (rest[..length].trim_end().to_owned(), length)
            }
        };
        let after = after + rest[after..].find(':')?;
        let value = rest[after + 1..].trim_start();
        let start = line.start + line.text.len() - value.len();
        let length = match value.as_bytes().first() {
            Some(b'#') | None => 0,
            Some(b'"' | b'\'') => quoted(value).unwrap_or(value.trim_end().len()),
            _ => value.find(" #").map_or(value, |comment| &value[..comment]).trim_end().len(),
        };
        Some(Field { key, lines: number..number + 1, value: start..start + length, column })
    }

    /// The elements of a block sequence in these lines.
    pub fn elements(&self, lines: Range<usize>) -> Option<Vec<Element>> {
        let mut elements: Vec<Element> = Vec::new();
        for number in lines {
            let line = &self.lines[number];
            let column = elements.last().map(|element| element.column);
            if line.is_blank() || (line.is_comment() && column.is_none_or(|column| line.indent() <= column)) {
                continue;
            }
            match column {
                Some(column) if line.indent() > column => elements.last_mut()?.lines.end = number + 1,
                _ if line.is_dash() && column.is_none_or(|column| line.indent() == column) => {
                    elements.push(Element { lines: number..number + 1, column: line.indent() });
                }
                _ => return None,
            }
        }
        Some(elements)
    }

    /// The fields of an element that is a block mapping.
    pub fn fields_of(&self, element: &Element) -> Option<Vec<Field>> {
        let first = &self.lines[element.lines.start];
        let after_dash = first.text.get(element.column + 1..)?.trim_start();
        if !after_dash.is_empty() && !after_dash.starts_with('#') {
            return self.fields(element.lines.clone(), first.text.len() - after_dash.len());
        }
        self.nested(element.lines.start + 1..element.lines.end)
    }

    /// The fields of a block mapping in the lines below its key.
    pub fn nested(&self, lines: Range<usize>) -> Option<Vec<Field>> {
        let first =
            lines.clone().find(|number| !self.lines[*number].is_blank() && !self.lines[*number].is_comment())?;
        self.fields(first..lines.end, self.lines[first].indent())
    }

    /// `true` if these lines contain tabs, which line-based edits do not support.
    pub fn has_tabs(&self, lines: Range<usize>) -> bool {
        self.lines[lines].iter().any(|line| !line.is_comment() && line.text.contains('\t'))
    }

    /// The line for an element before the first one, which is on line `start`; the lines of the sequence start at
    /// `open`. Comments there are the heading of the list, except those after an empty line, which describe the current
    /// first element.
    pub fn before_first(&self, open: usize, start: usize) -> usize {
        let Some(blank) = (open..start).rev().find(|number| self.lines[*number].is_blank()) else { return start };
        let has_heading = (open..blank).any(|number| self.lines[number].is_comment());
        if has_heading { blank + 1 } else { start }
    }

    /// The text with these lines inserted before the line with this index, which may be one past the last.
    pub fn insert(&self, number: usize, new: &[String]) -> String {
        let newline = newline(self.text);
        let at = self.start(number);
        let mut block = String::new();
        if at == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n') {
            block.push_str(newline);
        }
        for line in new {
            block.push_str(line);
            block.push_str(newline);
        }
        crate::text::insert(self.text, at, &block)
    }

    pub fn start(&self, number: usize) -> usize {
        self.lines.get(number).map_or(self.text.len(), |line| line.start)
    }

    pub fn count(&self) -> usize {
        self.lines.len()
    }
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_comment(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }

    fn continues_value(&self) -> bool {
        self.is_dash() || self.text.trim_start_matches(' ').starts_with([']', '}'])
    }

    fn is_dash(&self) -> bool {
        let text = self.text.trim_start_matches(' ');
        text == "-" || text.starts_with("- ")
    }
}

/// The flow sequence `[…]` that starts at `start`.
pub fn flow_sequence(text: &str, start: usize) -> Option<List<'_>> {
    let mut elements = Vec::new();
    let mut element: Option<Range<usize>> = None;
    let mut depth = 0;
    let mut at = start;
    while at < text.len() {
        let rest = &text[at..];
        let mut length = rest.chars().next()?.len_utf8();
        match rest.as_bytes()[0] {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b'#' if text[..at].ends_with([' ', '\n']) => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'"' | b'\'' if element.is_none() => length = quoted(rest)?,
            _ => {}
        }
        let ends = depth == 0 || (depth == 1 && rest.starts_with(','));
        if ends {
            elements.extend(element.take());
        } else if at > start && !rest.starts_with(char::is_whitespace) {
            element = Some(element.map_or(at, |element| element.start)..at + length);
        }
        at += length;
        if depth == 0 {
            return Some(List { text, elements, close: at - 1 });
        }
    }
    None
}

/// The length of the quoted scalar at the start of the text.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut at = 1;
    while at < text.len() {
        let rest = &text[at..];
        if quote == '"' && rest.starts_with('\\') {
            at += 1 + rest[1..].chars().next()?.len_utf8();
        } else if quote == '\'' && rest.starts_with("''") {
            at += 2;
        } else if rest.starts_with(quote) {
            return Some(at + 1);
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
    None
}
