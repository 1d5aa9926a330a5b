//! The fields of Go structs: a table of paths and types → the values that Go does not decode, and keys in the case of the table.

use opctl_kustomize::yaml::{Node, Value};

/// The JSON type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    Bool,
    Number,
    List,
    Map,
    TextOrNumber,
}

/// A path and the type of its values. `*` matches each item of a list or value of a map, and `a|b` matches both keys.
pub type Field = (&'static str, Type);

impl Type {
    fn fits(self, node: &Node) -> bool {
        match (&node.value, self) {
            (Value::Null, _) => true,
            (Value::Text(_), Self::Text | Self::TextOrNumber)
            | (Value::Bool(_), Self::Bool)
            | (Value::List(_), Self::List)
            | (Value::Map(_), Self::Map) => true,
            (Value::Number(number), Self::Number | Self::TextOrNumber) => !number.is_f64(),
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Bool => "a boolean",
            Self::Number => "a whole number",
            Self::List => "a list",
            Self::Map => "an object",
            Self::TextOrNumber => "a text or a whole number",
        }
    }
}

/// The values that have another type than in the table, each with the problem: `` `spec.icon` is not a list ``. Keys that the
/// table lacks are not checked: Go ignores them.
pub fn undecodable<'a>(node: &'a Node, table: &'a [Field]) -> Vec<(&'a Node, String)> {
    let mut problems = Vec::new();
    for (path, kind) in table {
        let steps: Vec<&str> = path.split('.').collect();
        visit(node, &steps, &mut Vec::new(), &mut |node, path| {
            if !kind.fits(node) {
                problems.push((node, format!("`{}` is not {}", path.join("."), kind.name())));
            }
        });
    }
    problems
}

/// Gives keys the case of a path: Go's decoder takes them in any, such as `Image` for `image`.
pub fn fold(node: &mut Node, path: &str) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let known = |key: &str| step.split('|').find(|known| known.eq_ignore_ascii_case(key));
    let inside: Vec<&mut Node> = match &mut node.value {
        Value::List(items) if step == "*" => items.iter_mut().collect(),
        Value::Map(entries) if step == "*" => entries.iter_mut().map(|entry| &mut entry.value).collect(),
        Value::Map(entries) => {
            let matching = entries.iter_mut().filter_map(|entry| {
                entry.key = known(&entry.key)?.to_owned();
                Some(&mut entry.value)
            });
            matching.collect()
        }
        _ => return,
    };
    if let Some(rest) = rest {
        inside.into_iter().for_each(|node| fold(node, rest));
    }
}

/// Calls `look` with each value at the steps, and its path.
fn visit<'a>(node: &'a Node, steps: &[&'a str], path: &mut Vec<&'a str>, look: &mut impl FnMut(&'a Node, &[&'a str])) {
    let Some((step, rest)) = steps.split_first() else {
        look(node, path);
        return;
    };
    for key in step.split('|') {
        path.push(key);
        match key {
            "*" => {
                let inside = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value));
                inside.for_each(|node| visit(node, rest, path, look));
            }
            key => node.get(key).into_iter().for_each(|node| visit(node, rest, path, look)),
        }
        path.pop();
    }
}
