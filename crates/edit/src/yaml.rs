//! Edits of YAML: adds an element to a sequence under a top-level key, or missing fields to an entry of it.
//!
//! Edits are made in the text, line by line, so that comments, order, quoting and unknown fields survive. The result is
//! parsed and must equal the old value with just this change, so a mistake of the scanner leads to a refusal, never to
//! damage.

pub mod documents;
mod nested;
mod scan;
mod template;

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::EditError;
use super::text::{insert, replace};
pub use nested::{YamlSequence, YamlStep};
use opctl_model::yaml;
use scan::{Element, Field, Lines, flow_sequence};

/// Adds the string `item` to the sequence under `key`, in sorted order, unless it already exists.
pub fn add_item(text: &str, key: &str, item: &str) -> Result<String, EditError> {
    let target = Target { key, element: vec![format!("- {}", scalar(&item.into()))] };
    let before = target.parse(text)?;
    let items = target.sequence(&before)?;
    if items.iter().any(|other| other.as_str() == Some(item)) {
        return Ok(text.into());
    }
    let is_greater = |other: &Value| other.as_str().is_some_and(|other| other > item);
    let index = items.iter().position(is_greater).unwrap_or(items.len());
    let new = target.insert(text, index, items.len(), Some(item))?;
    target.check(new, before, |items| items.insert(index, item.into()))
}

/// The plain strings in the block sequence under the top-level key `key`; empty if there is no such sequence.
pub fn items(text: &str, key: &str) -> Vec<String> {
    let root: Value = yaml::read(text).unwrap_or_default();
    let items = root.get(key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Removes the string `item` from the sequence under `key`, and the key together with the last item.
pub fn remove_item(text: &str, key: &str, item: &str) -> Result<String, EditError> {
    let target = Target { key, element: vec![format!("- {}", scalar(&item.into()))] };
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("remove this under `{key}:`, then run the command again:\n    {}", target.element[0]),
    };
    let before = target.parse(text).map_err(|error| refuse(error.reason))?;
    let items = target.sequence(&before).map_err(|error| refuse(error.reason))?;
    let Some(index) = items.iter().position(|other| other.as_str() == Some(item)) else { return Ok(text.into()) };
    let unclear = || refuse(target.unclear().reason);
    let new = target.without(text, index, items.len()).ok_or_else(unclear)?;
    let mut after = before.clone();
    if items.len() == 1 && !target.parse(&new).is_ok_and(|new| new.contains_key(key)) {
        after.remove(key);
        return if target.parse(&new).is_ok_and(|new| new == after) { Ok(new) } else { Err(unclear()) };
    }
    target.check(new, before, |items| _ = items.remove(index)).map_err(|_| unclear())
}

/// Adds the mapping `fields` to the sequence under `key`, sorted by the values of the keys `identity`. If an entry
/// already has these values, sets its missing and different fields instead.
pub fn add_entry(text: &str, key: &str, identity: &[String], fields: &Map<String, Value>) -> Result<String, EditError> {
    let target = Target { key, element: item_lines(&fields.clone().into()) };
    let before = target.parse(text)?;
    let entries = target.sequence(&before)?;
    let wanted = Value::from(fields.clone());
    let is_same = |entry: &Value| entry.is_object() && identity.iter().all(|key| entry.get(key) == wanted.get(key));
    if let Some(index) = entries.iter().position(is_same) {
        let new = target.merge(text, index, fields)?;
        return target.check(new, before, |entries| merge_value(&mut entries[index], &wanted));
    }
    let is_greater = |entry: &Value| entry.is_object() && compare_by(identity, entry, &wanted).is_gt();
    let index = entries.iter().position(is_greater).unwrap_or(entries.len());
    let new = target.insert(text, index, entries.len(), None)?;
    target.check(new, before, |entries| entries.insert(index, wanted))
}

/// A sequence to edit, and the lines of the element to add.
struct Target<'a> {
    key: &'a str,
    element: Vec<String>,
}

impl Target<'_> {
    fn refuse(&self, reason: impl Into<String>) -> EditError {
        let lines: String = self.element.iter().map(|line| format!("\n    {line}")).collect();
        EditError {
            at: None,
            reason: reason.into(),
            help: format!("add this under `{}:`, then run the command again:{lines}", self.key),
        }
    }

    fn unclear(&self) -> EditError {
        self.refuse(format!("the YAML under `{}:` is written in a way that cannot be edited safely", self.key))
    }

    fn parse(&self, text: &str) -> Result<Map<String, Value>, EditError> {
        match yaml::read(text) {
            Ok(Value::Object(mapping)) => Ok(mapping),
            Ok(Value::Null) => Ok(Map::new()),
            Ok(_) => Err(self.refuse("not a YAML mapping")),
            Err(error) => Err(self.refuse(format!("not valid YAML: {error}"))),
        }
    }

    fn sequence<'v>(&self, root: &'v Map<String, Value>) -> Result<&'v [Value], EditError> {
        match root.get(self.key) {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.refuse(format!("`{}` is not a list", self.key))),
        }
    }

    /// Returns the new text if its value equals the old one with just this change.
    fn check(
        &self,
        new: String,
        mut root: Map<String, Value>,
        change: impl FnOnce(&mut Vec<Value>),
    ) -> Result<String, EditError> {
        let mut items = self.sequence(&root)?.to_vec();
        change(&mut items);
        root.insert(self.key.into(), Value::Array(items));
        if self.parse(&new).is_ok_and(|new| new == root) { Ok(new) } else { Err(self.unclear()) }
    }

    /// Inserts the element at `index` of `count`. `item` is the element if it is a plain string.
    fn insert(&self, text: &str, index: usize, count: usize, item: Option<&str>) -> Result<String, EditError> {
        let lines = Lines::of(text);
        let fields = lines.top_level().ok_or_else(|| self.unclear())?;
        let Some(field) = fields.iter().find(|field| field.key == self.key) else {
            return Ok(self.append(&lines, &fields));
        };
        if lines.has_tabs(field.lines.clone()) {
            return Err(self.unclear());
        }
        let value = &text[field.value.clone()];
        if value.starts_with('[') && count > 0 {
            let list = flow_sequence(text, field.value.start).filter(|list| list.elements.len() == count);
            return match (list, item) {
                (Some(list), Some(item)) => Ok(list.insert(index, &flow_string(item))),
                _ => Err(self.unclear()),
            };
        }
        if count == 0 {
            let column = sequence_column(&lines, &fields);
            return match value {
                "" => Ok(lines.insert(field.lines.end, &self.indented(column))),
                "[]" => {
                    let start = text[..field.value.start].trim_end_matches(' ').len();
                    let emptied = replace(text, start..field.value.end, "");
                    Ok(Lines::of(&emptied).insert(field.lines.end, &self.indented(column)))
                }
                _ => Err(self.unclear()),
            };
        }
        let below = field.lines.start + 1..field.lines.end;
        let elements = lines.elements(below.clone()).filter(|elements| value.is_empty() && elements.len() == count);
        let elements = elements.ok_or_else(|| self.unclear())?;
        // Comments between two elements stay with the second.
        let number = match index.checked_sub(1) {
            Some(previous) => elements[previous].lines.end,
            None => lines.before_first(below.start, elements[0].lines.start),
        };
        Ok(lines.insert(number, &self.indented(elements[0].column)))
    }

    /// Removes the element at `index` of `count`; the last one together with the key, unless there are comments.
    fn without(&self, text: &str, index: usize, count: usize) -> Option<String> {
        let lines = Lines::of(text);
        let field = lines.top_level()?.into_iter().find(|field| field.key == self.key)?;
        let whole = lines.start(field.lines.start)..lines.start(field.lines.end);
        let value = &text[field.value.clone()];
        if count == 1 && !text[whole.clone()].contains('#') {
            return Some(replace(text, whole, ""));
        }
        if value.starts_with('[') {
            let list = flow_sequence(text, field.value.start).filter(|list| list.elements.len() == count)?;
            let [this, next] = [index, index + 1].map(|index| list.elements.get(index));
            let previous = index.checked_sub(1).and_then(|index| list.elements.get(index));
            let (start, end) = match (this?, next, previous) {
                (this, Some(next), _) => (this.start, next.start),
                (this, None, Some(previous)) => (previous.end, this.end),
                (this, None, None) => (this.start, this.end),
            };
            return Some(replace(text, start..end, ""));
        }
        let element = lines.elements(field.lines.start + 1..field.lines.end)?.into_iter().nth(index)?;
        let rest = replace(text, lines.start(element.lines.start)..lines.start(element.lines.end), "");
        Some(if count == 1 { insert(&rest, field.value.start, " []") } else { rest })
    }

    /// Adds a missing key: in order if the keys are sorted, else at the end.
    fn append(&self, lines: &Lines, fields: &[Field]) -> String {
        let mut new = vec![format!("{}:", scalar(&self.key.into()))];
        new.extend(self.indented(sequence_column(lines, fields)));
        let before = fields.iter().rfind(|field| field.key.as_str() < self.key);
        let number = match before {
            Some(before) if fields.is_sorted_by(|a, b| a.key <= b.key) => before.lines.end,
            _ => lines.count(),
        };
        lines.insert(number, &new)
    }

    fn indented(&self, column: usize) -> Vec<String> {
        self.element.iter().map(|line| format!("{:column$}{line}", "")).collect()
    }

    /// Sets all fields of `wanted` in the entry at `index`, one at a time.
    fn merge(&self, text: &str, index: usize, wanted: &Map<String, Value>) -> Result<String, EditError> {
        let mut text = text.to_owned();
        loop {
            let root = self.parse(&text)?;
            let entry = self.sequence(&root)?.get(index).ok_or_else(|| self.unclear())?;
            if !differs(entry, &wanted.clone().into()) {
                return Ok(text);
            }
            let lines = Lines::of(&text);
            let fields = lines.top_level().and_then(|fields| {
                let field = fields.into_iter().find(|field| field.key == self.key)?;
                let element = entry_at(&lines, &field, index)?;
                lines.fields_of(&element)
            });
            let merged = fields.and_then(|fields| merge_one(&lines, &fields, entry, wanted));
            let merged = merged.filter(|merged| *merged != text).ok_or_else(|| self.unclear())?;
            text = merged;
        }
    }
}

fn entry_at(lines: &Lines, field: &Field, index: usize) -> Option<Element> {
    if !field.value.is_empty() || lines.has_tabs(field.lines.clone()) {
        return None;
    }
    lines.elements(field.lines.start + 1..field.lines.end)?.into_iter().nth(index)
}

/// Sets the first field of `wanted` that is missing in `mapping` or differs.
fn merge_one(lines: &Lines, fields: &[Field], mapping: &Value, wanted: &Map<String, Value>) -> Option<String> {
    let (key, value) = wanted.iter().find(|(key, value)| {
        let there = mapping.get(key.as_str());
        there.is_none_or(|there| differs(there, value))
    })?;
    let Some(field) = fields.iter().find(|field| field.key == *key) else {
        return insert_field(lines, fields, key, value);
    };
    let there = mapping.get(key.as_str())?;
    let old = &lines.text[field.value.clone()];
    if let Value::Object(wanted) = value {
        if there.is_object() && old.is_empty() {
            let nested = lines.nested(field.lines.start + 1..field.lines.end)?;
            return merge_one(lines, &nested, there, wanted);
        }
        if there.is_null() && old.is_empty() {
            let nested = mapping_lines(wanted).into_iter().map(|line| format!("{:1$}{line}", "", field.column + 2));
            return Some(lines.insert(field.lines.start + 1, &nested.collect::<Vec<_>>()));
        }
        return None;
    }
    if let Value::Array(wanted) = value {
        // Only appends to the list. The final check verifies the existing elements.
        let elements = lines.elements(field.lines.start + 1..field.lines.end).filter(|_| old.is_empty())?;
        let (last, more) = (elements.last()?, wanted.get(elements.len()..)?);
        let new = more.iter().flat_map(item_lines).map(|line| format!("{:1$}{line}", "", last.column));
        return Some(lines.insert(last.lines.end, &new.collect::<Vec<_>>()));
    }
    let is_one_line = field.lines.len() == 1 && !old.starts_with(['&', '*', '!', '|', '>', '[', '{']);
    if !is_one_line {
        return None;
    }
    let space = if lines.text[..field.value.start].ends_with(':') { " " } else { "" };
    Some(replace(lines.text, field.value.clone(), &format!("{space}{}", scalar(value))))
}

/// Inserts a missing field: in alphabetical order if the fields are sorted, else at the end.
fn insert_field(lines: &Lines, fields: &[Field], key: &str, value: &Value) -> Option<String> {
    let is_sorted = fields.is_sorted_by(|a, b| a.key <= b.key);
    let previous = fields.iter().rposition(|field| !is_sorted || field.key.as_str() < key);
    let first = fields.first()?;
    let new = field_lines(key, value);
    if let Some(previous) = previous {
        let indented = new.iter().map(|line| format!("{:1$}{line}", "", first.column));
        return Some(lines.insert(fields[previous].lines.end, &indented.collect::<Vec<_>>()));
    }
    // The first field may follow a dash, which then belongs to the new field.
    let newline = super::text::newline(lines.text);
    let block: String = new.iter().map(|line| format!("{line}{newline}{:1$}", "", first.column)).collect();
    Some(insert(lines.text, lines.start(first.lines.start) + first.column, &block))
}

/// A string for a list in brackets, where more characters are special than in block style.
fn flow_string(item: &str) -> String {
    let plain = scalar(&item.into());
    if plain.contains([',', '[', ']', '{', '}']) { quote(item) } else { plain }
}

/// The column of dashes below a top-level key, as used elsewhere in the file.
fn sequence_column(lines: &Lines, fields: &[Field]) -> usize {
    let column = |field: &Field| {
        let elements = lines.elements(field.lines.start + 1..field.lines.end)?;
        elements.first().map(|element| element.column)
    };
    fields.iter().filter(|field| field.value.is_empty()).find_map(column).unwrap_or(0)
}

fn compare_by(identity: &[String], a: &Value, b: &Value) -> Ordering {
    let text = |entry: &Value, key: &String| match entry.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => scalar(value),
        None => String::new(),
    };
    let orders = identity.iter().map(|key| text(a, key).cmp(&text(b, key)));
    orders.fold(Ordering::Equal, Ordering::then)
}

/// `true` unless `there` equals `wanted`, or is a mapping with all of its fields.
fn differs(there: &Value, wanted: &Value) -> bool {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => {
            wanted.iter().any(|(key, wanted)| there.get(key).is_none_or(|there| differs(there, wanted)))
        }
        _ => there != wanted,
    }
}

fn merge_value(there: &mut Value, wanted: &Value) {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                merge_value(there.entry(key.clone()).or_insert(Value::Null), wanted);
            }
        }
        (there, wanted) => *there = wanted.clone(),
    }
}

fn mapping_lines(fields: &Map<String, Value>) -> Vec<String> {
    fields.iter().flat_map(|(key, value)| field_lines(key, value)).collect()
}

/// A field in block style, not indented.
fn field_lines(key: &str, value: &Value) -> Vec<String> {
    let key = scalar(&key.into());
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let nested = mapping_lines(fields).into_iter().map(|line| format!("  {line}"));
            [format!("{key}:")].into_iter().chain(nested).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            [format!("{key}:")].into_iter().chain(items.iter().flat_map(item_lines)).collect()
        }
        value => vec![format!("{key}: {}", flow(value))],
    }
}

/// An element of a list in block style, not indented.
fn item_lines(item: &Value) -> Vec<String> {
    let lines = match item {
        Value::Object(fields) if !fields.is_empty() => mapping_lines(fields),
        item => vec![flow(item)],
    };
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}", if i == 0 { "- " } else { "  " })).collect()
}

/// A value on a single line.
fn flow(value: &Value) -> String {
    match value {
        // JSON is valid YAML.
        Value::Object(_) | Value::Array(_) => value.to_string(),
        value => scalar(value),
    }
}

/// A scalar in block style: plain if possible.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains('\n') => quote(text),
        value => yaml::scalar(value),
    }
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

fn parse_string(scalar: &str) -> Option<String> {
    yaml::read(scalar).ok()
}
