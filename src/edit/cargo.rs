//! Edits of Cargo.toml. toml_edit finds the byte spans, the edit itself is made in the text; then the new text is parsed
//! and must be the old value with just this change.

use std::ops::Range;

use toml_edit::{Document, Item, Key, TableLike, Value};

use super::EditError;
use super::brackets::List;
use super::text::{insert, line_end, line_start, newline, replace};

/// Adds `path` to `[workspace] members`, unless it or a glob that matches it is there.
pub fn add_member(text: &str, path: &str) -> Result<String, EditError> {
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("add this to `members` under `[workspace]`, then run the command again:\n    \"{path}\","),
    };
    let document = Document::parse(text).map_err(|error| refuse(format!("not valid TOML: {}", error.message())))?;
    let Some(workspace) = document.get("workspace").and_then(Item::as_table_like) else {
        return Err(refuse("no `[workspace]` table".into()));
    };
    let members = strings(workspace, "members");
    if members.iter().any(|member| plain(member) == plain(path)) {
        return Ok(text.into());
    }
    // Cargo compares excluded paths by their beginning, knows no globs there, and lets them overrule a glob in `members`.
    if let Some(excluded) = strings(workspace, "exclude").iter().find(|folder| starts_with(path, folder)) {
        return Err(EditError {
            at: None,
            reason: format!("`{path}` is kept out of the workspace by `exclude = [\"{excluded}\"]`"),
            help: format!("take `{excluded}` out of `exclude`, or use a folder outside of the workspace"),
        });
    }
    if members.iter().any(|member| glob_matches(member, path)) {
        return Ok(text.into());
    }

    let quoted = Value::from(path).to_string();
    let index = if members.is_sorted() { members.partition_point(|member| **member < *path) } else { members.len() };
    let new = match workspace.get("members") {
        None => insert_after_header(text, &document, &quoted),
        Some(item) => insert_into(text, item, index, &quoted),
    };
    let new =
        new.ok_or_else(|| refuse("`members` under `[workspace]` is not a list that can be edited safely".into()))?;
    if is_all_that_changed(text, &new, &members, index, path) {
        Ok(new)
    } else {
        Err(refuse(format!("cannot add `{path}` to the workspace without changing something else")))
    }
}

fn insert_into(text: &str, members: &Item, index: usize, quoted: &str) -> Option<String> {
    let list = members.as_array()?;
    let elements = list.iter().map(Value::span).collect::<Option<Vec<_>>>()?;
    Some(List { text, elements, close: list.span()?.end - 1 }.insert(index, quoted))
}

fn insert_after_header(text: &str, document: &Document<&str>, quoted: &str) -> Option<String> {
    let (header, _) = document.as_table().get_key_value("workspace")?;
    let end = line_end(text, header.span()?.end);
    let newline = newline(text);
    let before = if text[..end].ends_with('\n') { "" } else { newline };
    Some(insert(text, end, &format!("{before}members = [{quoted}]{newline}")))
}

fn is_all_that_changed(old: &str, new: &str, members: &[String], index: usize, path: &str) -> bool {
    let mut expected = members.to_vec();
    expected.insert(index, path.into());
    let (Some((_, old)), Some((members, new))) = (without_members(old), without_members(new)) else { return false };
    members == expected && old == new
}

/// The members, and everything else in a form that can be compared.
fn without_members(text: &str) -> Option<(Vec<String>, String)> {
    let mut document = Document::parse(text).ok()?.into_mut();
    let workspace = document.get_mut("workspace")?.as_table_like_mut()?;
    let members = strings(workspace, "members");
    workspace.remove("members");
    Some((members, document.to_string()))
}

fn strings(table: &dyn TableLike, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Item::as_array);
    list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// A path in Cargo.toml without `./` before it and `/` after it.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path).trim_end_matches('/')
}

fn starts_with(path: &str, folder: &str) -> bool {
    plain(path).strip_prefix(plain(folder)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a member with `*`, `?` or `**` matches the path, folder by folder, as cargo does.
fn glob_matches(glob: &str, path: &str) -> bool {
    fn folders(globs: &[&str], path: &[&str]) -> bool {
        match (globs, path) {
            ([], path) => path.is_empty(),
            (["**", rest @ ..], path) => (0..=path.len()).any(|skipped| folders(rest, &path[skipped..])),
            ([glob, globs @ ..], [name, path @ ..]) => characters(glob, name) && folders(globs, path),
            (_, []) => false,
        }
    }
    fn characters(glob: &str, name: &str) -> bool {
        let Some(first) = glob.chars().next() else { return name.is_empty() };
        let rest = &glob[first.len_utf8()..];
        let mut tails = name.char_indices().map(|(at, _)| &name[at..]).chain([""]);
        match first {
            '*' => tails.any(|tail| characters(rest, tail)),
            _ => name
                .chars()
                .next()
                .is_some_and(|c| (first == '?' || first == c) && characters(rest, &name[c.len_utf8()..])),
        }
    }
    let parts = |path| plain(path).split('/').collect::<Vec<_>>();
    folders(&parts(glob), &parts(path))
}

/// Adds `feature` to the features of `dependency`, unless it is there.
pub fn add_feature(text: &str, dependency: &str, feature: &str) -> Result<String, EditError> {
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!(
            "add `\"{feature}\"` to the `features` of `{dependency}` under `[dependencies]`, then run the command again"
        ),
    };
    let features = |document: &Document<&str>| -> Option<Vec<String>> {
        let dependency = document.get("dependencies")?.get(dependency)?;
        Some(strings(dependency.as_table_like()?, "features"))
    };
    let document = Document::parse(text).map_err(|error| refuse(format!("not valid TOML: {}", error.message())))?;
    let Some(mut expected) = features(&document) else {
        return Err(refuse(format!("`{dependency}` under `[dependencies]` has no list of features")));
    };
    if expected.iter().any(|other| other == feature) {
        return Ok(text.into());
    }
    let index = expected.partition_point(|other| other.as_str() < feature);
    let list = document.get("dependencies").and_then(|all| all.get(dependency)).and_then(|it| it.get("features"));
    let new = list.and_then(|list| insert_into(text, list, index, &Value::from(feature).to_string()));
    expected.insert(index, feature.to_owned());
    match new.filter(|new| Document::parse(new.as_str()).is_ok_and(|document| features(&document) == Some(expected))) {
        Some(new) => Ok(new),
        None => Err(refuse(format!("the features of `{dependency}` are not a list that can be edited safely"))),
    }
}

/// Takes `key` out of `[table]`, with the comment on its line, and those above it that are about nothing else.
pub fn unset(text: &str, table: &str, key: &str) -> Result<String, EditError> {
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("take `{key}` out of `[{table}]`, then run the command again"),
    };
    let invalid = |error: toml_edit::TomlError| refuse(format!("not valid TOML: {}", error.message()));
    let document = Document::parse(text).map_err(invalid)?;
    let unsafe_cut = || refuse(format!("`{key}` in `[{table}]` is written in a way that cannot be cut safely"));

    let path = Key::parse(table).map_err(invalid)?;
    let mut at = document.as_item();
    for name in &path {
        at = match at {
            Item::ArrayOfTables(_) => return Err(unsafe_cut()),
            _ => match at.get(name.get()) {
                Some(item) => item,
                None => return Ok(text.into()),
            },
        };
    }
    let Some(found) = at.as_table_like() else { return Ok(text.into()) };
    let Some((name, item)) = found.get_key_value(key) else { return Ok(text.into()) };
    let (Some(name), Some(value), true) = (name.span(), item.as_value().and_then(Value::span), at.is_table()) else {
        return Err(unsafe_cut());
    };
    let others: Vec<&str> = found.iter().map(|(other, _)| other).filter(|other| *other != key).collect();
    let lines = line_start(text, name.start)..line_end(text, value.end);
    let with_comments = comment_about(text, &lines, key, &others).unwrap_or(lines.start)..lines.end;

    let path: Vec<&str> = path.iter().map(Key::get).chain([key]).collect();
    let mut expected = settings(text).unwrap_or_default();
    expected.retain(|(other, _)| *other != path);
    for lines in [with_comments, lines] {
        let new = cut_lines(text, lines);
        if settings(&new).as_ref() == Some(&expected) {
            return Ok(new);
        }
    }
    Err(unsafe_cut())
}

/// Where the comment right above a setting starts, if it is about that alone: it names the setting, or nothing else
/// follows that it could be a heading of; and it neither names another setting nor is one that is commented out.
fn comment_about(text: &str, lines: &Range<usize>, key: &str, others: &[&str]) -> Option<usize> {
    let above: Vec<&str> = text[..lines.start].split_inclusive('\n').collect();
    let comment: Vec<&str> =
        above.into_iter().rev().map_while(|line| line.trim().starts_with('#').then_some(line)).collect();
    let is_setting = |line: &&str| settings(line.trim().trim_start_matches('#')).is_some_and(|found| !found.is_empty());
    let names = |key: &str| {
        let mut words = comment.iter().flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)));
        words.any(|word| word == key)
    };
    let next = text[lines.end..].lines().next().unwrap_or_default().trim();
    let is_last = next.is_empty() || next.starts_with(['#', '[']);
    let is_alone =
        (is_last || names(key)) && !others.iter().any(|other| names(other)) && !comment.iter().any(is_setting);
    is_alone.then(|| lines.start - comment.iter().map(|line| line.len()).sum::<usize>())
}

/// Cuts these lines; of two empty lines that come together then, one goes, too.
fn cut_lines(text: &str, lines: Range<usize>) -> String {
    let above = line_start(text, lines.start.saturating_sub(1));
    let is_blank_above = above < lines.start && text[above..lines.start].trim().is_empty();
    let is_blank_below = text[lines.end..].lines().next().unwrap_or_default().trim().is_empty();
    let start = if is_blank_above && is_blank_below { above } else { lines.start };
    replace(text, start..lines.end, "")
}

/// All values of a file with the keys that lead to them, and the headers of its tables, in their order.
fn settings(text: &str) -> Option<Vec<(Vec<String>, String)>> {
    fn add(path: &[String], table: &dyn TableLike, found: &mut Vec<(Vec<String>, String)>) {
        for (key, item) in table.iter() {
            let path = [path, &[key.to_owned()]].concat();
            match item {
                Item::None => {}
                Item::Value(value) => found.push((path, value.to_string().trim().to_owned())),
                Item::Table(table) => {
                    if !table.is_implicit() && !table.is_dotted() {
                        found.push((path.clone(), String::new()));
                    }
                    add(&path, table, found);
                }
                Item::ArrayOfTables(tables) => {
                    for table in tables {
                        found.push((path.clone(), String::new()));
                        add(&path, table, found);
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    add(&[], Document::parse(text).ok()?.into_mut().as_table(), &mut found);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_folder_by_folder() {
        for (glob, path, matches) in [
            ("crates/*", "crates/a", true),
            ("crates/*", "crates/a/b", false),
            ("crates/**", "crates/a/b", true),
            ("**/operator", "operator", true),
            ("op?-*", "op1-x", true),
            ("op?-*", "op-x", false),
            ("./crates/*/", "crates/ä", true),
            ("*", "a/b", false),
        ] {
            assert_eq!(glob_matches(glob, path), matches, "{glob} {path}");
        }
    }
}
