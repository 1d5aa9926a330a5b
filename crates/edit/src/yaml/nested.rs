//! Adds an item to a sequence anywhere in a file: in any document, below keys and other sequences, and in Helm
//! templates.
//!
//! The new item has the style of its neighbour. In a template, actions are masked by plain YAML of the same length, and
//! the item is only inserted under the same conditions as the sequence itself. The caller must check the rendered
//! template.

use std::ops::Range;

use serde_json::Value;

use super::scan::{Element, Field, Lines, flow_sequence};
use super::{flow_string, item_lines, quote, template};
use crate::EditError;
use crate::text::insert;
use opctl_model::yaml;

/// The path of a sequence in a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct YamlSequence {
    /// The index of the document. Documents without a value do not count.
    #[serde(default)]
    pub document: usize,
    /// The path; its last step is the key of the sequence.
    pub path: Vec<YamlStep>,
    #[serde(default)]
    pub is_template: bool,
}

/// A step from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(untagged)]
pub enum YamlStep {
    Key(String),
    Index(usize),
}

impl YamlSequence {
    /// The items that are literals; `None` if the sequence does not exist.
    pub fn items(&self, text: &str) -> Option<Vec<Option<Value>>> {
        let text = self.masked(text);
        let document = documents(&text).into_iter().nth(self.document)?;
        let lines = Lines::of(&text[document]);
        let field = self.field(&lines)?;
        let value = &lines.text[field.value.clone()];
        if value.starts_with('[') {
            let list = flow_sequence(lines.text, field.value.start)?;
            return Some(list.elements.iter().map(|range| yaml::read(&lines.text[range.clone()]).ok()).collect());
        }
        let elements = value.is_empty().then(|| lines.elements(field.lines.start + 1..field.lines.end))??;
        Some(elements.iter().map(|element| item(&lines, element)).collect())
    }

    /// Adds `item` to the sequence: in order if it is sorted, else at the end. Changes nothing if the item exists.
    pub fn add(&self, text: &str, item: &Value) -> Result<String, EditError> {
        let has = |items: &[Option<Value>]| items.iter().flatten().any(|other| other == item);
        if self.items(text).is_some_and(|items| has(&items)) {
            return Ok(text.into());
        }
        self.added(text, item).ok_or_else(|| {
            let lines: String = item_lines(item).iter().map(|line| format!("\n    {line}")).collect();
            EditError {
                at: None,
                reason: format!("the YAML of `{}` is written in a way that cannot be edited safely", self.key()),
                help: format!("add this under `{}:`, then run the command again:{lines}", self.key()),
            }
        })
    }

    fn key(&self) -> &str {
        match self.path.last() {
            Some(YamlStep::Key(key)) => key,
            _ => "",
        }
    }

    fn masked(&self, text: &str) -> String {
        if self.is_template { mask(text) } else { text.to_owned() }
    }

    fn added(&self, text: &str, item: &Value) -> Option<String> {
        let masked = self.masked(text);
        let range = documents(&masked).into_iter().nth(self.document)?;
        let (edited, index) = self.insert(&masked[range.clone()], item, &|at| contexts(text, range.start + at))?;
        if !self.is_template {
            let new = [&text[..range.start], &edited, &text[range.end..]].concat();
            return self.is_only_change(text, &new, index, item).then_some(new);
        }
        let old = &masked[range.clone()];
        let same = old.bytes().zip(edited.bytes()).take_while(|(a, b)| a == b).count();
        let length = edited.len() - old.len();
        let is_one_insertion = edited.get(same + length..)? == old.get(same..)?;
        is_one_insertion.then(|| insert(text, range.start + same, &edited[same..same + length]))
    }

    /// The text of a document with the item, and the index of the item. `contexts` returns the actions around an
    /// offset.
    fn insert(&self, text: &str, item: &Value, contexts: &dyn Fn(usize) -> Vec<usize>) -> Option<(String, usize)> {
        let lines = Lines::of(text);
        let field = self.field(&lines)?;
        if lines.has_tabs(field.lines.clone()) {
            return None;
        }
        let value = &text[field.value.clone()];
        let index = |items: &[Option<Value>]| {
            let known: Option<Vec<&str>> = items.iter().map(|item| item.as_ref()?.as_str()).collect();
            let wanted = item.as_str().zip(known.filter(|known| known.is_sorted()));
            wanted.map_or(items.len(), |(item, known)| known.partition_point(|other| *other < item))
        };
        if value == "[]" && !self.is_template {
            let start = text[..field.value.start].trim_end_matches(' ').len();
            let emptied = crate::text::replace(text, start..field.value.end, "");
            let new = indented(item_lines(item), field.column);
            return Some((Lines::of(&emptied).insert(field.lines.end, &new), 0));
        }
        if value.starts_with('[') {
            let list = flow_sequence(text, field.value.start)?;
            let items: Vec<Option<Value>> =
                list.elements.iter().map(|range| yaml::read(&text[range.clone()]).ok()).collect();
            let style = Style::of(&text[field.value.clone()]);
            let at = index(&items);
            return Some((list.insert(at, &style.flow(item)), at));
        }
        let elements = value.is_empty().then(|| lines.elements(field.lines.start + 1..field.lines.end))??;
        // Without a neighbour, the right column is unknown.
        let first = elements.first()?.lines.start;
        let items: Vec<Option<Value>> = elements.iter().map(|element| self::item(&lines, element)).collect();
        let own = contexts(lines.start(field.lines.start));
        let end = |at: usize| match at.checked_sub(1) {
            Some(before) => elements[before].lines.end,
            None => lines.before_first(field.lines.start + 1, first),
        };
        // The item must not become part of a condition around its neighbour.
        let at = (0..=index(&items)).rev().find(|at| contexts(lines.start(end(*at))) == own)?;
        let neighbour = elements.get(at.saturating_sub(1))?;
        let new = indented(block(item, &lines, neighbour), neighbour.column);
        Some((lines.insert(end(at), &new), at))
    }

    fn field(&self, lines: &Lines) -> Option<Field> {
        let mut fields = lines.top_level()?;
        let mut steps = self.path.iter();
        loop {
            let Some(YamlStep::Key(key)) = steps.next() else { return None };
            let field = fields.into_iter().find(|field| field.key == *key)?;
            let below = field.lines.start + 1..field.lines.end;
            match steps.as_slice() {
                [] => return Some(field),
                _ if !lines.text[field.value.clone()].is_empty() => return None,
                [YamlStep::Key(_), ..] => fields = lines.nested(below)?,
                [YamlStep::Index(index), ..] => {
                    fields = lines.fields_of(lines.elements(below)?.get(*index)?)?;
                    steps.next();
                }
            }
        }
    }

    fn is_only_change(&self, before: &str, after: &str, index: usize, item: &Value) -> bool {
        let (Ok(mut before), Ok(after)) = (yaml::read_all::<Value>(before), yaml::read_all::<Value>(after)) else {
            return false;
        };
        let Some(document) = before.get_mut(self.document) else { return false };
        let sequence = self.path.iter().try_fold(document, |value, step| match step {
            YamlStep::Key(key) => value.get_mut(key),
            YamlStep::Index(index) => value.get_mut(index),
        });
        let Some(Value::Array(items)) = sequence else { return false };
        items.insert(index, item.clone());
        before == after
    }
}

/// The documents of a file that have a value, without separators.
fn documents(text: &str) -> Vec<Range<usize>> {
    let mut documents: Vec<Range<usize>> = std::iter::once(0..0).collect();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_end() == "---" || line.starts_with("--- ") {
            documents.push(end..end);
        }
        documents.last_mut().expect("there is a first one").end = end;
        at = end;
    }
    // The separator belongs to neither document.
    let starts: Vec<usize> = documents.iter().map(|document| document.start).collect();
    for (document, next) in documents.iter_mut().zip(starts.iter().skip(1)) {
        document.end = crate::text::line_start(text, next - 1);
    }
    let is_value = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%']);
    documents.retain(|document| document.start < document.end && text[document.clone()].lines().any(is_value));
    documents
}

/// The template as YAML of the same length: lines with only actions become comments, other actions become `x`.
fn mask(text: &str) -> String {
    let mut masked = text.as_bytes().to_vec();
    for action in template::ranges(text) {
        masked[action].iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b'\0');
    }
    for line in masked.split_mut(|byte| *byte == b'\n') {
        let is_action = line.iter().all(|byte| *byte == b'\0' || byte.is_ascii_whitespace());
        let first = line.iter().position(|byte| *byte == b'\0');
        line.iter_mut().filter(|byte| **byte == b'\0').for_each(|byte| *byte = b'x');
        if let Some(first) = first.filter(|_| is_action) {
            line[first] = b'#';
        }
    }
    String::from_utf8(masked).expect("characters are replaced as a whole")
}

/// The control structures around an offset of a template, each with the number of its branch.
fn contexts(text: &str, offset: usize) -> Vec<usize> {
    let mut open = Vec::new();
    for (number, action) in
        template::ranges(text).into_iter().enumerate().take_while(|(_, action)| action.start < offset)
    {
        let words = text[action].trim_start_matches(['{', '-', ' ']);
        let word = words.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        match word {
            "if" | "with" | "range" | "define" | "block" => open.push(number),
            "else" => _ = open.last_mut().map(|last| *last = number),
            "end" => _ = open.pop(),
            _ => {}
        }
    }
    open
}

/// The value of an element; `None` if it contains an alias of another part of the file.
fn item(lines: &Lines, element: &Element) -> Option<Value> {
    let text = &lines.text[lines.start(element.lines.start)..lines.start(element.lines.end)];
    yaml::read::<Vec<Value>>(text).ok()?.pop()
}

fn indented(lines: Vec<String>, column: usize) -> Vec<String> {
    lines.iter().map(|line| format!("{:column$}{line}", "")).collect()
}

/// The style of a text: quotes and brackets.
struct Style {
    quote: Option<char>,
    is_flow: bool,
}

impl Style {
    fn of(text: &str) -> Self {
        let is_quoted = |quote: char| {
            let mut after = text.split(quote).skip(1);
            after.any(|after| after.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        Self { quote: ['"', '\''].into_iter().find(|quote| is_quoted(*quote)), is_flow: text.contains('[') }
    }

    fn scalar(&self, item: &Value, plain: fn(&str) -> String) -> String {
        match (item.as_str(), self.quote) {
            (Some(text), Some('\'')) if !text.contains(['\'', '\n']) => format!("'{text}'"),
            (Some(text), Some(_)) => quote(text),
            (Some(text), None) => plain(text),
            (None, _) => super::flow(item),
        }
    }

    fn flow(&self, item: &Value) -> String {
        match item {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flow(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(fields) => {
                let field = |(key, value): (&String, &Value)| format!("{}: {}", flow_string(key), self.flow(value));
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            item => self.scalar(item, flow_string),
        }
    }
}

/// The lines of an element in block style, formatted like another one.
fn block(item: &Value, lines: &Lines, neighbour: &Element) -> Vec<String> {
    let text = &lines.text[lines.start(neighbour.lines.start)..lines.start(neighbour.lines.end)];
    let (style, value) = (Style::of(text), text.trim_start().trim_start_matches('-'));
    let dash = format!("-{}", &value[..value.len() - value.trim_start_matches(' ').len()]);
    let dash = if dash.len() > 1 { dash } else { "- ".into() };
    match item {
        Value::Object(fields) if !value.trim_start().starts_with('{') => {
            let like = lines.fields_of(neighbour).unwrap_or_default();
            let lines = fields.iter().flat_map(|(key, value)| field_lines(key, value, &style, &like, lines));
            let behind = " ".repeat(dash.len());
            lines.enumerate().map(|(i, line)| format!("{}{line}", if i == 0 { &dash } else { &behind })).collect()
        }
        Value::Object(_) | Value::Array(_) => vec![format!("{dash}{}", style.flow(item))],
        item => vec![format!("{dash}{}", style.scalar(item, |text| super::scalar(&text.into())))],
    }
}

/// A field of a new element. Lists are indented, or in brackets, as in the fields `like`.
fn field_lines(key: &str, value: &Value, style: &Style, like: &[Field], lines: &Lines) -> Vec<String> {
    let fields = like.iter().filter(|field| field.key == key).chain(like);
    let indents = fields.filter_map(|field| {
        let elements = lines.elements(field.lines.start + 1..field.lines.end)?;
        elements.first()?.column.checked_sub(field.column)
    });
    match (value, indents.into_iter().next()) {
        (Value::Array(items), indent) if !items.is_empty() && (indent.is_some() || !style.is_flow) => {
            let column = indent.unwrap_or_default();
            let plain = |text: &str| super::scalar(&text.into());
            let items = items.iter().map(|item| format!("{:column$}- {}", "", style.scalar(item, plain)));
            std::iter::once(format!("{key}:")).chain(items).collect()
        }
        (value, _) => vec![format!("{key}: {}", style.flow(value))],
    }
}
