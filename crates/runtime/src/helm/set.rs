//! Sets a value at a path, with the syntax of `helm --set PATH=VALUE` and `--set-string`. The value may contain
//! environment variables.

use std::env;
use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value};

use crate::{Error, Result};

/// A path and its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Setting {
    path: String,
    steps: Vec<Step>,
    /// Environment variables are not replaced yet.
    value: String,
    /// `3` stays a string.
    is_string: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Setting {
    /// # Panics
    ///
    /// If the path is invalid. This does not depend on the cluster, so the first test finds it.
    pub fn new(path: &str, value: &str, is_string: bool) -> Self {
        let steps = steps(path)
            .unwrap_or_else(|| panic!("`{path}` is not a path to a value, such as `image.tag` or `hosts[0].name`"));
        Self { path: path.to_owned(), steps, value: value.to_owned(), is_string }
    }

    /// Sets the value in `values`.
    pub fn apply(&self, values: &mut Value) -> Result<()> {
        let value = self.value()?;
        let place = self.steps.iter().fold(values, |place, step| match step {
            Step::Key(key) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                &mut place[key]
            }
            Step::Index(index) => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut().expect("it was made one");
                if items.len() <= *index {
                    items.resize(index + 1, Value::Null);
                }
                &mut items[*index]
            }
        });
        *place = value;
        Ok(())
    }

    fn value(&self) -> Result<Value> {
        let error =
            |why: String| Error::new("InvalidValues", format!("the value `{}` cannot be set: {why}", self.path));
        let text = expanded(&self.value, &|name| env::var(name).ok())
            .map_err(|name| error(format!("the environment variable `{name}` is missing")))?;
        parsed(&text, if self.is_string { Value::String } else { typed })
            .ok_or_else(|| error("a comma or a brace in it is not preceded by a backslash".to_owned()))
    }
}

/// Parses a path: `a.b[0].c\.d`.
fn steps(path: &str) -> Option<Vec<Step>> {
    const MOST: usize = 65_536;
    let mut steps = Vec::new();
    let mut letters = path.chars().peekable();
    loop {
        let key = until(&mut letters, &['.', '[', '=', ',']);
        if key.is_empty() {
            return None;
        }
        steps.push(Step::Key(key));
        while letters.next_if_eq(&'[').is_some() {
            let index = until(&mut letters, &[']']).parse().ok().filter(|index| *index <= MOST)?;
            letters.next()?;
            steps.push(Step::Index(index));
        }
        match letters.next() {
            None => return Some(steps),
            Some('.') => {}
            Some(_) => return None,
        }
    }
}

/// The text before any of `ends`, without escaping backslashes.
fn until(letters: &mut Peekable<Chars>, ends: &[char]) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next_if(|letter| !ends.contains(letter)) {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

/// Parses a list in braces, or a single value.
fn parsed(text: &str, typed: fn(String) -> Value) -> Option<Value> {
    let mut letters = text.chars().peekable();
    if letters.next_if_eq(&'{').is_none() {
        let value = until(&mut letters, &[',']);
        return letters.next().is_none().then(|| typed(value));
    }
    let mut items = Vec::new();
    if letters.next_if_eq(&'}').is_none() {
        loop {
            items.push(typed(until(&mut letters, &[',', '}'])));
            if letters.next()? == '}' {
                break;
            }
        }
    }
    letters.next().is_none().then(|| items.into())
}

/// The type that helm infers: `007` and `1.5` are strings.
fn typed(text: String) -> Value {
    match text.to_ascii_lowercase().as_str() {
        "true" => true.into(),
        "false" => false.into(),
        "null" => Value::Null,
        "0" => 0.into(),
        _ if text.starts_with('0') => text.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}

/// Replaces `$NAME` and `${NAME}`. The error is the name of a missing variable.
fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let mut parts = text.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(part.len());
        let (name, rest) = match part.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some(braced) => braced,
            None => part.split_at(end),
        };
        match is_name(name) {
            true => expanded.push_str(&variable(name).ok_or(name)?),
            false => {
                expanded.push('$');
                expanded.push_str(part);
                continue;
            }
        }
        expanded.push_str(rest);
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_set_as_helm_sets_them() {
        let mut values = json!({ "image": { "tag": "1" }, "hosts": ["a"], "text": "x" });
        for (path, value) in [
            ("image.repository", "web"),
            ("replicas", "3"),
            ("hosts[1].name", "b"),
            ("text.inside", "TRUE"),
            ("labels.app\\.example\\.com/name", "007"),
            ("list", "{a,1,null}"),
            ("empty", "{}"),
            ("comma", "a\\,b"),
            ("nothing", ""),
            ("ratio", "1.5"),
        ] {
            Setting::new(path, value, false).apply(&mut values).unwrap();
        }
        let expected = json!({
            "image": { "tag": "1", "repository": "web" },
            "replicas": 3,
            "hosts": ["a", { "name": "b" }],
            "text": { "inside": true },
            "labels": { "app.example.com/name": "007" },
            "list": ["a", 1, null],
            "empty": [],
            "comma": "a,b",
            "nothing": "",
            "ratio": "1.5",
        });
        assert_eq!(values, expected);
        Setting::new("replicas", "{3,null}", true).apply(&mut values).unwrap();
        assert_eq!(values["replicas"], json!(["3", "null"]));
        for text in ["a,b", "{a", "{a}b"] {
            assert_eq!(parsed(text, typed), None, "{text}");
        }
        for path in ["", "a.", ".a", "a=b", "a[x]", "a[0", "a[0]b", "a,b"] {
            assert_eq!(steps(path), None, "{path}");
        }
    }

    #[test]
    fn variables_are_replaced_and_missing_ones_are_errors() {
        let variable = |name: &str| (name == "TAG").then(|| "1.2".to_owned());
        let expand = |text| expanded(text, &variable);
        assert_eq!(expand("web:$TAG"), Ok("web:1.2".to_owned()));
        assert_eq!(expand("web:${TAG}-alpine"), Ok("web:1.2-alpine".to_owned()));
        assert_eq!(expand("$TAG/$ 5$"), Ok("1.2/$ 5$".to_owned()));
        assert_eq!(expand("${OTHER}"), Err("OTHER".to_owned()));
        let error = Setting::new("image.tag", "${OPCTL_NOT_SET}", true).apply(&mut json!({})).unwrap_err().to_string();
        assert!(error.contains("`image.tag`") && error.contains("`OPCTL_NOT_SET` is missing"), "{error}");
    }
}
