//! The values of a chart and its subcharts: their defaults, their comments, and their uses in templates.

use serde_json::{Map, Value, json};

use super::Chart;
use super::uses::{Types, evaluates_values, uses};
use crate::spec::keys;

/// A value and its keys.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub comment: String,
    /// `None` if the chart has no default.
    pub default: Option<Value>,
    /// In file order.
    pub keys: Vec<(String, Tree)>,
    /// A template reads the value or one of its keys.
    pub is_read: bool,
    /// A template passes it on, with all its keys.
    pub is_whole: bool,
    pub types: Types,
    /// The type that a comment states, such as `int`.
    pub stated: Option<String>,
}

/// The values of a chart.
pub fn values(chart: &Chart) -> Tree {
    let mut root = Tree { is_read: true, ..Tree::default() };
    root.set_default(&chart.values);
    let text = chart.files.get("values.yaml").map_or("", String::as_str);
    for key in keys(text) {
        if let Some(tree) = root.known(&key.path) {
            (tree.comment, tree.stated) = (key.comment, key.stated);
        }
    }
    root.sort(&keys(text).into_iter().map(|key| key.path).collect::<Vec<_>>());
    for (key, subchart) in &chart.subcharts {
        let mut below = values(subchart);
        if let Some(at) = below.keys.iter().position(|(key, _)| key == "global") {
            let (_, global) = below.keys.remove(at);
            root.key("global").merge(global);
        }
        root.key("global").default.get_or_insert_with(|| json!({}));
        if !subchart.is_library {
            root.key(key).merge(below);
        }
    }
    // Templates of a library chart read the values of the including chart.
    let libraries = chart.subcharts.iter().map(|(_, subchart)| &**subchart).filter(|subchart| subchart.is_library);
    for (_, text) in std::iter::once(chart).chain(libraries).flat_map(Chart::templates) {
        for it in uses(text) {
            root.note(&it.path, it.is_whole, it.types);
        }
        // Users refer to their own keys in values that are templates.
        if evaluates_values(text) {
            root.key("global").default.get_or_insert_with(|| json!({}));
        }
    }
    // Helm passes `global` to all subcharts.
    if let Some((_, global)) = root.keys.iter_mut().find(|(key, _)| key == "global") {
        global.note(&[], true, Types::Unknown);
    }
    for dependency in &chart.dependencies {
        for path in dependency.conditions() {
            root.note(&path, false, Types::Unknown);
            root.at(&path).default.get_or_insert(Value::Bool(true));
        }
    }
    root
}

impl Tree {
    fn set_default(&mut self, value: &Value) {
        if let Value::Object(fields) = value {
            self.keys = fields.iter().map(|(key, value)| (key.clone(), Self::of(value))).collect();
        }
        self.default = Some(value.clone());
    }

    fn of(value: &Value) -> Self {
        let mut tree = Self::default();
        tree.set_default(value);
        tree
    }

    /// The value of a key, which is added if it is missing.
    fn key(&mut self, key: &str) -> &mut Self {
        let at = self.keys.iter().position(|(other, _)| other == key).unwrap_or_else(|| {
            self.keys.push((key.to_owned(), Self::default()));
            self.keys.len() - 1
        });
        &mut self.keys[at].1
    }

    fn at(&mut self, path: &[String]) -> &mut Self {
        path.iter().fold(self, |tree, key| tree.key(key))
    }

    fn known(&mut self, path: &[String]) -> Option<&mut Self> {
        path.iter()
            .try_fold(self, |tree, key| tree.keys.iter_mut().find(|(other, _)| other == key).map(|(_, tree)| tree))
    }

    /// Sorts the keys in the order of `paths`.
    fn sort(&mut self, paths: &[Vec<String>]) {
        let place = |key: &str| paths.iter().position(|path| path[0] == key).unwrap_or(paths.len());
        self.keys.sort_by_cached_key(|(key, _)| place(key));
        for (key, tree) in &mut self.keys {
            let below = paths.iter().filter(|path| path.len() > 1 && path[0] == *key).map(|path| path[1..].to_vec());
            tree.sort(&below.collect::<Vec<_>>());
        }
    }

    fn note(&mut self, path: &[String], is_whole: bool, types: Types) {
        self.is_read = true;
        match path {
            [] => {
                self.is_whole |= is_whole;
                self.types = self.types.max(types);
            }
            [key, rest @ ..] => self.key(key).note(rest, is_whole, types),
        }
    }

    /// Merges the values of a subchart. Existing defaults take precedence.
    fn merge(&mut self, other: Self) {
        self.is_read |= other.is_read;
        self.is_whole |= other.is_whole;
        self.types = self.types.max(other.types);
        self.stated = self.stated.take().or(other.stated);
        if self.comment.is_empty() {
            self.comment = other.comment;
        }
        for (key, tree) in other.keys {
            self.key(&key).merge(tree);
        }
        self.default = match (self.default.take(), other.default) {
            (Some(Value::Object(own)), Some(Value::Object(others))) => {
                let mut both = others;
                both.extend(own);
                Some(both.into())
            }
            (own, others) => own.or(others),
        };
    }

    /// Every boolean value without keys, by its path.
    pub fn switches(&self) -> Vec<(Vec<String>, bool)> {
        let mut found = Vec::new();
        for (key, tree) in &self.keys {
            if let (Some(Value::Bool(default)), true) = (&tree.default, tree.keys.is_empty()) {
                found.push((vec![key.clone()], *default));
            }
            found.extend(
                tree.switches()
                    .into_iter()
                    .map(|(path, default)| ([std::slice::from_ref(key), &path[..]].concat(), default)),
            );
        }
        found
    }
}

/// Adds a value at a path.
pub fn with(mut values: Value, path: &[String], value: Value) -> Value {
    let Some((key, rest)) = path.split_first() else { return value };
    if !values.is_object() {
        values = Map::new().into();
    }
    let below = values.get(key).cloned().unwrap_or_default();
    values[key] = with(below, rest, value);
    values
}
