//! Edits of Cargo.toml. toml_edit finds the byte spans, the edit is made in the text. Then the new text is parsed and
//! must equal the old value with just this change.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

use super::EditError;
use super::brackets::List;
use super::text::{insert, line_end, line_start, newline, replace};
use opctl_model::versions::{Release, Requirement};

/// Adds `path` to `[workspace] members`, unless it is already listed.
pub fn add_member(text: &str, path: &str) -> Result<String, EditError> {
    let members = WorkspaceList { text, key: "members", path };
    let document = members.document()?;
    let workspace = members.workspace(&document)?;
    if strings(workspace, "members").iter().any(|member| plain(member) == plain(path)) {
        return Ok(text.into());
    }
    members.add(&document)
}

/// Adds `path` to `[workspace] exclude`, unless it is already listed there or as a member.
pub fn add_excluded(text: &str, path: &str) -> Result<String, EditError> {
    let excluded = WorkspaceList { text, key: "exclude", path };
    let document = excluded.document()?;
    let workspace = excluded.workspace(&document)?;
    let is_member = strings(workspace, "members").iter().any(|member| plain(member) == plain(path));
    if is_member || strings(workspace, "exclude").iter().any(|folder| starts_with(path, folder)) {
        return Ok(text.into());
    }
    excluded.add(&document)
}

/// A list of paths in `[workspace]`, and a path to add.
struct WorkspaceList<'a> {
    text: &'a str,
    key: &'a str,
    path: &'a str,
}

impl<'a> WorkspaceList<'a> {
    fn refuse(&self, reason: impl Into<String>) -> EditError {
        let Self { key, path, .. } = self;
        EditError {
            at: None,
            reason: reason.into(),
            help: format!("add this to `{key}` under `[workspace]`, then run the command again:\n    \"{path}\","),
        }
    }

    fn document(&self) -> Result<Document<&'a str>, EditError> {
        Document::parse(self.text).map_err(|error| self.refuse(format!("not valid TOML: {}", error.message())))
    }

    fn workspace<'d>(&self, document: &'d Document<&'a str>) -> Result<&'d dyn TableLike, EditError> {
        let workspace = document.get("workspace").and_then(Item::as_table_like);
        workspace.ok_or_else(|| self.refuse("no `[workspace]` table"))
    }

    fn add(&self, document: &Document<&'a str>) -> Result<String, EditError> {
        let Self { text, key, path } = *self;
        let workspace = self.workspace(document)?;
        let listed = strings(workspace, key);
        let quoted = Value::from(path).to_string();
        let index = if listed.is_sorted() { listed.partition_point(|other| **other < *path) } else { listed.len() };
        let new = match workspace.get(key) {
            None => self.insert_after_header(document, &quoted),
            Some(item) => insert_into(text, item, index, &quoted),
        };
        let new = new.ok_or_else(|| {
            self.refuse(format!("`{key}` under `[workspace]` is not a list that can be edited safely"))
        })?;
        let mut expected = listed;
        expected.insert(index, path.into());
        match (self.without(text), self.without(&new)) {
            (Some((_, old)), Some((listed, other))) if listed == expected && old == other => Ok(new),
            _ => Err(self.refuse(format!("cannot add `{path}` to the workspace without changing something else"))),
        }
    }

    /// Inserts the list below that of the members, if there is one.
    fn insert_after_header(&self, document: &Document<&str>, quoted: &str) -> Option<String> {
        let (text, newline) = (self.text, newline(self.text));
        let (header, workspace) = document.as_table().get_key_value("workspace")?;
        let members = workspace.get("members").filter(|_| workspace.is_table()).and_then(Item::span);
        let end = line_end(text, members.or_else(|| header.span())?.end);
        let before = if text[..end].ends_with('\n') { "" } else { newline };
        Some(insert(text, end, &format!("{before}{} = [{quoted}]{newline}", self.key)))
    }

    /// The list, and the rest of the document in a comparable form.
    fn without(&self, text: &str) -> Option<(Vec<String>, String)> {
        let mut document = Document::parse(text).ok()?.into_mut();
        let workspace = document.get_mut("workspace")?.as_table_like_mut()?;
        let listed = strings(workspace, self.key);
        workspace.remove(self.key);
        Some((listed, document.to_string()))
    }
}

fn insert_into(text: &str, list: &Item, index: usize, quoted: &str) -> Option<String> {
    let list = list.as_array()?;
    let elements = list.iter().map(Value::span).collect::<Option<Vec<_>>>()?;
    Some(List { text, elements, close: list.span()?.end - 1 }.insert(index, quoted))
}

/// Sets the version and path of the dependency `package`, in each table of dependencies that contains it. Keeps
/// features and everything else. If no table contains it, adds it to `[dependencies]` with `features`.
pub fn set_source(
    text: &str,
    package: &str,
    version: &str,
    path: Option<&str>,
    features: &[String],
) -> Result<String, EditError> {
    let version = Value::from(version).to_string();
    let path = path.map(|path| Value::from(path).to_string());
    let keys = match &path {
        Some(path) => format!("version = {version}, path = {path}"),
        None => format!("version = {version}"),
    };
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!(
            "write `{package} = {{ {keys}, … }}` with the features that you need, then run the command again"
        ),
    };
    let document = Document::parse(text).map_err(|error| refuse(format!("not valid TOML: {}", error.message())))?;
    let unsafe_edit = || refuse(format!("`{package}` is written in a way that cannot be edited safely"));

    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let found = dependencies(document.as_table(), package);
    if found.is_empty() {
        let features: toml_edit::Array = features.iter().map(String::as_str).collect();
        let line = format!("{package} = {{ {keys}, features = {} }}", Value::from(features));
        return add_dependency(text, &document, &line)
            .ok_or_else(|| refuse(format!("cannot add `{package}`: there is no table `[dependencies]`")));
    }
    for item in found {
        let Some(table) = item.as_table_like() else {
            let whole = item.span().ok_or_else(unsafe_edit)?;
            changes.push((whole, if path.is_some() { format!("{{ {keys} }}") } else { version.clone() }));
            continue;
        };
        let between = if item.is_table() { newline(text) } else { ", " };
        let span = |key: &str| table.get(key).map(|value| value.span().ok_or_else(unsafe_edit)).transpose();
        // With `workspace = true`, the version is in another file.
        let at = span("version")?.ok_or_else(unsafe_edit)?;
        changes.push((at.clone(), version.clone()));
        match (span("path")?, &path) {
            (None, None) => {}
            (None, Some(path)) => changes.push((at.end..at.end, format!("{between}path = {path}"))),
            (Some(old), Some(path)) => changes.push((old, path.clone())),
            (Some(old), None) => {
                let key = table.get_key_value("path").and_then(|(key, _)| key.span()).ok_or_else(unsafe_edit)?;
                let whole = if item.is_table() {
                    line_start(text, key.start)..line_end(text, old.end)
                } else {
                    // Includes the comma before or after it.
                    let before = text[..key.start].trim_end();
                    let after = text[old.end..].trim_start();
                    match (before.strip_suffix(','), after.strip_prefix(',')) {
                        (Some(before), _) => before.len()..old.end,
                        (None, Some(after)) => key.start..text.len() - after.trim_start().len(),
                        (None, None) => return Err(unsafe_edit()),
                    }
                };
                changes.push((whole, String::new()));
            }
        }
    }
    // From the end, so that earlier ranges stay valid.
    changes.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
    let new = changes.into_iter().fold(text.to_owned(), |text, (range, with)| replace(&text, range, &with));
    let (old_rest, new_rest) = (without_source(text, package), without_source(&new, package));
    let is_set = Document::parse(new.as_str()).is_ok_and(|document| {
        dependencies(document.as_table(), package).into_iter().all(|item| {
            let has =
                |key: &str| item.get(key).and_then(Item::as_value).map(|value| value.to_string().trim().to_owned());
            let own = item.as_str().map(|_| version.clone());
            own.or_else(|| has("version")).as_ref() == Some(&version) && has("path") == path
        })
    });
    if is_set && old_rest.is_some() && old_rest == new_rest { Ok(new) } else { Err(unsafe_edit()) }
}

/// Adds a line after the last one of `[dependencies]`.
fn add_dependency(text: &str, document: &Document<&str>, line: &str) -> Option<String> {
    let (header, table) = document.as_table().get_key_value("dependencies")?;
    let table = table.as_table()?;
    let ends = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end);
    let end = line_end(text, ends.max().or_else(|| header.span().map(|span| span.end))?);
    let before = if text[..end].ends_with('\n') { "" } else { newline(text) };
    let new = insert(text, end, &format!("{before}{line}{}", newline(text)));
    let others: Vec<_> = settings(&new)?
        .into_iter()
        .filter(|setting| {
            !settings(line).is_some_and(|added| {
                added.iter().any(|(path, value)| setting.0.get(1..) == Some(&path[..]) && setting.1 == *value)
            })
        })
        .collect();
    (Some(others) == settings(text)).then_some(new)
}

/// The entries of a package in all tables of dependencies.
fn dependencies<'a>(root: &'a dyn TableLike, package: &str) -> Vec<&'a Item> {
    let platforms = root.get("target").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter);
    let platforms = platforms.filter_map(|(_, platform)| platform.as_table_like());
    let places: Vec<&dyn TableLike> = std::iter::once(root).chain(platforms).collect();
    let tables = places.into_iter().flat_map(|place| DEPENDENCIES.iter().filter_map(|key| place.get(key)));
    tables.filter_map(|table| table.get(package)).collect()
}

const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Everything except versions and paths of a package, in a comparable form.
fn without_source(text: &str, package: &str) -> Option<Vec<(Vec<String>, String)>> {
    let document = Document::parse(text).ok()?;
    let mut rest: Vec<(Vec<String>, String)> = settings(text)?;
    rest.retain(|(path, _)| !path.iter().any(|key| key == package));
    for item in dependencies(document.as_table(), package) {
        let others = item.as_table_like().into_iter().flat_map(TableLike::iter);
        let others = others.filter(|(key, _)| !["version", "path"].contains(key));
        rest.extend(
            others.map(|(key, value)| (vec![package.to_owned(), key.to_owned()], value.to_string().trim().to_owned())),
        );
    }
    Some(rest)
}

fn strings(table: &dyn TableLike, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Item::as_array);
    list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// A path in Cargo.toml without leading `./` and trailing `/`.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path).trim_end_matches('/')
}

fn starts_with(path: &str, folder: &str) -> bool {
    plain(path).strip_prefix(plain(folder)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Adds `feature` to the features of `dependency`, unless it is already listed.
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

/// The error of parsing a text that is not TOML.
pub fn unreadable(text: &str) -> Option<String> {
    Document::parse(text).err().map(|error| error.message().to_owned())
}

/// Merges the changes from `base` to `theirs` into `ours`, value by value; `None` if both changed the same value. Of
/// two versions of a dependency, the higher one wins. Lists, such as those of features, get new elements.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let parse = |text: &str| text.parse::<DocumentMut>().ok();
    let (base, mut ours, theirs) = (parse(base)?, parse(ours)?, parse(theirs)?);
    merge_tables(base.as_table(), ours.as_table_mut(), theirs.as_table())?;
    Some(ours.to_string())
}

fn merge_tables(base: &dyn TableLike, ours: &mut dyn TableLike, theirs: &dyn TableLike) -> Option<()> {
    let plain = |item: Option<&Item>| item.map(|item| item.to_string().trim().to_owned());
    let keys = base.iter().chain(theirs.iter()).map(|(key, _)| key.to_owned());
    for key in keys.collect::<std::collections::BTreeSet<_>>() {
        let (old, new) = (base.get(&key), theirs.get(&key));
        let own = plain(ours.get(&key));
        if plain(old) == plain(new) || own == plain(new) {
            continue;
        }
        if own == plain(old) {
            match new {
                Some(new) => _ = ours.insert(&key, new.clone()),
                None => _ = ours.remove(&key),
            }
            continue;
        }
        let (Some(old), Some(own), Some(new)) = (old, ours.get_mut(&key), new) else { return None };
        if let (Some(old), Some(new)) = (old.as_table_like(), new.as_table_like()) {
            merge_tables(old, own.as_table_like_mut()?, new)?;
        } else if let (Some(old), Some(new)) = (old.as_array(), new.as_array()) {
            let own = own.as_array_mut()?;
            let has = |list: &toml_edit::Array, value: &Value| {
                list.iter().any(|other| other.to_string().trim() == value.to_string().trim())
            };
            own.retain(|value| has(new, value) || !has(old, value));
            for value in new.iter().filter(|value| !has(old, value)) {
                if !has(own, value) {
                    own.push(value.clone());
                }
            }
        } else if version(own.as_str()?)? < version(new.as_str()?)? {
            *own = new.clone();
        }
    }
    Some(())
}

/// The version in a requirement.
fn version(requirement: &str) -> Option<Release> {
    Requirement::parse(requirement)?.release()
}

/// All values of a file with their keys, and the headers of its tables, in order.
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
    fn a_dependency_gets_its_source() {
        let set = |text: &str, path| set_source(text, "rt", "2.0.0", path, &["manager".to_owned()]);
        for (text, path, expected) in [
            ("[dependencies]\nrt = \"1\" # a\n", None, "[dependencies]\nrt = \"2.0.0\" # a\n"),
            ("[dependencies]\nrt = \"1\"\n", Some("x"), "[dependencies]\nrt = { version = \"2.0.0\", path = \"x\" }\n"),
            (
                "[dependencies]\nrt = { version = \"1\", features = [\"a\"] }\n\n[dev-dependencies]\nrt = { path = \"y\", version = \"1\" }\n",
                Some("../x"),
                "[dependencies]\nrt = { version = \"2.0.0\", path = \"../x\", features = [\"a\"] }\n\n[dev-dependencies]\nrt = { path = \"../x\", version = \"2.0.0\" }\n",
            ),
            (
                "[dependencies]\nrt = { path = \"y\", version = \"1\", features = [\"a\"] }\nb = \"1\"\n\n[dev-dependencies]\nrt = { version = \"1\", path = \"y\" }\n",
                None,
                "[dependencies]\nrt = { version = \"2.0.0\", features = [\"a\"] }\nb = \"1\"\n\n[dev-dependencies]\nrt = { version = \"2.0.0\" }\n",
            ),
            (
                "[dependencies.rt]\nversion = \"1\"\npath = \"y\" # b\nfeatures = []\n",
                None,
                "[dependencies.rt]\nversion = \"2.0.0\"\nfeatures = []\n",
            ),
            (
                "[target.'cfg(unix)'.dependencies.rt]\nversion = \"1\"\n",
                Some("x"),
                "[target.'cfg(unix)'.dependencies.rt]\nversion = \"2.0.0\"\npath = \"x\"\n",
            ),
            (
                "[dependencies]\na = \"1\" # b\n\n[features]\n",
                Some("x"),
                "[dependencies]\na = \"1\" # b\nrt = { version = \"2.0.0\", path = \"x\", features = [\"manager\"] }\n\n[features]\n",
            ),
        ] {
            let once = set(text, path).unwrap();
            assert_eq!(once, expected);
            assert_eq!(set(&once, path).unwrap(), once, "the second time it is true already");
        }
        let in_table = "[dependencies]\na = \"1\"\n[dependencies.b]\nversion = \"1\"\n";
        for text in ["[package]\n", in_table, "[dependencies]\nrt = { workspace = true }\n", "not TOML"] {
            assert!(set(text, Some("x")).is_err(), "{text}");
        }
    }

    #[test]
    fn both_sides_of_a_merge_are_kept() {
        let base = "[package]\nname = \"a\"\n\n[dependencies]\nkube = { version = \"4.0\", features = [\"derive\"] }\nserde = \"1\"\n";
        let ours = base.replace("\"4.0\", features = [\"derive\"", "\"4.2\", features = [\"derive\", \"ws\"");
        let theirs = base.replace("\"4.0\", features = [\"derive\"", "\"4.1\", features = [\"derive\", \"runtime\"");
        let merged = merge(base, &ours, &theirs.replace("serde = \"1\"\n", "tokio = \"1\"\n")).unwrap();
        assert!(merged.contains("version = \"4.2\", features = [\"derive\", \"ws\", \"runtime\"]"), "{merged}");
        assert!(merged.contains("tokio = \"1\"") && !merged.contains("serde"), "{merged}");
        let merged = merge(base, &base.replace("4.0", "4.2"), &base.replace("4.0", "5.0")).unwrap();
        assert!(merged.contains("\"5.0\""), "{merged}");
        assert_eq!(merge(base, &base.replace("\"a\"", "\"b\""), &base.replace("\"a\"", "\"c\"")), None);
    }

    #[test]
    fn a_folder_is_excluded_once() {
        for (text, expected) in [
            ("[workspace]\nmembers = [\"a\"]\n", "[workspace]\nmembers = [\"a\"]\nexclude = [\"runtime\"]\n"),
            ("[workspace]\nresolver = \"3\"\n", "[workspace]\nexclude = [\"runtime\"]\nresolver = \"3\"\n"),
            ("[workspace]\nexclude = [\"x\"]\n", "[workspace]\nexclude = [\"runtime\", \"x\"]\n"),
            ("[workspace]\nexclude = [\"./runtime\"]\n", "[workspace]\nexclude = [\"./runtime\"]\n"),
            ("[workspace]\nmembers = [\"runtime\"]\n", "[workspace]\nmembers = [\"runtime\"]\n"),
        ] {
            assert_eq!(add_excluded(text, "runtime").unwrap(), expected);
        }
        assert!(add_excluded("[package]\n", "runtime").is_err());
    }
}
