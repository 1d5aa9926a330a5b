//! `replacements`: copies values from one object to others.

use super::kustomization::Kustomization;
use super::render::{Render, Renderer};
use super::select::Selector;
use super::transform::selects_nothing;
use super::yaml::{Node, Value};
use crate::diagnostics::{OP437, OP438};
use opctl_model::diagnostic::Span;

/// Applies an entry: a replacement, or a file with some.
pub fn entry(renderer: &mut Renderer, kustomization: &Kustomization, entry: &Node, render: &mut Render) {
    let Some(path) = entry.get("path") else { return replace(renderer, entry, render) };
    let file = path.as_text().and_then(|text| renderer.file(kustomization, text, path));
    let Some(documents) = file.and_then(|file| renderer.documents(&file)) else {
        render.is_closed = false;
        return;
    };
    for document in documents.iter() {
        let several = document.items();
        let several = if several.is_empty() { std::slice::from_ref(document) } else { several };
        several.iter().for_each(|one| replace(renderer, one, render));
    }
}

fn replace(renderer: &mut Renderer, replacement: &Node, render: &mut Render) {
    let Some(value) = source(renderer, replacement, render) else {
        render.is_closed = false;
        return;
    };
    for target in replacement.items_at(&["targets"]) {
        let Some(select) = target.get("select") else { continue };
        let rejected: Vec<Option<Selector>> = target.items_at(&["reject"]).iter().map(Selector::read).collect();
        let (Some(selector), true) = (Selector::read(select), rejected.iter().all(Option::is_some)) else {
            render.is_closed = false;
            continue;
        };
        let mut is_used = false;
        let mut misfit: Option<(String, &Node, String)> = None;
        for object in render.objects.iter_mut().filter(|object| selector.selects_any(object)) {
            if rejected.iter().flatten().any(|selector| selector.selects_any(object)) {
                continue;
            }
            is_used = true;
            let id = object.id().to_string();
            for path in target.items_at(&["fieldPaths"]) {
                let Some(text) = path.as_text() else { continue };
                if !copy(&mut object.node, &keys(text), &value, target.get("options")) {
                    misfit = Some((text.to_owned(), path, id.clone()));
                }
            }
        }
        if let Some((text, path, id)) = misfit {
            // kustomize can also replace within strings that contain YAML or JSON; that is not supported here.
            if render.is_closed {
                render.is_closed = false;
                renderer
                    .problem(OP438, format!("there is no `{text}` in {id}"), path)
                    .help("write the path of an existing field, or set `options.create`");
            }
        } else if !is_used && render.is_closed {
            selects_nothing(renderer, "replacement", place_of(select));
        }
    }
}

/// The value to copy.
fn source(renderer: &mut Renderer, replacement: &Node, render: &Render) -> Option<Node> {
    if let Some(value) = replacement.get("sourceValue") {
        return Some(value.clone());
    }
    let source = replacement.get("source")?;
    let wanted = |key: &str| source.text_at(&[key]).filter(|text| !text.is_empty());
    let fits = |object: &&super::object::Object| {
        object.ids().any(|id| {
            let namespace = wanted("namespace");
            wanted("name").is_none_or(|name| name == id.name)
                && wanted("kind").is_none_or(|kind| kind == id.kind)
                && wanted("group").is_none_or(|group| group == id.group)
                && wanted("version").is_none_or(|version| version == id.version)
                && namespace.is_none_or(|namespace| namespace == id.effective_namespace())
        })
    };
    let mut found = render.objects.iter().filter(fits);
    let place = Node { value: Value::Null, span: place_of(source) };
    let Some(object) = found.next() else {
        if render.is_closed {
            renderer
                .problem(OP437, "the source of this replacement is not here".into(), &place)
                .help("name an object that this kustomization makes");
        }
        return None;
    };
    if let Some(other) = found.next() {
        if render.is_closed {
            let both = format!("the source of this replacement is {} and {}", object.id(), other.id());
            renderer
                .problem(OP437, both, &place)
                .help("add what distinguishes them: `kind`, `name`, `group`, `namespace`");
        }
        return None;
    }
    let path = wanted("fieldPath").unwrap_or("metadata.name");
    let Some(value) = keys(path).iter().try_fold(&object.node, |node, key| step(node, key)) else {
        if render.is_closed {
            let place = source.get("fieldPath").unwrap_or(source);
            renderer
                .problem(OP438, format!("there is no `{path}` in {}", object.id()), place)
                .help("write the path of an existing field");
        }
        return None;
    };
    let Some(delimiter) = source.text_at(&["options", "delimiter"]) else { return Some(value.clone()) };
    let part = value.as_text()?.split(delimiter).nth(index(source.get("options")))?;
    Some(Node::text(part, value.span.clone()))
}

fn index(options: Option<&Node>) -> usize {
    let index = options.and_then(|options| options.get("index")).map(Node::json);
    index.and_then(|index| usize::try_from(index.as_i64()?).ok()).unwrap_or(0)
}

fn place_of(select: &Node) -> Span {
    select.get("name").or_else(|| select.get("kind")).unwrap_or(select).span.clone()
}

/// Splits `a.b.[x=y].c`. Dots within brackets and `\.` do not separate keys.
fn keys(path: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut in_brackets = false;
    let mut chars = path.chars().peekable();
    while let Some(char) = chars.next() {
        let last = keys.last_mut().expect("there is one from the start");
        match char {
            '\\' if chars.peek() == Some(&'.') => last.extend(chars.next()),
            '.' if !in_brackets => keys.push(String::new()),
            char => {
                in_brackets = char == '[' || in_brackets && char != ']';
                last.push(char);
            }
        }
    }
    keys.retain(|key| !key.is_empty());
    // `[a.b/c]` is a key with dots; `[a=b]` is a condition.
    for key in &mut keys {
        if let Some(inside) = key.strip_prefix('[').and_then(|key| key.strip_suffix(']'))
            && !inside.contains('=')
        {
            *key = inside.to_owned();
        }
    }
    keys
}

fn condition(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix('[')?.strip_suffix(']')?.split_once('=')
}

fn fits(item: &Node, (key, value): (&str, &str)) -> bool {
    item.get(key).is_some_and(|found| match &found.value {
        Value::Text(text) => text == value,
        Value::Number(number) => number.to_string() == value,
        _ => false,
    })
}

fn step<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match (&node.value, condition(key)) {
        (Value::List(items), Some(condition)) => items.iter().find(|item| fits(item, condition)),
        (Value::List(items), None) => items.get(key.parse::<usize>().ok()?),
        _ => node.get(key),
    }
}

/// Sets the value at every match of the path; `false` if there is none.
fn copy(node: &mut Node, keys: &[String], value: &Node, options: Option<&Node>) -> bool {
    let Some((first, rest)) = keys.split_first() else {
        put(node, value, options);
        return true;
    };
    if let Value::List(items) = &mut node.value {
        let mut found = false;
        for (at, item) in items.iter_mut().enumerate() {
            let is_meant = first == "*"
                || first.parse() == Ok(at)
                || condition(first).is_some_and(|condition| fits(item, condition));
            found |= is_meant && copy(item, rest, value, options);
        }
        return found;
    }
    if first == "*" && matches!(node.value, Value::Map(_)) {
        let Value::Map(entries) = &mut node.value else { return false };
        let copied = entries.iter_mut().filter_map(|entry| copy(&mut entry.value, rest, value, options).then_some(()));
        return copied.count() > 0;
    }
    let creates = options.and_then(|options| options.get("create")).is_some_and(Node::is_true);
    if creates && node.get(first).is_none() && matches!(node.value, Value::Map(_) | Value::Null) {
        let empty = if rest.is_empty() { Value::Null } else { Value::map() };
        node.set(first, Node { value: empty, span: value.span.clone() });
    }
    node.get_mut(first).is_some_and(|inside| copy(inside, rest, value, options))
}

fn put(node: &mut Node, value: &Node, options: Option<&Node>) {
    let delimiter = options.and_then(|options| options.text_at(&["delimiter"]));
    let (Some(delimiter), Some(new)) = (delimiter, value.as_text()) else {
        node.value = value.value.clone();
        return;
    };
    let old = node.as_text().unwrap_or_default().to_owned();
    let mut parts: Vec<&str> = old.split(delimiter).collect();
    let before = options
        .and_then(|options| options.get("index"))
        .is_some_and(|index| index.json().as_i64().is_some_and(|index| index < 0));
    match index(options) {
        _ if before => parts.insert(0, new),
        at if at < parts.len() => parts[at] = new,
        _ => parts.push(new),
    }
    node.value = Value::Text(parts.join(delimiter));
}
