//! YAML text ↔ values. The only file that knows the YAML crate; `opctl-kustomize` parses YAML with positions, using the
//! parser behind this crate.
//!
//! Writing: keys are sorted, in the style of controller-gen. Tested with 480 documents of awkward strings and numbers
//! as value, item and key (`yes`, `0o7`, `~`, `2024-01-15`, `- a`, tabs, trailing whitespace and lines, U+2028, 255.0,
//! i64::MIN), read back by serde-saphyr, yaml_serde, PyYAML (YAML 1.1) and Kubernetes' Go library. serde-saphyr 2 lost
//! none; yaml_serde 0.10 lost 70, because it does not quote `yes`, `on`, `1_000`, `12:30:45` and `2024-01-15`. Two
//! styles are chosen here: serde-saphyr would write `"*"` for controller-gen's `'*'`, and blocks that begin with a tab,
//! which libyaml rejects.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use serde_saphyr::{DoubleQuoted, Options, SerializerOptions, SingleQuoted};

#[derive(Debug)]
pub struct Error {
    /// The message, without the position.
    pub reason: String,
    /// In bytes.
    pub offset: usize,
    place: String,
}

impl Error {
    fn new(text: &str, error: &serde_saphyr::Error) -> Self {
        let message = match error {
            serde_saphyr::Error::MultipleDocuments { .. } => "there is more than one YAML document".to_owned(),
            error => error.to_string(),
        };
        let message = match message.starts_with("budget breached") {
            true => format!("there are more than {MOST_VALUES} values"),
            false => message,
        };
        let reason = message.split(" at line ").next().unwrap_or_default().to_owned();
        let Some(location) = error.location() else { return Self { reason, offset: 0, place: String::new() } };
        let place = format!(" at line {}, column {}", location.line(), location.column());
        let [line, column] = [location.line(), location.column()].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let before = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let within = text[before..].chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>();
        Self { reason, offset: before + within, place }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.reason, self.place)
    }
}

/// Reads the only document of a text.
///
/// # Errors
///
/// If the text is not YAML, has several documents, or does not fit the type.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_saphyr::from_str_with_options(text, reading()).map_err(|error| Error::new(text, &error))
}

/// Reads all documents of a text, skipping empty ones.
///
/// # Errors
///
/// If the text is not YAML, or a document does not fit the type.
pub fn read_all<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    serde_saphyr::from_multiple_with_options(text, reading()).map_err(|error| Error::new(text, &error))
}

/// Reads all objects of a text: YAML documents, concatenated JSON values, and the items of lists, including Kubernetes'
/// lists.
///
/// # Errors
///
/// If the text is not YAML.
pub fn objects(text: &str) -> Result<Vec<Value>, Error> {
    let mut objects = Vec::new();
    values(text)?.into_iter().for_each(|value| flatten(value, &mut objects));
    Ok(objects)
}

fn values(text: &str) -> Result<Vec<Value>, Error> {
    if text.trim_start().starts_with(['{', '[']) {
        let values = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>();
        if let Ok(values) = values {
            return Ok(values);
        }
    }
    read_all(text)
}

fn flatten(value: Value, objects: &mut Vec<Value>) {
    match value {
        Value::Null => {}
        Value::Array(list) => list.into_iter().for_each(|value| flatten(value, objects)),
        Value::Object(mut object) if is_list(&object) => {
            flatten(object.remove("items").unwrap_or_default(), objects);
        }
        value => objects.push(value),
    }
}

fn is_list(object: &serde_json::Map<String, Value>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("List") && object.get("items").is_some_and(Value::is_array)
}

/// Maximum number of values in a text, after expanding aliases. Each takes some hundred bytes.
const MOST_VALUES: usize = 500_000;

/// Limits only the number of values. Comments are not read, so any number of them may follow each other. Error messages
/// have no snippet, because callers show the position.
fn reading() -> Options {
    let budget = serde_saphyr::budget! {
        max_events: usize::MAX,
        max_aliases: usize::MAX,
        max_anchors: usize::MAX,
        max_recorded_anchor_events: MOST_VALUES,
        max_depth: usize::MAX,
        max_documents: usize::MAX,
        max_nodes: MOST_VALUES,
        max_total_scalar_bytes: usize::MAX,
        max_merge_keys: usize::MAX,
    };
    serde_saphyr::options! { budget: budget, emit_comments: false, with_snippet: false }
}

/// A file: the header (comment lines), then each value as a document.
pub fn documents(header: &str, values: &[impl Serialize]) -> String {
    let mut text = format!("{header}\n");
    for value in values {
        let value =
            serde_json::to_value(value).expect("Kubernetes objects have string keys and serialize without errors");
        text.push_str("---\n");
        text.push_str(&document(&value));
    }
    text
}

pub fn document(value: &Value) -> String {
    let mut text = String::new();
    serde_saphyr::to_fmt_writer_with_options(&mut text, &Styled(value), writing())
        .expect("every JSON value can be written as YAML, and a string takes any text");
    text
}

/// A number, boolean, null or single-line string in block style: plain if all readers agree on its value.
pub fn scalar(value: &Value) -> String {
    document(value).trim_end_matches('\n').to_owned()
}

fn writing() -> SerializerOptions {
    serde_saphyr::ser_options! {
        indent_step: 2,
        compact_list_indent: true,
        // Never `>`: folded lines are hard to diff and to search.
        folded_wrap_chars: usize::MAX,
        prefer_block_scalars: true,
    }
}

/// A value whose strings are quoted as in Go's YAML: `'…'` if the text would be syntax, `"…"` if it would be another
/// type or needs an escape.
struct Styled<'a>(&'a Value);

impl Serialize for Styled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) if looks_like_syntax(text) => SingleQuoted(text).serialize(serializer),
            Value::String(text) if looks_like_indentation(text) => DoubleQuoted(text).serialize(serializer),
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Styled(item))?;
                }
                list.end()
            }
            Value::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, &Styled(value))?;
                }
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}

/// `true` for printable text that YAML would not read as a plain string because it contains an indicator.
fn looks_like_syntax(text: &str) -> bool {
    let is_printable = || !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    let has_sign = text.starts_with(['#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'])
        || ["- ", "? "].iter().any(|sign| text.starts_with(sign))
        || text.as_bytes().windows(2).any(|pair| matches!(pair, b": " | b" #"))
        || text.ends_with(':');
    has_sign && is_printable()
}

/// `true` for text that would start with a tab as a block, where libyaml and its ports expect spaces.
fn looks_like_indentation(text: &str) -> bool {
    text.trim_start_matches([' ', '\n']).starts_with('\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn looks_like_controller_gens() {
        let value = json!({
            "a": {"list": ["*", "*/scale", "", "yes", "1.0", "a: b", "it's", "- \"x\""], "empty": [], "none": {}},
            "description": "First line,\nsecond: line.\n\nLast.",
            "long": "word ".repeat(40) + "end",
            "nested": [{"items": [1, 2.5, 255.0]}],
        });
        insta::assert_snapshot!(documents("# A header.", &[value, json!({"b": true})]), @r##"
        # A header.
        ---
        a:
          empty: []
          list:
          - '*'
          - '*/scale'
          - ""
          - "yes"
          - "1.0"
          - 'a: b'
          - it's
          - '- "x"'
          none: {}
        description: |-
          First line,
          second: line.

          Last.
        long: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end
        nested:
        - items:
          - 1
          - 2.5
          - 255.0
        ---
        b: true
        "##);
    }

    /// Strings that people write into specs and docs, and strings that YAML 1.1 or 1.2 would read as another type.
    const AWKWARD: &[&str] = &[
        "",
        " ",
        "~",
        "null",
        "yes",
        "NO",
        "y",
        "on",
        "Off",
        "true",
        "1.0",
        "0x1",
        "0X1F",
        "0o7",
        "0777",
        "0b11",
        "1e3",
        ".5",
        "+1",
        "-1",
        "1_000",
        "12:30:45",
        "2024-01-15",
        ".inf",
        "-.Inf",
        ".NaN",
        "<<",
        "=",
        "-",
        "- a",
        "---",
        "...",
        "# a",
        "a #b",
        "@a",
        "`a`",
        "%a",
        "&a",
        "*",
        "!a",
        "|",
        ">",
        "?",
        "? a",
        ": a",
        "a: b",
        "a:",
        "{a}",
        "[a]",
        "'a'",
        "\"a\"",
        "it's: \"so\"",
        "a\\b: c",
        "\ta",
        "a\t",
        "a ",
        " a",
        "*a ",
        " #",
        "a\n",
        "a\nb",
        "a\n\n",
        "\na",
        "\n",
        " a\nb",
        "a \nb",
        "\t\n",
        "\ta\nb",
        " \n\ta\n",
        "a\r\nb",
        "*\r",
        "é: 日本語",
        "😀",
        "\u{feff}a",
        "\u{85}",
        "a\u{2028}b: c",
        "\u{7f}",
        "*\u{1}",
        "\u{0}",
        "\u{a0}",
    ];

    #[test]
    fn awkward_strings_survive_every_reader() {
        for text in AWKWARD {
            for value in
                [json!({"a": text}), json!({"a": [text]}), json!({*text: 1}), json!([{"a": {"b": [[text]]}, "c": 1}])]
            {
                survives(&value);
            }
        }
    }

    #[test]
    fn numbers_survive_every_reader() {
        for number in [json!(255.0), json!(0.1), json!(-0.0), json!(1e21), json!(1e-7), json!(f64::MAX), json!(5e-324)]
        {
            survives(&json!({"a": number}));
        }
        for number in [json!(i64::MIN), json!(i64::MAX), json!(u64::MAX), json!(0)] {
            survives(&json!({"a": number}));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn any_text_survives_every_reader(text in "(?s)([ -~]|[\t\n é:#'\"*-]|.){0,40}") {
            survives(&json!({"a": [{"b": text}]}));
        }
    }

    fn survives(value: &Value) {
        let text = documents("# A header.", &[value]);
        assert_eq!(&read::<Value>(&text).unwrap_or_else(|error| panic!("{text}\n{error}")), value, "{text}");
    }

    #[test]
    fn comments_may_be_long() {
        let comments = "  # More.\n".repeat(500);
        let value: Value = read(&format!("a:\n{comments}  b: 1\n{comments}c:\n{comments}d: 2\n")).unwrap();
        assert_eq!(value, json!({ "a": { "b": 1 }, "c": null, "d": 2 }));
    }
}
