//! Merges several renderings of an object into one tree. Each part of the tree has the set of renderings that contain
//! it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::condition::Set;

/// A part of a mapping or a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<T> {
    /// The renderings that have it.
    pub set: Set,
    pub it: T,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The same in all renderings.
    Same(Value),
    Map(Vec<Part<(String, Tree)>>),
    List(Vec<Part<Tree>>),
    /// A different tree in each set of renderings.
    Choice(Vec<Part<Tree>>),
    /// Template lines that replace an entry with its key, or an item.
    Lines(Vec<String>),
}

/// Merges the values at one place in several renderings.
pub fn merge(variants: &[(Set, &Value)]) -> Tree {
    let (_, first) = variants[0];
    if variants.iter().all(|(_, value)| *value == first) {
        return Tree::Same(first.clone());
    }
    let everywhere = union(variants);
    // A part of all variants is in all renderings that contain this tree.
    let widened = |set: Set| if set == everywhere { Set::ALL } else { set };
    let is_filled = |value: &Value| match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        _ => false,
    };
    if variants.iter().all(|(_, value)| value.is_object() && is_filled(value)) {
        let mut entries: BTreeMap<&String, Vec<(Set, &Value)>> = BTreeMap::new();
        for (set, value) in variants {
            for (key, value) in value.as_object().into_iter().flatten() {
                entries.entry(key).or_default().push((set.clone(), value));
            }
        }
        let part = |(key, variants): (&String, Vec<_>)| Part {
            set: widened(union(&variants)),
            it: (key.clone(), merge(&variants)),
        };
        return Tree::Map(entries.into_iter().map(part).collect());
    }
    if variants.iter().all(|(_, value)| value.is_array() && is_filled(value))
        && let Some(items) = merge_lists(variants)
    {
        return Tree::List(items.into_iter().map(|(set, it)| Part { set: widened(set), it }).collect());
    }
    let mut choices: Vec<Part<Tree>> = Vec::new();
    for (set, value) in variants {
        match choices.iter_mut().find(|choice| matches!(&choice.it, Tree::Same(same) if same == *value)) {
            Some(choice) => choice.set = &choice.set | set,
            None => choices.push(Part { set: set.clone(), it: Tree::Same((*value).clone()) }),
        }
    }
    Tree::Choice(choices)
}

fn union(variants: &[(Set, &Value)]) -> Set {
    variants.iter().fold(Set::NONE, |union, (set, _)| &union | set)
}

pub fn is_container(value: &Value) -> bool {
    value["name"].is_string() && value["image"].is_string()
}

/// Merges items of the same name, and equal items without a name. `None` if no order fits all variants.
fn merge_lists(variants: &[(Set, &Value)]) -> Option<Vec<(Set, Tree)>> {
    let identity = |item: &Value| match item.get("name") {
        Some(Value::String(name)) => name.clone(),
        _ => item.to_string(),
    };
    let mut known: Vec<String> = Vec::new();
    let mut items: BTreeMap<String, Vec<(Set, &Value)>> = BTreeMap::new();
    // The direct predecessors of each item, from all variants.
    let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (set, value) in variants {
        let list = value.as_array()?;
        let identities: Vec<String> = list.iter().map(identity).collect();
        for (at, (item, identity)) in list.iter().zip(&identities).enumerate() {
            if identities[..at].contains(identity) {
                return None;
            }
            if !known.contains(identity) {
                known.push(identity.clone());
            }
            items.entry(identity.clone()).or_default().push((set.clone(), item));
            before.entry(identity.clone()).or_default().extend(at.checked_sub(1).map(|at| identities[at].clone()));
        }
    }
    let mut merged = Vec::new();
    while !known.is_empty() {
        let next = known.iter().position(|identity| !known.iter().any(|other| before[identity].contains(other)));
        // A kustomize patch moves a container to the front. The order of containers has no meaning.
        let next = next.or_else(|| items.values().flatten().all(|(_, item)| is_container(item)).then_some(0))?;
        let identity = known.remove(next);
        merged.push((union(&items[&identity]), merge(&items[&identity])));
    }
    Some(merged)
}

impl Tree {
    /// The entry of a mapping; opens the mapping.
    pub fn entry(&mut self, key: &str) -> Option<&mut Part<(String, Self)>> {
        match self.open() {
            Self::Map(entries) => entries.iter_mut().find(|entry| entry.it.0 == key),
            _ => None,
        }
    }

    pub fn get(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |tree, key| tree.entry(key).map(|entry| &mut entry.it.1))
    }

    /// The items of a sequence; opens the sequence.
    pub fn items(&mut self) -> &mut [Part<Self>] {
        match self.open() {
            Self::List(items) => items,
            _ => &mut [],
        }
    }

    /// Inserts an entry into a mapping, or replaces it.
    pub fn put(&mut self, set: Set, key: &str, tree: Self) {
        if let Self::Map(entries) = self.open() {
            entries.retain(|entry| entry.it.0 != key);
            let at = entries.iter().position(|entry| entry.it.0.as_str() > key).unwrap_or(entries.len());
            entries.insert(at, Part { set, it: (key.into(), tree) });
        }
    }

    /// The value, if it is the same in all renderings, even if the tree was opened.
    pub fn same(&self) -> Option<Value> {
        // The set of a part is compared with those of its siblings: a part that some renderings lack is not the same
        // everywhere.
        match self {
            Self::Same(value) => Some(value.clone()),
            Self::Map(entries) => {
                let set = &entries.first()?.set;
                let entry = |entry: &Part<(String, Self)>| Some((entry.it.0.clone(), entry.it.1.same()?));
                let same = entries.iter().map(|it| if it.set == *set { entry(it) } else { None });
                same.collect::<Option<_>>().map(Value::Object)
            }
            Self::List(items) => {
                let set = &items.first()?.set;
                let same = items.iter().map(|item| if item.set == *set { item.it.same() } else { None });
                same.collect::<Option<_>>().map(Value::Array)
            }
            Self::Choice(_) | Self::Lines(_) => None,
        }
    }

    /// Splits a [`Same`](Self::Same) mapping or sequence into parts, each in all renderings.
    pub fn open(&mut self) -> &mut Self {
        let everywhere = |it| Part { set: Set::ALL, it };
        match self {
            Self::Same(Value::Object(entries)) => {
                let entries = std::mem::take(entries).into_iter();
                let entries = entries.map(|(key, value)| Part { set: Set::ALL, it: (key, Self::Same(value)) });
                *self = Self::Map(entries.collect());
            }
            Self::Same(Value::Array(items)) => {
                let items = std::mem::take(items).into_iter();
                *self = Self::List(items.map(Self::Same).map(everywhere).collect());
            }
            _ => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_know_which_renderings_have_them() {
        let [one, two] = [json!({ "a": [1, 2], "b": 1, "d": [] }), json!({ "a": [1, 3, 2], "c": true, "d": [1] })];
        let mut tree = merge(&[(0.into(), &one), (1.into(), &two)]);
        let set = |tree: &mut Tree, key: &str| tree.entry(key).map(|entry| entry.set.clone());
        assert_eq!(
            [set(&mut tree, "a"), set(&mut tree, "b"), set(&mut tree, "c")],
            [Some(Set::ALL), Some(0.into()), Some(1.into())]
        );
        let items = tree.get(&["a"]).unwrap().items();
        assert_eq!(items.iter().map(|item| item.set.clone()).collect::<Vec<_>>(), [Set::ALL, 1.into(), Set::ALL]);
        // An empty list is a choice of its own: as a list without items, the template would render `null`.
        assert!(matches!(tree.get(&["d"]).unwrap(), Tree::Choice(choices) if choices.len() == 2));
    }

    #[test]
    fn an_order_that_fits_all_variants_is_found() {
        let lists = [json!(["x", "z"]), json!(["b", "x", "z"]), json!(["a", "x"]), json!(["b", "a", "x", "y", "z"])];
        let variants: Vec<(Set, &Value)> = lists.iter().enumerate().map(|(at, list)| (at.into(), list)).collect();
        let mut tree = merge(&variants);
        let order: Vec<_> = tree.items().iter().map(|item| item.it.same().unwrap()).collect();
        assert_eq!(Value::Array(order), json!(["b", "a", "x", "y", "z"]));
    }

    #[test]
    fn lists_in_different_orders_are_different_lists() {
        let [one, two] = [json!([1, 2]), json!([2, 1])];
        assert!(matches!(merge(&[(0.into(), &one), (1.into(), &two)]), Tree::Choice(_)));
    }
}
