//! File-based catalogs of OLM: documents in a folder → packages, channels, upgrade edges, and errors.
//!
//! The format and the rules are those of `opm`: `alpha/declcfg` and `alpha/model` of operator-registry.

pub mod add;
pub mod graph;
pub mod list;
pub mod render;
mod schemas;
pub mod template;
pub mod validate;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::bundle::{Folder, image_type};
use crate::diagnostics::OP530;
use opctl_kustomize::yaml::{self as positions, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::ReadError;

/// The documents of a catalog, ordered by file.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub documents: Vec<Document>,
}

#[derive(Clone, Debug)]
pub struct Document {
    pub node: Node,
    /// The file, relative to the root of the catalog.
    pub path: String,
}

impl Document {
    pub fn schema(&self) -> &str {
        self.text("schema")
    }

    /// The package of the document. An `olm.package` belongs to itself.
    pub fn package(&self) -> &str {
        if self.schema() == "olm.package" { self.name() } else { self.text("package") }
    }

    pub fn name(&self) -> &str {
        self.text("name")
    }

    pub fn text(&self, key: &str) -> &str {
        self.node.text_at(&[key]).unwrap_or_default()
    }

    pub fn file(&self) -> &Arc<SourceFile> {
        &self.node.span.file
    }
}

impl Catalog {
    /// Reads all files of a folder, except those in `.indexignore`.
    pub fn read(folder: Folder) -> Result<Self, Vec<Diagnostic>> {
        let (mut documents, mut problems) = (Vec::new(), Vec::new());
        let unreadable = |error: ReadError| vec![Diagnostic::from(error)];
        let ignored = folder.tree.read(".indexignore").map_err(unreadable)?.unwrap_or_default();
        for path in
            folder.tree.files_below("").map_err(unreadable)?.into_iter().filter(|path| !is_ignored(path, &ignored))
        {
            let text = match folder.tree.read(&path) {
                Ok(text) => text.unwrap_or_default(),
                Err(error) => {
                    let error = ReadError { path: folder.path(&path), ..error };
                    problems.push(Diagnostic::from(error).help("or list it in `.indexignore`"));
                    continue;
                }
            };
            let file = SourceFile::new(folder.path(&path), text);
            match Self::parse(&file, &path) {
                Ok(read) => documents.extend(read),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(Self { documents }) } else { Err(problems) }
    }

    /// The documents of one file.
    pub fn parse(file: &Arc<SourceFile>, path: &str) -> Result<Vec<Document>, Diagnostic> {
        let nodes =
            positions::documents(file, Dialect::Kubectl).map_err(|problem| Diagnostic { code: OP530, ..*problem })?;
        nodes
            .into_iter()
            .map(|mut node| {
                schemas::fold_document(&mut node);
                match node.text_at(&["schema"]) {
                    Some(schema) if !schema.is_empty() => Ok(Document { node, path: path.to_owned() }),
                    _ => {
                        let message = "a document of a catalog has a `schema`, such as `olm.package`";
                        Err(OP530.error(message).at(head(&node), ""))
                    }
                }
            })
            .collect()
    }

    pub fn of_schema<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = &'a Document> {
        self.documents.iter().filter(move |document| document.schema() == schema)
    }

    pub fn channels<'a>(&'a self, package: &'a str) -> impl Iterator<Item = &'a Document> {
        self.of_schema("olm.channel").filter(move |channel| channel.package() == package)
    }
}

/// The icon of a package; `None` if the data is not an image that consoles show.
pub fn icon(data: &[u8]) -> Option<serde_json::Value> {
    let media_type = image_type(data)?;
    Some(serde_json::json!({"base64data": STANDARD.encode(data), "mediatype": media_type}))
}

/// Renders documents as a file of a catalog.
pub fn yaml(documents: &[serde_json::Value]) -> String {
    opctl_model::yaml::documents("", documents).trim_start().to_owned()
}

/// Patterns as in `.gitignore`, without negation: names, folders, paths and `*`.
fn is_ignored(path: &str, patterns: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lines = patterns.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    name == ".indexignore"
        || lines.into_iter().any(|pattern| {
            let pattern = pattern.trim_end_matches('/');
            match pattern.trim_start_matches('/') {
                rooted if pattern.contains('/') => matches(rooted, path) || matches(&format!("{rooted}/*"), path),
                pattern => path.split('/').any(|part| matches(pattern, part)),
            }
        })
}

/// `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| matches(rest, &text[at..]))
        }),
    }
}

/// The position of a mapping: its first key, since the whole mapping would fill the screen.
pub fn head(node: &Node) -> Span {
    node.entries().first().map_or_else(|| node.span.clone(), |entry| entry.key_span.clone())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub replaces: String,
    pub skips: Vec<String>,
    pub skip_range: String,
}

/// The entries of an `olm.channel`.
pub fn entries(channel: &Document) -> Vec<Entry> {
    let text = |node: &Node, key: &str| node.text_at(&[key]).unwrap_or_default().to_owned();
    let entry = |node: &Node| Entry {
        name: text(node, "name"),
        replaces: text(node, "replaces"),
        skips: node.items_at(&["skips"]).iter().map(|skip| skip.as_text().unwrap_or_default().to_owned()).collect(),
        skip_range: text(node, "skipRange"),
    };
    channel.node.items_at(&["entries"]).iter().map(entry).collect()
}
