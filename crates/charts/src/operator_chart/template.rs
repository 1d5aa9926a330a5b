//! Prints trees as templates.

use serde_json::Value;

use super::condition::{Renderings, Set};
use super::merge::{Part, Tree};
use opctl_model::yaml;

/// Placeholder in [`Tree::Lines`] for the column of the lines.
pub const COLUMN: &str = "<column>";

/// Placeholder in [`Tree::Lines`] for the column of an entry's content.
pub const INDENT: &str = "<indent>";

/// Prints trees of one chart.
pub struct Printer<'a> {
    pub renderings: &'a Renderings<'a>,
    /// Placeholders for names that depend on the release → the template action that prints each.
    pub actions: &'a [(&'static str, String)],
}

impl Printer<'_> {
    /// The lines of an object for the renderings in `within`.
    pub fn object(&self, tree: &Tree, within: &Set) -> String {
        let mut lines = Vec::new();
        self.block(tree, within, 0, &mut lines);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Prints a mapping, sequence or scalar on its own lines, indented to `column`.
    fn block(&self, tree: &Tree, within: &Set, column: usize, lines: &mut Vec<String>) {
        match tree {
            Tree::Same(value) => lines.extend(self.text(value).lines().map(|line| indented(column, line))),
            Tree::Map(entries) => {
                for entry in entries {
                    self.conditional(&entry.set, within, column, lines, |within, lines| {
                        self.entry(entry, within, column, lines)
                    });
                }
            }
            Tree::List(items) => {
                for item in items {
                    self.conditional(&item.set, within, column, lines, |within, lines| {
                        self.item(item, within, column, lines)
                    });
                }
            }
            Tree::Choice(choices) => {
                self.choice(choices, within, column, lines, |choice, within, lines| {
                    self.block(choice, within, column, lines)
                });
            }
            Tree::Lines(own) => lines.extend(own_lines(own, column)),
        }
    }

    fn entry(&self, entry: &Part<(String, Tree)>, within: &Set, column: usize, lines: &mut Vec<String>) {
        let (key, tree) = &entry.it;
        let key = yaml::scalar(&Value::String(key.clone()));
        match tree {
            Tree::Lines(own) => lines.extend(own_lines(own, column)),
            Tree::Same(value) => {
                let entry = Value::Object([(entry.it.0.clone(), value.clone())].into_iter().collect());
                lines.extend(self.text(&entry).lines().map(|line| indented(column, line)));
            }
            Tree::Choice(choices) => self.choice(choices, within, column, lines, |choice, within, lines| {
                let entry = Part { set: within.clone(), it: (entry.it.0.clone(), choice.clone()) };
                self.entry(&entry, within, column, lines);
            }),
            Tree::Map(entries) if entries.is_empty() => lines.push(indented(column, &format!("{key}: {{}}"))),
            Tree::List(items) if items.is_empty() => lines.push(indented(column, &format!("{key}: []"))),
            Tree::Map(_) => {
                lines.push(indented(column, &format!("{key}:")));
                self.block(tree, within, column + 2, lines);
            }
            // Like controller-gen, sequences are in the column of their key.
            Tree::List(_) => {
                lines.push(indented(column, &format!("{key}:")));
                self.block(tree, within, column, lines);
            }
        }
    }

    fn item(&self, item: &Part<Tree>, within: &Set, column: usize, lines: &mut Vec<String>) {
        if let Tree::Lines(own) = &item.it {
            lines.extend(own_lines(own, column));
            return;
        }
        let mut tree = item.it.clone();
        if let Tree::Map(entries) = &mut tree {
            // The dash must precede an entry that is in all renderings.
            entries.sort_by_key(|entry| entry.it.0 != "name");
        }
        let mut block = Vec::new();
        self.block(&tree, within, column + 2, &mut block);
        let is_action = |line: &String| line.trim_start().starts_with("{{");
        match block.first() {
            Some(first) if !is_action(first) => {
                let first = format!("{}- {}", " ".repeat(column), &first[column + 2..]);
                lines.push(first);
                lines.extend(block.into_iter().skip(1));
            }
            _ => {
                lines.push(indented(column, "-"));
                lines.extend(block);
            }
        }
    }

    /// Prints one of several trees: the one with the shortest condition first, the last one as `else`.
    fn choice(
        &self,
        choices: &[Part<Tree>],
        within: &Set,
        column: usize,
        lines: &mut Vec<String>,
        print: impl Fn(&Tree, &Set, &mut Vec<String>),
    ) {
        let sets = choices.iter().map(|choice| (&choice.set & within, &choice.it)).filter(|(set, _)| *set != Set::NONE);
        let mut sets: Vec<_> = sets.map(|(set, tree)| (self.renderings.condition(&set, within), set, tree)).collect();
        sets.sort_by_key(|(condition, ..)| condition.as_ref().map_or(0, String::len));
        let last = sets.len().saturating_sub(1);
        for (at, (condition, set, tree)) in sets.into_iter().enumerate() {
            let branch = match (at, condition) {
                (_, None) => None,
                (0, Some(condition)) => Some(format!("if {condition}")),
                (at, Some(_)) if at == last => Some("else".into()),
                (_, Some(condition)) => Some(format!("else if {condition}")),
            };
            lines.extend(branch.iter().map(|branch| indented(column, &format!("{{{{- {branch} }}}}"))));
            print(tree, &set, lines);
            if branch.is_some() && at == last {
                lines.push(indented(column, "{{- end }}"));
            }
        }
    }

    fn conditional(
        &self,
        set: &Set,
        within: &Set,
        column: usize,
        lines: &mut Vec<String>,
        print: impl FnOnce(&Set, &mut Vec<String>),
    ) {
        let set = set & within;
        if set == Set::NONE {
            return;
        }
        match self.renderings.condition(&set, within) {
            None => print(&set, lines),
            Some(condition) => {
                lines.push(indented(column, &format!("{{{{- if {condition} }}}}")));
                print(&set, lines);
                lines.push(indented(column, "{{- end }}"));
            }
        }
    }

    /// A value as YAML, with template syntax escaped, and with the names of the release.
    fn text(&self, value: &Value) -> String {
        let text = match value {
            Value::Array(items) if !items.is_empty() => block_of(value),
            Value::Object(entries) if !entries.is_empty() => block_of(value),
            Value::String(text) if text.contains('\n') => block_of(value),
            value => yaml::scalar(value),
        };
        let lines = text.split('\n').map(|line| self.line(&line.replace("{{", "{{ \"{{\" }}")));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Replaces placeholders by template actions. If a placeholder is the whole value, the action is quoted: a
    /// namespace may be named `1`.
    fn line(&self, line: &str) -> String {
        self.actions.iter().fold(line.to_owned(), |line, (placeholder, action)| {
            let before = line
                .strip_suffix(placeholder)
                .filter(|before| before.is_empty() || before.ends_with(": ") || before.ends_with("- "));
            match before {
                Some(before) => format!("{before}{{{{ {action} | quote }}}}"),
                None => line.replace(placeholder, &format!("{{{{ {action} }}}}")),
            }
        })
    }
}

/// The lines of a value without the document header.
fn block_of(value: &Value) -> String {
    let text = yaml::documents("", std::slice::from_ref(value));
    text.trim_start_matches('\n').trim_start_matches("---\n").into()
}

fn indented(column: usize, line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(column)) }
}

fn own_lines(own: &[String], column: usize) -> impl Iterator<Item = String> + '_ {
    own.iter().map(move |line| {
        indented(column, &line.replace(INDENT, &(column + 2).to_string()).replace(COLUMN, &column.to_string()))
    })
}
