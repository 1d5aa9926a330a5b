//! Updates the CRDs in the files of `manifests.crds` in PROJECT, which belong to the user: one or several in a file,
//! with comments, in charts and their templates. opctl replaces a CRD that differs from the source, and does not change
//! the rest of these files.
//!
//! `config/crd/bases` is generated as a whole, and not changed by this module.

mod naming;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::diagnostics::OP615;
use crate::drift;
use crate::error::{SourceErrors, UserError};
use naming::Naming;
use opctl_edit::Edit;
use opctl_edit::documents::{self, Action, ActionKind, Document, Format, NotReadable};
use opctl_edit::plan::{Change, Plan};
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{CrdPath, ReadError, Tree, join, repository_above};
use opctl_source::emit::CustomResourceDefinition;

const KIND: &str = "CustomResourceDefinition";

/// A file that mentions CRDs.
struct File {
    path: String,
    format: Format,
    text: String,
    /// By a symbolic link, this is the same file as one at an earlier path. It is changed there.
    is_elsewhere: bool,
    /// The documents that are CRDs or lists, with the positions of their values.
    documents: Vec<(Document, Node)>,
}

/// The files at a path of `manifests.crds`.
struct CrdFiles<'a> {
    path: &'a CrdPath,
    files: Vec<File>,
    /// Errors for unreadable files, which may contain any CRD.
    unreadable: Vec<Diagnostic>,
}

/// A CRD, and its file.
pub struct Kept {
    pub path: String,
    pub crd: Value,
    /// Parts that depend on the values of a chart are missing or replaced.
    pub is_incomplete: bool,
}

/// Plans the updates of the CRDs at these paths. Returns problems that the user has to fix: errors for CRDs that opctl
/// cannot update, and warnings for CRDs that the source does not declare. `may_be_refused` returns `true` for kinds
/// whose CRD could not be derived; theirs are kept.
///
/// # Errors
///
/// If a path is outside of the repository, or a file cannot be read.
pub fn update(
    plan: &mut Plan,
    tree: &Tree,
    paths: &[CrdPath],
    crds: &[CustomResourceDefinition],
    may_be_refused: impl Fn(&str, &str) -> bool,
) -> anyhow::Result<Vec<Diagnostic>> {
    refuse_outside(tree, paths)?;
    let mut diagnostics = Vec::new();
    for place in read(tree, paths)? {
        for crd in crds {
            diagnostics.extend(place.update(plan, tree, crd));
        }
        diagnostics.extend(place.unreadable.iter().cloned());
        let own = place.files.iter().filter(|file| !file.is_elsewhere);
        let nodes = own.flat_map(|file| &file.documents).map(|(_, node)| node);
        let undeclared = nodes.flat_map(items).filter_map(|node| drift::undeclared(crds, node, &may_be_refused));
        diagnostics.extend(undeclared);
    }
    Ok(diagnostics)
}

/// The CRDs at these paths, in this order, including those in `config/crd/bases`.
///
/// # Errors
///
/// If a file cannot be read, or is not YAML.
pub fn crds(tree: &Tree, paths: &[CrdPath]) -> anyhow::Result<Vec<Kept>> {
    match readable_crds(tree, paths)? {
        (kept, errors) if errors.is_empty() => Ok(kept),
        (_, errors) => Err(SourceErrors::from(errors).into()),
    }
}

/// Like [`crds`], but returns an error for each file that is not YAML.
///
/// # Errors
///
/// If a file cannot be read.
pub fn readable_crds(tree: &Tree, paths: &[CrdPath]) -> Result<(Vec<Kept>, Vec<Diagnostic>), ReadError> {
    let (mut kept, mut errors) = (Vec::new(), Vec::new());
    let bases = CrdPath::default_list();
    let (generated, others) = (paths.iter().any(CrdPath::is_bases), read(tree, paths)?);
    let generated = if generated { vec![CrdFiles::read(tree, &bases[0], &mut BTreeSet::new())?] } else { Vec::new() };
    let places: Vec<CrdFiles> = generated.into_iter().chain(others).collect();
    errors.extend(places.iter().flat_map(|place| &place.unreadable).cloned());
    for file in places.into_iter().flat_map(|place| place.files) {
        for (document, node) in &file.documents {
            let is_incomplete = !document.actions.is_empty();
            let path = &file.path;
            kept.extend(items(node).into_iter().map(|crd| Kept { path: path.clone(), crd: crd.json(), is_incomplete }));
        }
    }
    Ok((kept, errors))
}

/// The CRDs at these paths that can be applied, each name once.
///
/// # Errors
///
/// If a file cannot be read, or a CRD can only be rendered by helm.
pub fn applicable(tree: &Tree, paths: &[CrdPath]) -> anyhow::Result<Vec<Kept>> {
    let mut found: Vec<Kept> = Vec::new();
    for kept in crds(tree, paths)? {
        let name = &kept.crd["metadata"]["name"];
        match found.iter_mut().find(|other| other.crd["metadata"]["name"] == *name) {
            Some(other) if other.is_incomplete => *other = kept,
            Some(_) => {}
            None => found.push(kept),
        }
    }
    if let Some(kept) = found.iter().find(|kept| kept.is_incomplete) {
        let name = kept.crd["metadata"]["name"].as_str().unwrap_or_default();
        return Err(UserError::new(format!("the CRD `{name}` in `{}` depends on values of the chart", kept.path))
            .help("install the CRDs with the chart: `helm install`")
            .into());
    }
    Ok(found)
}

/// The CRDs in a text with one of these paths, now or in an earlier commit. `tree` shows which folders are charts.
///
/// # Errors
///
/// If the text cannot be read. The message is the reason.
pub fn crds_in(tree: &Tree, path: &str, text: String) -> Result<Vec<Value>, String> {
    if !text.contains(KIND) {
        return Ok(Vec::new());
    }
    let file = File::parse(tree, path, text).map_err(|diagnostic| diagnostic.message)?;
    Ok(file.documents.iter().flat_map(|(_, node)| items(node)).map(Node::json).collect())
}

/// `true` if the file is at one of the paths and is not generated.
pub fn has(paths: &[CrdPath], file: &str) -> bool {
    let is_at =
        |path: &&CrdPath| file.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut at = paths.iter().filter(is_at).peekable();
    at.peek().is_some() && !at.any(CrdPath::is_bases)
}

/// Refuses paths outside of the repository. Folders of other workspace members and of the repository are allowed.
fn refuse_outside(tree: &Tree, paths: &[CrdPath]) -> Result<(), UserError> {
    let Some(path) = paths.iter().max_by_key(|path| path.levels_up()) else { return Ok(()) };
    let root = std::path::absolute(tree.root()).unwrap_or_else(|_| tree.root().to_owned());
    let repository = repository_above(&root);
    let levels = root.strip_prefix(&repository).map_or(0, |below| below.components().count());
    if path.levels_up() <= levels {
        return Ok(());
    }
    Err(UserError::new(format!("`crds` in PROJECT: `{path}` is outside of `{}`", repository.display()))
        .help("opctl changes files in the git repository, or the cargo workspace, of the project only"))
}

fn read<'a>(tree: &Tree, paths: &'a [CrdPath]) -> Result<Vec<CrdFiles<'a>>, ReadError> {
    // A chart may link to the files of another folder, so each file is read once.
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    let bases = paths.iter().find(|path| path.is_bases());
    let generated = bases.and_then(|path| tree.real_path(path.as_str()));
    for path in bases.map(|path| tree.files_below(path.as_str())).transpose()?.unwrap_or_default() {
        known.extend(tree.real_path(&path));
    }
    let others = paths.iter().filter(|path| !path.is_bases());
    let others = others.filter(|path| generated.is_none() || tree.real_path(path.as_str()) != generated);
    others.map(|path| CrdFiles::read(tree, path, &mut known)).collect()
}

/// The CRD, or the CRDs in a list.
fn items(node: &Node) -> Vec<&Node> {
    match node.text_at(&["kind"]) {
        Some(KIND) => vec![node],
        Some(kind) if kind.ends_with("List") => node.items_at(&["items"]).iter().flat_map(items).collect(),
        _ => Vec::new(),
    }
}

fn name(node: &Node) -> Option<&str> {
    node.text_at(&["metadata", "name"])
}

impl<'a> CrdFiles<'a> {
    fn read(tree: &Tree, path: &'a CrdPath, known: &mut BTreeSet<PathBuf>) -> Result<Self, ReadError> {
        let paths = match path.is_file() {
            true => vec![path.to_string()],
            false => tree.files_below(path.as_str())?,
        };
        let mut place = Self { path, files: Vec::new(), unreadable: Vec::new() };
        let is_manifest = |path: &String| [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending));
        for path in paths.into_iter().filter(is_manifest) {
            let is_elsewhere = tree.real_path(&path).is_some_and(|path| !known.insert(path));
            let text = tree.read(&path)?.filter(|text| text.contains(KIND));
            match text.map(|text| File::parse(tree, &path, text)) {
                Some(Ok(file)) => place.files.push(File { is_elsewhere, ..file }),
                Some(Err(diagnostic)) => place.unreadable.push(*diagnostic),
                None => {}
            }
        }
        Ok(place)
    }

    /// Plans the update of one CRD.
    fn update(&self, plan: &mut Plan, tree: &Tree, crd: &CustomResourceDefinition) -> Vec<Diagnostic> {
        let source = serde_json::to_value(crd).expect("a CRD is JSON");
        let mut diagnostics = Vec::new();
        let mut is_here = false;
        for file in &self.files {
            for (document, node) in &file.documents {
                let is_same = |node: &&Node| name(node) == crd.metadata.name.as_deref();
                let Some(found) = items(node).into_iter().find(is_same) else { continue };
                is_here = true;
                if file.is_elsewhere {
                    continue;
                }
                match file.updated(document, found, &source, found.span != node.span) {
                    Ok(Some(document)) => plan.edit(&file.path, edit(document, file.format)),
                    Ok(None) => {}
                    Err(diagnostic) => diagnostics.push(diagnostic),
                }
            }
        }
        if is_here || !self.unreadable.is_empty() {
            return diagnostics;
        }
        let (path, base) = match self.path.is_file() {
            true => (self.path.to_string(), String::new()),
            false => {
                let naming = Naming::of(self.path.as_str(), self.files.iter().filter_map(File::only).collect());
                let is_free = |path: &str| !tree.has(path) && !plan.changes.contains_key(path);
                (naming.path(crd, is_free), self.wrapper())
            }
        };
        if plan.changes.get(&path).is_some_and(|change| !matches!(change, Change::Edit { .. } | Change::Rewrite { .. }))
        {
            let error = OP615
                .error(format!("`{}`: opctl generates `{path}`, which `crds` in PROJECT lists", crd.spec.names.kind));
            return vec![error.help("give a file of your own")];
        }
        let format = format_of(tree, &path);
        let base = if format == Format::Template { base } else { String::new() };
        plan.edit_or_create(path, base, edit(source, format));
        diagnostics
    }

    /// The control structures that all templates of the folder have around their CRD, for a new one.
    fn wrapper(&self) -> String {
        let around = |file: &File| {
            let [(document, _)] = &file.documents[..] else { return None };
            let texts = [&file.text[..document.range.start], &file.text[document.range.end..]];
            Some(texts.into_iter().flat_map(documents::control_lines).collect::<Vec<String>>())
        };
        let templates = self.files.iter().filter(|file| file.format == Format::Template);
        let mut wrappers: Vec<Vec<String>> = templates.filter_map(around).collect();
        wrappers.dedup();
        match &wrappers[..] {
            [lines] => lines.iter().map(|line| format!("{line}\n")).collect(),
            _ => String::new(),
        }
    }
}

fn edit(document: Value, format: Format) -> Edit {
    Edit::YamlDocument { document, identity: ["/kind", "/metadata/name"].map(String::from).into(), format }
}

/// The format of a file, from its name and, for templates, the chart that contains it.
fn format_of(tree: &Tree, path: &str) -> Format {
    if path.ends_with(".json") {
        return Format::Json;
    }
    let is_in_chart = |(at, _): (usize, &str)| tree.has(&join(path[..at].trim_end_matches('/'), "Chart.yaml"));
    let with_root = format!("/{path}");
    let is_template = with_root.match_indices("/templates/").any(|(at, found)| is_in_chart((at, found)));
    if is_template { Format::Template } else { Format::Yaml }
}

impl File {
    fn parse(tree: &Tree, path: &str, text: String) -> Result<Self, Box<Diagnostic>> {
        let format = format_of(tree, path);
        let unmarked = text.trim_start_matches('\u{feff}').to_owned();
        let documents = documents::documents(&unmarked, format).map_err(|NotReadable { at, reason }| {
            let place = span(path, &unmarked, at.min(unmarked.len()));
            let error = OP615.error(format!("cannot read the CRDs in `{path}`: {reason}")).at(place, "");
            Box::new(error.help("fix the file, or remove it from `crds` in PROJECT"))
        })?;
        // The YAML that Kubernetes reads, with the same line numbers as the file.
        let known = SourceFile::new(path, documents::known_text(&unmarked, format));
        let nodes = match format {
            Format::Json => documents
                .iter()
                .map(|document| {
                    // Each JSON value is also YAML, and preceding line breaks keep its line number.
                    let before = unmarked[..document.range.start].matches('\n').count();
                    let text = "\n".repeat(before) + &unmarked[document.range.clone()];
                    yaml::documents(&SourceFile::new(path, text), Dialect::Kubectl)
                })
                .collect::<Result<Vec<_>, _>>()?
                .concat(),
            Format::Yaml | Format::Template => yaml::documents(&known, Dialect::Kubectl)?,
        };
        let documents = documents.into_iter().zip(nodes).filter(|(_, node)| !items(node).is_empty()).collect();
        Ok(Self { path: path.into(), format, text: unmarked, is_elsewhere: false, documents })
    }

    /// The CRD of a file that has only one.
    fn only(&self) -> Option<(&str, &Node)> {
        match &self.documents[..] {
            [(_, node)] if node.text_at(&["kind"]) == Some(KIND) => Some((&self.path, node)),
            _ => None,
        }
    }

    /// The new text of a document with a CRD: the current text if it is up to date, or `None` for an item of a list.
    fn updated(
        &self,
        document: &Document,
        node: &Node,
        source: &Value,
        is_item: bool,
    ) -> Result<Option<Value>, Diagnostic> {
        let old = node.json();
        let new = merged(source, &old);
        let kind = source["spec"]["names"]["kind"].as_str().unwrap_or_default();
        let spec = node.entries().iter().find(|entry| entry.key == "spec").map(|entry| &entry.key_span);
        let in_spec = |at: usize| {
            let line = self.text[..at].matches('\n').count() + 1;
            spec.is_some_and(|spec| line > spec.line_column().0)
        };
        let error =
            |at: usize, what: &str| OP615.error(format!("`{kind}`: {what}")).at(span(&self.path, &self.text, at), "");
        let unknown = |action: &&Action| action.kind == ActionKind::Lines && in_spec(action.range.start);
        if let Some(action) = document.actions.iter().find(unknown) {
            return Err(error(
                action.range.start,
                "a template prints a part of the CRD, so opctl cannot compare it with the source",
            )
            .help("write this part out, or remove the file from `crds` in PROJECT")
            .help("`opctl manifests --compare CHART` compares what helm renders"));
        }
        if is_same(&new, &old) {
            return Ok((!is_item).then(|| document.value.clone()));
        }
        if is_item {
            let at = document.range.start;
            return Err(error(at, "the CRD differs from the source, and opctl does not change the items of a list")
                .help("make it a separate document, with `---`"));
        }
        if let Some(action) = document.actions.first() {
            let what = "the CRD differs from the source, and opctl does not replace it, because it depends on values of the chart";
            return Err(error(action.range.start, what)
                .help(format!(
                    "`opctl manifests --compare {}` lists the differences; make these changes by hand",
                    self.path
                ))
                .help("or remove the actions from the CRD, so that opctl can replace it"));
        }
        Ok(Some(new))
    }
}

fn span(path: &str, text: &str, at: usize) -> Span {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    Span { file: SourceFile::new(path, text), range: at..end }
}

/// The CRD of the source, with fields that only the old one sets: labels, annotations, and the conversion, or else its
/// client configuration.
fn merged(source: &Value, old: &Value) -> Value {
    let mut new = old.clone();
    for key in ["apiVersion", "kind", "spec"] {
        new[key] = source[key].clone();
    }
    let empty = Map::new();
    let client = "/spec/conversion/webhook/clientConfig";
    let keeps_client = match (source["spec"].get("conversion"), old["spec"].get("conversion")) {
        (None, Some(conversion)) => {
            new["spec"]["conversion"] = conversion.clone();
            false
        }
        _ => match (new.pointer_mut(client), old.pointer(client)) {
            // It names the service in the namespace of the installed operator, as does the annotation for its
            // certificate.
            (Some(new), Some(old)) => {
                *new = old.clone();
                true
            }
            _ => false,
        },
    };
    for (key, value) in source["metadata"].as_object().unwrap_or(&empty) {
        match (value, &mut new["metadata"][key]) {
            (Value::Object(own), Value::Object(kept)) => {
                for (key, value) in own {
                    match kept.contains_key(key) && keeps_client {
                        true => {}
                        false => _ = kept.insert(key.clone(), value.clone()),
                    }
                }
            }
            (value, place) => *place = value.clone(),
        }
    }
    new
}

fn is_same(new: &Value, old: &Value) -> bool {
    ["apiVersion", "kind", "metadata"].iter().all(|key| new[key] == old[key])
        && drift::is_same(&new["spec"], &old["spec"])
}

#[cfg(test)]
mod tests;
