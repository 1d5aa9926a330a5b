//! Adds `pub mod NAME;` to the modules of a file.

use syn::{Attribute, File, Item, ItemMod};

use super::gap::{
    Sibling, comments, end_with_comment, has_blank_line, insert_line_after, insert_line_before, last_blank_line,
};
use super::{Source, unparsed};
use crate::EditError;
use crate::text::{indent, insert, line_end, newline};

/// Adds `pub mod NAME;` unless a module of this name is declared in any way.
///
/// It is inserted in rustfmt's order (by the bytes of the name; the version sort of style edition 2024 only applies to
/// `use`), in the first group of declarations with a `pub` one, else the first group. In a file without declarations,
/// it is inserted after the head (inner docs and attributes, or the comment at the top).
pub fn add_mod(text: &str, name: &str) -> Result<String, EditError> {
    let line = format!("pub mod {name};");
    if syn::parse_str::<syn::Ident>(name).is_err() {
        return Err(EditError {
            at: None,
            reason: format!("`{name}` cannot be the name of a Rust module"),
            help: "use another name".into(),
        });
    }
    let source = Source::parse(text).map_err(|error| unparsed(&error, &line))?;
    if modules(&source.file).any(|module| unraw(module) == name) {
        return Ok(text.into());
    }

    let groups = groups(&source);
    let group = groups.iter().find(|group| group.has_pub).or(groups.first());
    let new = match group {
        Some(group) => insert_sorted(text, group, name, &line),
        None => insert_after_head(&source, &line),
    };
    if !equals_with(&source.file, &new, &line) {
        return Err(EditError {
            at: None,
            reason: format!("cannot add `{line}` without changing something else"),
            help: format!("add this line where modules are declared, then run the command again:\n    {line}"),
        });
    }
    Ok(new)
}

/// Declarations on adjacent lines, possibly with comments in between.
struct Group {
    has_pub: bool,
    modules: Vec<Sibling>, // Invariant: not empty.
}

fn groups(source: &Source) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut adjacent = false;
    for item in &source.file.items {
        // rustfmt never moves `#[macro_use]` modules, because their order matters.
        let sortable = |module: &&ItemMod| module.content.is_none() && !module.attrs.iter().any(is_fixed);
        let Some(module) = as_module(item).filter(sortable) else {
            adjacent = false;
            continue;
        };
        let sibling = Sibling { key: unraw(module), range: source.range_of(module) };
        let has_pub = !matches!(module.vis, syn::Visibility::Inherited);
        match groups.last_mut() {
            Some(group) if adjacent && !has_blank_line(source.text, group.end()..sibling.range.start) => {
                group.has_pub |= has_pub;
                group.modules.push(sibling);
            }
            _ => groups.push(Group { has_pub, modules: vec![sibling] }),
        }
        adjacent = true;
    }
    groups
}

impl Group {
    fn end(&self) -> usize {
        self.modules.last().expect("a group has a module").range.end
    }
}

/// Comments between two declarations stay with the second; one directly above the first is the heading of the group.
fn insert_sorted(text: &str, group: &Group, name: &str, line: &str) -> String {
    let modules = &group.modules;
    let index = modules.iter().position(|module| module.key.as_str() > name).unwrap_or(modules.len());
    match index.checked_sub(1) {
        None => insert_line_before(text, modules[0].range.start, line),
        Some(previous) => {
            let end = modules[previous].range.end;
            insert_line_after(text, end, indent(text, end), line)
        }
    }
}

fn insert_after_head(source: &Source, line: &str) -> String {
    let (text, newline) = (source.text, newline(source.text));
    let head = head_end(source);
    let (before, after) = text.split_at(head);
    let mut new = String::new();
    if !before.trim_matches(['\u{feff}', '\n', '\r', ' ']).is_empty() {
        new.push_str(if before.ends_with('\n') { "" } else { newline });
        new.push_str(newline);
    }
    new.push_str(line);
    new.push_str(newline);
    let next_line = after.lines().next().unwrap_or_default();
    if !next_line.trim().is_empty() {
        new.push_str(newline);
    }
    insert(text, head, &new)
}

/// The start of the line after the head of a file: its inner docs and attributes, or else the comment at its top.
fn head_end(source: &Source) -> usize {
    let text = source.text;
    let items = source.file.items.first().map_or(text.len(), |item| source.range_of(item).start);
    if let Some(end) = source.file.attrs.iter().map(|attribute| source.range_of(attribute).end).max() {
        return end_with_comment(text, end).unwrap_or(end);
    }
    let top = comments(text, source.offset..items);
    let about_first_item = |start: usize| {
        last_blank_line(text, source.offset..items).is_some_and(|blank| start >= blank && items < text.len())
    };
    let Some(last) = top.iter().rev().find(|comment| !about_first_item(comment.start)).or(top.last()) else {
        // Only a `#!` line may precede the position.
        return if source.file.shebang.is_some() { line_end(text, source.offset) } else { source.offset };
    };
    end_with_comment(text, last.end).unwrap_or(last.end)
}

fn equals_with(old: &File, new: &str, line: &str) -> bool {
    let (Ok(mut new), Ok(item)) = (syn::parse_file(new), syn::parse_str::<Item>(line)) else { return false };
    let Some(at) = new.items.iter().position(|other| *other == item) else { return false };
    new.items.remove(at);
    new == *old
}

fn modules(file: &File) -> impl Iterator<Item = &ItemMod> {
    file.items.iter().filter_map(as_module)
}

fn as_module(item: &Item) -> Option<&ItemMod> {
    if let Item::Mod(module) = item { Some(module) } else { None }
}

fn unraw(module: &ItemMod) -> String {
    let name = module.ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// An attribute for which rustfmt does not move a module.
fn is_fixed(attribute: &Attribute) -> bool {
    attribute.path().is_ident("macro_use")
        || attribute.path().segments.first().is_some_and(|segment| segment.ident == "rustfmt")
}
