//! A bundle and a catalog → the files to create or change so that the catalog offers the bundle. Text in, text out.

use serde_json::Value;

use super::template::{Channel, document};
use super::{Catalog, Document, Entry, entries, graph};
use opctl_kustomize::yaml::{self, Dialect};
use opctl_model::diagnostic::SourceFile;
use opctl_model::project::join;

/// A changed file. Paths are relative to the root of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    Create {
        path: String,
        documents: Vec<Value>,
    },
    /// Adds an entry to a channel.
    Edit {
        path: String,
        before: String,
        after: String,
    },
}

/// A bundle to add, and its place in the upgrade graph.
#[derive(Clone, Debug, Default)]
pub struct Addition {
    /// The `olm.bundle`.
    pub bundle: Value,
    pub channels: Vec<String>,
    /// For a new package. Default: the first channel.
    pub default_channel: Option<String>,
    /// Default: the head of each channel.
    pub replaces: Option<String>,
    pub skips: Vec<String>,
    pub skip_range: Option<String>,
}

/// The changes. An error consists of the message and the help.
pub fn add(catalog: &Catalog, addition: &Addition) -> Result<Vec<FileChange>, [String; 2]> {
    let text = |key: &str| addition.bundle[key].as_str().unwrap_or_default();
    let (package, name) = (text("package"), text("name"));
    let mut changes = Vec::new();
    let known = catalog.of_schema("olm.package").find(|it| it.name() == package);
    let folder = match known {
        Some(document) => document.path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned()),
        None => package.to_owned(),
    };
    if known.is_none() {
        let default = addition.default_channel.as_ref().or(addition.channels.first());
        let document = serde_json::json!({"schema": "olm.package", "name": package, "defaultChannel": default});
        changes.push(FileChange::Create { path: join(&folder, "package.yaml"), documents: vec![document] });
    }
    if let Some(bundle) = catalog.of_schema("olm.bundle").find(|it| it.package() == package && it.name() == name) {
        if bundle.node.json() != addition.bundle {
            return Err([
                format!("the catalog has another bundle `{name}`, in `{}`", bundle.path),
                "released bundles do not change: raise the version, or remove the old bundle".into(),
            ]);
        }
    } else if let Some(other) = catalog.of_schema("olm.bundle").find(|it| it.text("image") == text("image")) {
        return Err([
            format!("the bundle `{}` of the catalog has the same image, `{}`", other.name(), text("image")),
            "build an image for each version, or name its digest: otherwise, the old entry installs the new content"
                .into(),
        ]);
    } else {
        let path = join(&folder, &format!("bundles/{name}.yaml"));
        changes.push(FileChange::Create { path, documents: vec![addition.bundle.clone()] });
    }
    for channel in &addition.channels {
        let known = catalog.channels(package).find(|it| it.name() == channel);
        let of_channel = known.map(entries).unwrap_or_default();
        if of_channel.iter().any(|entry| entry.name == name) {
            continue;
        }
        let head = graph::head(&of_channel).ok().map(|head| head.name.clone());
        let entry = Entry {
            name: name.to_owned(),
            replaces: addition.replaces.clone().or(head).unwrap_or_default(),
            skips: addition.skips.clone(),
            skip_range: addition.skip_range.clone().unwrap_or_default(),
        };
        changes.push(match known {
            Some(document) => edit(document, &entry)?,
            None => {
                let channel = Channel { name: channel.clone(), entries: vec![entry] };
                let path = join(&folder, &format!("channels/{}.yaml", channel.name));
                FileChange::Create { path, documents: vec![document(package, &channel)] }
            }
        });
    }
    Ok(changes)
}

/// Appends an entry to a list in block style. The new text is parsed again, to verify that it has the entry and is
/// otherwise unchanged.
fn edit(channel: &Document, entry: &Entry) -> Result<FileChange, [String; 2]> {
    let text = &channel.file().text;
    let json = document("", &Channel { name: String::new(), entries: vec![entry.clone()] })["entries"][0].clone();
    let refuse = || {
        [
            format!("cannot add an entry to the channel `{}` in `{}`", channel.name(), channel.path),
            format!("add it by hand, and run the command again: {json}"),
        ]
    };
    let items = channel.node.items_at(&["entries"]);
    let first = items.first().ok_or_else(refuse)?;
    let start = text[..first.span.range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &text[start..first.span.range.start];
    let dash = indent
        .strip_suffix(|c: char| c == ' ')
        .map(str::trim_end)
        .filter(|rest| rest.trim_start() == "-")
        .ok_or_else(refuse)?;
    let width = dash.len() - 1;
    // The list continues as long as lines are indented deeper, or have a dash in the same column.
    let mut end = start;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let depth = line.len() - content.len();
        let goes_on = depth > width || depth == width && content.starts_with("- ");
        if !content.trim().is_empty() && !content.starts_with('#') && !goes_on {
            break;
        }
        if goes_on && !content.trim().is_empty() {
            end = at + line.len();
        }
        at += line.len();
    }
    let blanks = " ".repeat(width);
    let mut lines = format!("{blanks}- name: {}\n", quoted(&entry.name));
    if !entry.replaces.is_empty() {
        lines.push_str(&format!("{blanks}  replaces: {}\n", quoted(&entry.replaces)));
    }
    if !entry.skips.is_empty() {
        lines.push_str(&format!("{blanks}  skips:\n"));
        entry.skips.iter().for_each(|skip| lines.push_str(&format!("{blanks}  - {}\n", quoted(skip))));
    }
    if !entry.skip_range.is_empty() {
        lines.push_str(&format!("{blanks}  skipRange: {}\n", quoted(&entry.skip_range)));
    }
    let newline = if text[..end].ends_with('\n') { "" } else { "\n" };
    let after = format!("{}{newline}{lines}{}", &text[..end], &text[end..]);
    let parse = |text: &str| -> Option<Vec<Value>> {
        let nodes = yaml::documents(&SourceFile::new("", text), Dialect::Kubectl).ok()?;
        Some(nodes.iter().map(yaml::Node::json).collect())
    };
    let (mut expected, found) = (parse(text).ok_or_else(refuse)?, parse(&after).ok_or_else(refuse)?);
    let is_it = |document: &&mut Value| {
        document["schema"] == "olm.channel"
            && document["package"] == channel.package()
            && document["name"] == channel.name()
    };
    let target =
        expected.iter_mut().find(is_it).and_then(|document| document["entries"].as_array_mut()).ok_or_else(refuse)?;
    target.push(json.clone());
    if expected != found {
        return Err(refuse());
    }
    Ok(FileChange::Edit { path: channel.path.clone(), before: text.clone(), after })
}

/// Quotes a string as in JSON, which is valid YAML.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    match text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_plain) && text.contains('-') {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}
