//! The documents of a file: replaces one of them, or adds one.

use std::ops::Range;

use granit_parser::{Event, Parser};
use serde_json::Value;

use super::template;
pub use super::template::{Action, ActionKind};
use crate::EditError;
use crate::text::{insert, line_end, line_start, newline, replace};
use opctl_model::yaml;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Yaml,
    /// A template of a Helm chart that renders YAML documents.
    Template,
    /// Concatenated JSON values.
    Json,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The range from its first to its last line, without comments and actions around it.
    pub range: Range<usize>,
    /// The positions of the comments in it.
    pub comments: Vec<usize>,
    /// Its template actions whose output is unknown, or which surround only parts of it.
    pub actions: Vec<Action>,
    /// The value without these actions.
    pub value: Value,
}

/// The reason why a text is invalid in a format, and the position of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReadable {
    pub at: usize,
    pub reason: String,
}

/// All non-empty documents.
///
/// # Errors
///
/// If the text is invalid in the format.
pub fn documents(text: &str, format: Format) -> Result<Vec<Document>, NotReadable> {
    if format == Format::Json {
        return values(text);
    }
    let actions = if format == Format::Template { template::actions(text) } else { Vec::new() };
    let aligned = template::without_actions(text, &actions, true);
    let mut comments: Vec<usize> = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut current: Option<Range<usize>> = None;
    for event in Parser::new_from_str_with_options(&aligned, granit_parser::options! { emit_comments: true }) {
        let (event, span) = event.map_err(|error| NotReadable {
            at: error.marker().byte_offset().unwrap_or(text.len()),
            reason: error.info().to_owned(),
        })?;
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::Comment(..) => comments.push(range.start),
            Event::DocumentStart(..) => current = None,
            Event::DocumentEnd => ranges.extend(current.take()),
            Event::StreamStart | Event::StreamEnd => {}
            _ if range.is_empty() => {}
            _ => {
                let start = current.as_ref().map_or(range.start, |current| current.start);
                let end = current.as_ref().map_or(range.end, |current| current.end.max(range.end));
                current = Some(start..end);
            }
        }
    }
    let document = |range: Range<usize>| {
        let line = line_start(text, range.start);
        let start = if text[line..].starts_with("---") { range.start } else { line };
        let last = range.start + text[range.clone()].trim_end().len();
        let end = line_end(text, last.saturating_sub(1).max(start));
        let range = start..end;
        let inside = |at: usize| range.contains(&at);
        let own: Vec<Action> = actions.iter().filter(|action| inside(action.range.start)).cloned().collect();
        let shifted = |action: &Action| Action {
            range: action.range.start - start..action.range.end - start,
            kind: action.kind.clone(),
        };
        let plain =
            template::without_actions(&text[range.clone()], &own.iter().map(shifted).collect::<Vec<_>>(), false);
        let value =
            yaml::read(&plain).map_err(|error| NotReadable { at: start + error.offset, reason: error.reason })?;
        let is_unknown = |action: &Action| !matches!(action.kind, ActionKind::Text(_));
        Ok(Document {
            comments: comments.iter().copied().filter(|at| inside(*at)).collect(),
            actions: own.into_iter().filter(is_unknown).collect(),
            value,
            range,
        })
    };
    let read: Result<Vec<Document>, NotReadable> = ranges.into_iter().map(document).collect();
    Ok(read?.into_iter().filter(|document| !document.value.is_null()).collect())
}

fn values(text: &str) -> Result<Vec<Document>, NotReadable> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(value) = stream.next() {
        let end = stream.byte_offset();
        let value = value.map_err(|error| NotReadable { at: end, reason: error.to_string() })?;
        start += text[start..].len() - text[start..].trim_start().len();
        // Includes the end of the line, if nothing else is on it.
        let line = line_end(text, end);
        let range = start..if text[end..line].trim().is_empty() { line } else { end };
        start = end;
        found.push(Document { range, comments: Vec::new(), actions: Vec::new(), value });
    }
    Ok(found)
}

/// The known output of helm for a template, with the same lines; other texts are returned unchanged.
pub fn known_text(text: &str, format: Format) -> String {
    match format {
        Format::Template => template::without_actions(text, &template::actions(text), false),
        Format::Yaml | Format::Json => text.to_owned(),
    }
}

/// The lines of a template that contain only control structures.
pub fn control_lines(text: &str) -> Vec<String> {
    let actions = template::actions(text);
    let is_control = |action: &&Action| matches!(action.kind, ActionKind::Control { .. });
    actions.iter().filter(is_control).map(|action| text[action.range.clone()].to_owned()).collect()
}

/// The document to write, and the keys of the one to replace.
pub struct Target<'a> {
    pub document: &'a Value,
    /// JSON pointers to the values that identify a document.
    pub identity: &'a [String],
    pub format: Format,
}

impl Target<'_> {
    /// Replaces the document with the same identity, or appends the document. Comments in the old one are dropped if
    /// `drops_comments`; otherwise, they are an error.
    pub fn put(&self, text: &str, drops_comments: bool) -> Result<String, EditError> {
        let place = |at: usize| {
            let start = line_start(text, at);
            Some((text[..at].matches('\n').count() + 1, text[start..at].chars().count() + 1))
        };
        let refuse = |at: usize, reason: String, help: String| EditError { at: place(at), reason, help };
        let before = documents(text, self.format).map_err(|NotReadable { at, reason }| {
            refuse(at.min(text.len()), format!("cannot read it: {reason}"), "fix it, then run the command again".into())
        })?;
        let mut same = before.iter().enumerate().filter(|(_, document)| self.is_same(&document.value));
        let (index, new) = match (same.next(), same.next()) {
            (Some(_), Some((_, second))) => {
                let reason = format!("{} is in the file twice", self.name());
                return Err(refuse(
                    second.range.start,
                    reason,
                    "remove one of both, then run the command again".into(),
                ));
            }
            (Some((_, old)), None) if old.value == *self.document => return Ok(text.to_owned()),
            (Some((index, old)), None) => {
                if let Some(action) = old.actions.first() {
                    let reason = format!("{} depends on values of the chart", self.name());
                    return Err(refuse(action.range.start, reason, "change it by hand".into()));
                }
                if let Some(comment) = old.comments.first().filter(|_| !drops_comments) {
                    let reason = format!(
                        "{} is out of date, and there are comments in it, which are lost if opctl replaces it",
                        self.name()
                    );
                    let help = "move the comments above the document, or change it by hand";
                    return Err(refuse(*comment, reason, help.into()));
                }
                (index, replace(text, old.range.clone(), &self.written(text)))
            }
            (None, _) => (before.len(), self.appended(text, &before)),
        };
        let mut expected: Vec<&Value> = before.iter().map(|document| &document.value).collect();
        if index < expected.len() {
            expected[index] = self.document;
        } else {
            expected.push(self.document);
        }
        let after = documents(&new, self.format).unwrap_or_default();
        if after.iter().map(|document| &document.value).eq(expected) {
            return Ok(new);
        }
        let at = before.get(index).map_or(0, |document| document.range.start);
        let reason = format!("{} is written in a way that cannot be edited safely", self.name());
        Err(refuse(at, reason, "write it as a separate document, in block style, then run the command again".into()))
    }

    fn is_same(&self, other: &Value) -> bool {
        let same = |pointer: &String| {
            let own = self.document.pointer(pointer);
            own.is_some() && own == other.pointer(pointer)
        };
        self.identity.iter().all(same)
    }

    /// The name of the document for messages.
    fn name(&self) -> String {
        let last = self.identity.last().and_then(|pointer| self.document.pointer(pointer)?.as_str());
        format!("`{}`", last.unwrap_or_default())
    }

    fn written(&self, text: &str) -> String {
        let new = match self.format {
            Format::Yaml => yaml::document(self.document),
            Format::Template => template::escape(&yaml::document(self.document)),
            Format::Json => format!("{:#}\n", self.document),
        };
        new.replace('\n', newline(text))
    }

    /// Appends after the last document, so that conditions around the last one apply to the new one, too.
    fn appended(&self, text: &str, before: &[Document]) -> String {
        let newline = newline(text);
        let last = before.last().map(|document| document.range.end);
        let before_end = || {
            if self.format != Format::Template {
                return None;
            }
            let actions = template::actions(text);
            let end = actions.iter().find(|action| action.kind == ActionKind::Control { is_end: true });
            end.map(|action| line_start(text, action.range.start))
        };
        let at = last.or_else(before_end).unwrap_or(text.len());
        let mut new = String::new();
        if at > 0 && !text[..at].ends_with('\n') {
            new.push_str(newline);
        }
        if last.is_some() && self.format != Format::Json {
            new.push_str("---");
            new.push_str(newline);
        }
        new.push_str(&self.written(text));
        insert(text, at, &new)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(text: &str, name: &str, format: Format) -> Result<String, EditError> {
        let document = json!({"kind": "A", "metadata": {"name": name}, "new": "{{ x }}"});
        let identity = ["/kind", "/metadata/name"].map(String::from);
        Target { document: &document, identity: &identity, format }.put(text, false)
    }

    const NEW: &str = "kind: A\nmetadata:\n  name: b\nnew: '{{ x }}'\n";

    #[test]
    fn one_document_is_replaced() {
        let text = "# License\n---\nkind: A\nmetadata: {name: a}\n# End of a\n---\n\nkind: A\nmetadata:\n  name: b\nold: |\n  # text\n\n# Last\n---\n";
        let new = text.replace("kind: A\nmetadata:\n  name: b\nold: |\n  # text\n", NEW);
        assert_eq!(put(text, "b", Format::Yaml).as_ref(), Ok(&new));
        assert_eq!(put(&new, "b", Format::Yaml).as_ref(), Ok(&new), "twice is once");
        let crlf = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(put(&crlf(text), "b", Format::Yaml), Ok(crlf(&new)));
    }

    #[test]
    fn a_further_document_is_added_behind_the_last() {
        let c = NEW.replace("name: b", "name: c");
        let text = "kind: A\nmetadata: {name: b}\n---\nkind: B\n# Last\n---\n";
        let expected = format!("kind: A\nmetadata: {{name: b}}\n---\nkind: B\n---\n{c}# Last\n---\n");
        assert_eq!(put(text, "c", Format::Yaml), Ok(expected));
        assert_eq!(put("", "c", Format::Yaml), Ok(c.clone()));
        assert_eq!(put("# License\n", "c", Format::Yaml), Ok(format!("# License\n{c}")));
        assert_eq!(put("kind: B", "c", Format::Yaml), Ok(format!("kind: B\n---\n{c}")));
    }

    #[test]
    fn conditions_of_a_template_stay_around_the_document() {
        let escaped = NEW.replace("{{", "{{`{{`}}");
        let text = "{{- if .Values.crds -}}\n\nkind: A\nmetadata: {name: b}\n\n{{- end -}}";
        let new = format!("{{{{- if .Values.crds -}}}}\n\n{escaped}\n{{{{- end -}}}}");
        assert_eq!(put(text, "b", Format::Template).as_ref(), Ok(&new));
        assert_eq!(put(&new, "b", Format::Template).as_ref(), Ok(&new));
        let c = escaped.replace("name: b", "name: c");
        let both = format!("{{{{- if .Values.crds -}}}}\n\n{escaped}---\n{c}\n{{{{- end -}}}}");
        assert_eq!(put(&new, "c", Format::Template), Ok(both));
        let empty = "{{- if .Values.crds }}\n{{- end }}\n";
        assert_eq!(
            put(empty, "b", Format::Template),
            Ok(format!("{{{{- if .Values.crds }}}}\n{escaped}{{{{- end }}}}\n"))
        );
    }

    #[test]
    fn values_of_json_are_replaced() {
        let text = "{\"kind\": \"B\"}\n{\"kind\": \"A\", \"metadata\": {\"name\": \"b\"}}\n";
        let new = put(text, "b", Format::Json).unwrap();
        assert!(new.starts_with("{\"kind\": \"B\"}\n{\n  \"kind\": \"A\","), "{new}");
        assert_eq!(documents(&put(&new, "c", Format::Json).unwrap(), Format::Json).unwrap().len(), 3);
    }

    #[test]
    fn what_would_be_lost_is_an_error_at_its_place() {
        for (text, format, at, reason) in [
            ("kind: A # it\nmetadata: {name: b}\n", Format::Yaml, (1, 9), "comments"),
            ("kind: A\nmetadata:\n  # it\n  name: b\n", Format::Yaml, (3, 3), "comments"),
            ("kind: A\nmetadata: {name: b}\nx: {{ .y }}\n", Format::Template, (3, 4), "depends on values"),
            (
                "kind: A\nmetadata: {name: b}\n{{- if x }}\ny: z\n{{- end }}\n",
                Format::Template,
                (3, 1),
                "depends on values",
            ),
            ("kind: A\nmetadata: {name: b}\n---\nkind: A\nmetadata: {name: b}\n", Format::Yaml, (4, 1), "twice"),
            ("kind: A\nmetadata: {name: b}\n---\nkind: [\n", Format::Yaml, (4, 7), "cannot read"),
            ("--- {kind: A, metadata: {name: b}}\n", Format::Yaml, (1, 5), "safely"),
        ] {
            let error = put(text, "b", format).unwrap_err();
            assert!(error.reason.contains(reason), "{text}: {error:?}");
            assert_eq!(error.at, Some(at), "{text}: {error:?}");
        }
    }
}
