//! Edits of Cargo.toml. toml_edit finds the byte spans, the edit itself is made in the text; then the new text is parsed
//! and must be the old value with just this change.

use toml_edit::{Document, Item, TableLike, Value};

use super::EditError;
use super::brackets::List;
use super::text::{insert, line_end, newline};

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
