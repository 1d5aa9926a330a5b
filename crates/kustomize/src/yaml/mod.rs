//! YAML in which every key and value has its source position.
//!
//! Values are those of Kubernetes' YAML library (`scalar`), and its errors are errors here. Anchors, aliases and merge
//! keys are resolved here, so other code never sees them.

mod block;
mod scalar;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser};
use serde_json::Number;

use self::block::Origin;
pub use self::shared::Shared;
use crate::diagnostics::OP430;
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};

/// A value and its position: that of the scalar, or of the first line of a mapping or sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its position.
    pub span: Span,
}

/// A YAML value as Kubernetes reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Number(Number),
    /// Any other scalar.
    Text(String),
    /// A sequence.
    List(Shared<Node>),
    /// A mapping, in the order of the file, each key once.
    Map(Shared<Entry>),
}

/// An entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The position of the key.
    pub key_span: Span,
    /// The value behind the key.
    pub value: Node,
}

/// The reader whose rules apply: they differ in reading `yes`, `on` and `n` as booleans or as strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `kubectl apply -f`, with go-yaml v2: booleans.
    Kubectl,
    /// kustomize, with go-yaml v3: strings.
    Kustomize,
}

/// All documents of a file, without empty ones.
///
/// # Errors
///
/// If it is not YAML that Kubernetes reads.
pub fn documents(file: &Arc<SourceFile>, dialect: Dialect) -> Result<Vec<Node>, Box<Diagnostic>> {
    // The byte order mark is not part of the text; the parser counts after it.
    let skipped = if file.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let text = &file.text[skipped..];
    let values = if dialect == Dialect::Kubectl { json_values(text) } else { Vec::new() };
    if values.len() < 2 {
        return read(text, &Origin::shifted(file, skipped), dialect);
    }
    let documents = values.into_iter().map(|range| {
        let origin = Origin::shifted(file, skipped + range.start);
        read(&text[range], &origin, dialect)
    });
    Ok(documents.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The positions of concatenated JSON values, as `kubectl get -o json` and `opm render` print them. Empty for other text.
fn json_values(text: &str) -> Vec<Range<usize>> {
    if !text.trim_start().starts_with('{') {
        return Vec::new();
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let (mut ranges, mut start) = (Vec::new(), 0);
    while let Some(value) = values.next() {
        if value.is_err() {
            return Vec::new();
        }
        ranges.push(start..values.byte_offset());
        start = values.byte_offset();
    }
    ranges
}

/// The documents of a file of Ansible, to which the last of several equal keys counts. The others are added to `repeated`.
///
/// # Errors
///
/// If it is not YAML that Kubernetes reads.
pub fn documents_of_ansible(
    file: &Arc<SourceFile>,
    repeated: &mut Vec<(String, Span)>,
) -> Result<Vec<Node>, Box<Diagnostic>> {
    let skipped = if file.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let places = Origin::shifted(file, skipped);
    read_text(&file.text[skipped..], &places, Dialect::Kubectl, Some(repeated)).map_err(|problem| places.error(problem))
}

/// The documents in a value of a file, such as an inline patch of a kustomization. `span` is that of the value.
///
/// # Errors
///
/// If it is not YAML that Kubernetes reads.
pub fn documents_in(text: &str, span: &Span) -> Result<Vec<Node>, Box<Diagnostic>> {
    read(text, &Origin::within(text, span), Dialect::Kustomize)
}

impl Value {
    /// A mapping without entries.
    pub(crate) fn map() -> Self {
        Self::Map(Shared::default())
    }
}

impl Node {
    /// A string at this position.
    pub fn text(text: impl Into<String>, span: Span) -> Self {
        Self { value: Value::Text(text.into()), span }
    }

    /// The value of a key; `None` if this is not a mapping, or lacks the key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Like [`get`](Self::get), mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let at = self.position(key)?;
        let Value::Map(entries) = &mut self.value else { return None };
        Some(&mut entries[at].value)
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The string at a path of keys.
    pub fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.as_text()
    }

    /// The string; `None` for a value of another type, such as the number in `name: 1`.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// `true` for an unquoted string that `kubectl apply -f` reads as a boolean; see [`Dialect`].
    pub(crate) fn is_ambiguous(&self) -> bool {
        let raw = &self.span.file.text[self.span.range.clone()];
        self.as_text().is_some_and(|text| text == raw && scalar::is_word_for_bool(text))
    }

    /// `true` for the boolean `true`.
    pub fn is_true(&self) -> bool {
        self.value == Value::Bool(true)
    }

    /// `true` for `null`.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The entries of a mapping; empty for any other value.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; empty for any other value.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The items of the sequence at a path of keys.
    pub fn items_at(&self, path: &[&str]) -> &[Self] {
        self.at(path).map_or(&[], Self::items)
    }

    /// Sets the value of a key. A value that is not a mapping becomes one.
    pub fn set(&mut self, key: &str, value: Self) {
        let span = value.span.clone();
        self.set_at(key, span, value);
    }

    fn set_at(&mut self, key: &str, key_span: Span, value: Self) {
        if let Some(old) = self.get_mut(key) {
            *old = value;
            return;
        }
        let entry = Entry { key: key.into(), key_span, value };
        match &mut self.value {
            Value::Map(entries) => entries.push(entry),
            other => *other = Value::Map([entry].into_iter().collect()),
        }
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        self.remove_with_place(key).map(|(_, entry)| entry.value)
    }

    /// Removes a key and returns the entry with its index in the mapping.
    pub(crate) fn remove_with_place(&mut self, key: &str) -> Option<(usize, Entry)> {
        let at = self.position(key)?;
        let Value::Map(entries) = &mut self.value else { return None };
        Some((at, entries.remove(at)))
    }

    /// The index of a key in a mapping.
    fn position(&self, key: &str) -> Option<usize> {
        self.entries().iter().position(|entry| entry.key == key)
    }

    /// Inserts an entry into a mapping at an index, at most at the end.
    pub(crate) fn insert_at(&mut self, at: usize, entry: Entry) {
        if let Value::Map(entries) = &mut self.value {
            let at = at.min(entries.len());
            entries.insert(at, entry);
        }
    }

    /// The value without positions.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(bool) => (*bool).into(),
            Value::Number(number) => number.clone().into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.value.json())).collect(),
        }
    }

    /// The number of values, including this one, and the depth.
    fn measure(&self) -> (usize, usize) {
        let inside = self.items().iter().chain(self.entries().iter().map(|entry| &entry.value)).map(Self::measure);
        let (values, levels) = inside.fold((0, 0), |(sum, most), (values, levels)| (sum + values, most.max(levels)));
        (values + 1, levels + 1)
    }
}

/// Maximum number of values after expanding aliases; Kubernetes rejects more, too.
const MOST_VALUES: usize = 200_000;
/// Maximum depth: values are traversed recursively, and aliases nest deeper than text.
const MOST_LEVELS: usize = 512;

/// Maximum number of keys of a mapping: a lookup is linear.
const MOST_KEYS: usize = 10_000;

/// A sequence or mapping that is being parsed.
struct Open {
    value: Value,
    /// The keys of the mapping so far.
    keys: BTreeSet<String>,
    /// The key whose value comes next.
    key: Option<Key>,
    start: usize,
    anchor: usize,
    /// The values of merge keys, which do not override keys of the mapping.
    merged: Vec<Node>,
}

struct Key {
    text: String,
    span: Span,
    /// `<<`; see [`scalar::is_merge`].
    is_merge: bool,
}

/// The range in the text, and the error message.
type Problem = (Range<usize>, String);

fn read(text: &str, places: &Origin, dialect: Dialect) -> Result<Vec<Node>, Box<Diagnostic>> {
    read_text(text, places, dialect, None).map_err(|problem| places.error(problem))
}

impl Origin {
    fn error(&self, (range, message): Problem) -> Box<Diagnostic> {
        Box::new(OP430.error(message).at(self.span(range), ""))
    }
}

/// Equal keys are errors unless there is a list for them.
fn read_text(
    text: &str,
    places: &Origin,
    dialect: Dialect,
    mut repeated: Option<&mut Vec<(String, Span)>>,
) -> Result<Vec<Node>, Problem> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: BTreeMap<usize, Node> = BTreeMap::new();
    let mut values = 0;
    for event in Parser::new_from_str_with_options(text, granit_parser::options! { emit_comments: false }) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(text.len());
            (at..at, format!("this is not valid YAML: {}", error.info()))
        })?;
        let range = span.byte_range().unwrap_or(0..0);
        let is_merge =
            matches!(&event, Event::Scalar(text, style, _, tag) if scalar::is_merge(text, *style, tag.as_deref()));
        let start = |value, anchor| Open {
            value,
            keys: BTreeSet::new(),
            key: None,
            start: range.start,
            anchor,
            merged: Vec::new(),
        };
        let (node, anchor, levels) = match event {
            Event::SequenceStart(_, anchor, _) => {
                open.push(start(Value::List(Shared::default()), anchor));
                continue;
            }
            Event::MappingStart(_, anchor, _) => {
                open.push(start(Value::map(), anchor));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let done = open.pop().expect("the parser closes what it opened");
                let anchor = done.anchor;
                (done.close(places, range.end), anchor, 1)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value =
                    scalar::value(text, style, tag.as_deref(), dialect).map_err(|problem| (range.clone(), problem))?;
                (Node { value, span: places.span(range.clone()) }, anchor, 1)
            }
            Event::Alias(anchor) => {
                let Some(node) = anchors.get(&anchor) else {
                    return Err((range, "this alias is inside the value that it refers to".into()));
                };
                let (more, levels) = node.measure();
                values += more;
                (node.clone(), 0, levels)
            }
            _ => continue,
        };
        values += 1;
        if values > MOST_VALUES || levels + open.len() > MOST_LEVELS {
            return Err((range, "this is more than Kubernetes reads".into()));
        }
        if anchor != 0 {
            // The anchored copy counts as well, including its content.
            values += node.measure().0;
            anchors.insert(anchor, node.clone());
        }
        match open.last_mut() {
            None if node.is_null() => {}
            None => documents.push(node),
            Some(parent) => {
                parent.take(node, is_merge, repeated.as_deref_mut()).map_err(|problem| (range, problem))?;
            }
        }
    }
    Ok(documents)
}

impl Open {
    fn take(&mut self, node: Node, is_merge: bool, repeated: Option<&mut Vec<(String, Span)>>) -> Result<(), String> {
        let entries = match &mut self.value {
            Value::Map(entries) => entries,
            Value::List(items) => {
                items.push(node);
                return Ok(());
            }
            _ => unreachable!("only sequences and mappings are opened"),
        };
        let Some(key) = self.key.take() else {
            let text = scalar::key(&node.value)?;
            if self.keys.len() >= MOST_KEYS {
                return Err(format!("a mapping has at most {MOST_KEYS} keys"));
            }
            if !is_merge && !self.keys.insert(text.clone()) {
                let Some(repeated) = repeated else { return Err(format!("the key `{text}` is here twice")) };
                let first = entries.iter().position(|entry| entry.key == text);
                let first = first.map(|at| entries.remove(at)).expect("the value of a key is read before the next one");
                repeated.push((first.key, first.key_span));
            }
            self.key = Some(Key { text, span: node.span, is_merge });
            return Ok(());
        };
        if !key.is_merge {
            entries.push(Entry { key: key.text, key_span: key.span, value: node });
            return Ok(());
        }
        match node.value {
            Value::Map(_) => self.merged.push(node),
            Value::List(items) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => {
                self.merged.extend(items);
            }
            _ => return Err("the value of a merge key must be a mapping".into()),
        }
        Ok(())
    }

    fn close(mut self, places: &Origin, end: usize) -> Node {
        if let Value::Map(entries) = &mut self.value {
            let merged = self.merged.iter().flat_map(Node::entries);
            entries.extend(merged.filter(|entry| self.keys.insert(entry.key.clone())).cloned());
        }
        Node { value: self.value, span: places.span(self.start..end.max(self.start)) }
    }
}

#[cfg(test)]
mod tests;
