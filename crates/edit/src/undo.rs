//! Undoes an edit: finds the text from which the edit makes this one.
//!
//! Tries texts without the inserted lines or words, and accepts one only if the edit turns it into exactly this text.
//! So everything else in the file stays, byte for byte.

use std::ops::Range;

use super::text::{line_end, line_start};
use super::{Edit, EditError};

/// Undoes an edit. `base` is the initial text of the file, if the edit may have created it. A text without the edit is
/// returned unchanged.
pub fn undo(edit: &Edit, text: &str, base: Option<&str>) -> Result<String, EditError> {
    let is_made = match (edit, edit.apply(text)) {
        // A removed item may not have existed.
        (Edit::Undo { .. }, _) => false,
        // An argument with another value is not the edit's.
        (Edit::KubeArgument { .. }, Err(_)) => false,
        (_, edited) => edited? == text,
    };
    if !is_made {
        return Ok(text.to_owned());
    }
    let mut candidates: Vec<String> = base.map(str::to_owned).into_iter().collect();
    match edit {
        Edit::RustMod { name } => {
            let line = format!("pub mod {name};");
            candidates.extend(lines(text, &line).into_iter().flat_map(|range| without_lines(text, range)));
        }
        Edit::RustListItem { item, .. } => candidates.extend(without_element(text, item)),
        Edit::YamlListItem { key, .. } | Edit::YamlEntry { key, .. } => candidates.extend(without_item(text, key)),
        Edit::KubeArgument { argument, .. } => candidates.extend(without_element(text, argument)),
        Edit::CargoFeature { feature, .. } => candidates.extend(without_element(text, &format!("\"{feature}\""))),
        _ => {}
    }
    let is_before = |candidate: &String| candidate != text && edit.apply(candidate).is_ok_and(|after| after == text);
    candidates.into_iter().find(is_before).ok_or_else(|| {
        let what = match edit {
            Edit::RustMod { name } => format!("`pub mod {name};`"),
            Edit::RustListItem { function, item } => format!("`{item}` in the list of `fn {function}`"),
            Edit::YamlListItem { key, item } => format!("`{item}` below `{key}:`"),
            Edit::YamlEntry { key, .. } => format!("the entry below `{key}:`"),
            Edit::KubeArgument { argument, .. } => format!("the argument `{argument}`"),
            Edit::CargoFeature { dependency, feature } => format!("the feature `{feature}` of `{dependency}`"),
            _ => "what was added".to_owned(),
        };
        EditError {
            at: None,
            reason: format!("cannot remove {what} without changing something else"),
            help: "remove it by hand, then run the command again".into(),
        }
    })
}

/// The lines with this content, at any indentation.
fn lines(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start);
        if text[start..end].trim() == wanted {
            found.push(start..end);
        }
        start = end;
    }
    found
}

/// The texts without an element of the YAML list below `key`. Without its last element, the list becomes empty, or is
/// removed with its key.
fn without_item(text: &str, key: &str) -> Vec<String> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at < text.len() {
        starts.push(at);
        at = line_end(text, at);
    }
    let column = |start: usize| text[start..].find(|c: char| c != ' ').unwrap_or(0);
    let header = format!("{key}:");
    let mut found = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let dash = column(*start);
        if !text[start + dash..].starts_with("- ") {
            continue;
        }
        let end = starts[number + 1..].iter().copied().find(|next| column(*next) <= dash).unwrap_or(text.len());
        let previous = number.checked_sub(1).map(|previous| starts[previous]);
        if let Some(previous) = previous.filter(|previous| text[*previous..*start].trim_end() == header) {
            let newline = &text[previous + header.len()..*start];
            let empty = [&text[..previous], &header, " []", newline, &text[end..]].concat();
            let absent = [&text[..previous], &text[end..]].concat();
            // In opctl's scaffold, only lists of resources start empty.
            found.extend(if key == "resources" { [empty, absent] } else { [absent, empty] });
            found.push([&text[..*start], &text[end..]].concat());
        } else {
            found.push([&text[..*start], &text[end..]].concat());
        }
    }
    found
}

/// The texts without these lines; also without an empty line before them, after them, or both.
fn without_lines(text: &str, range: Range<usize>) -> Vec<String> {
    let is_empty = |range: &Range<usize>| !range.is_empty() && text[range.clone()].trim().is_empty();
    let before = Some(range.start).filter(|start| *start > 0).map(|start| line_start(text, start - 1)..start);
    let before = before.filter(is_empty).map_or(range.start, |line| line.start);
    let after = Some(range.end..line_end(text, range.end)).filter(is_empty).map_or(range.end, |line| line.end);
    let ranges = [range.start..range.end, before..range.end, range.start..after, before..after];
    ranges.iter().map(|range| [&text[..range.start], &text[range.end..]].concat()).collect()
}

/// The texts without an element of a `vec![…]`, on a separate line or between others; also with the remaining list on
/// one line, as rustfmt would format it.
fn without_element(text: &str, item: &str) -> Vec<String> {
    let mut found = Vec::new();
    for range in lines(text, &format!("{item},")) {
        let rest = [&text[..range.start], &text[range.end..]].concat();
        found.extend(joined(&rest, range.start));
        found.push(rest);
    }
    for (at, _) in text.match_indices(item) {
        let end = at + item.len();
        for (before, after) in [("", ", "), (", ", ""), ("", "")] {
            if text[..at].ends_with(before) && text[end..].starts_with(after) {
                found.push([&text[..at - before.len()], &text[end + after.len()..]].concat());
            }
        }
    }
    found
}

/// Joins the list around this byte to one line.
fn joined(text: &str, at: usize) -> Option<String> {
    let open = text[..at].rfind("vec![")? + "vec![".len();
    let close = at + text[at..].find(']')?;
    let elements: Vec<&str> = text[open..close].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let list = elements.join(" ");
    Some([&text[..open], list.trim_end_matches(','), &text[close..]].concat())
}
