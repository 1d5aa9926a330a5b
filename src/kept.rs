//! Loads manifests from a file, a folder, a kustomization or a Helm chart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use anyhow::Context;

use crate::error::{SourceErrors, UserError};
use opctl_kustomize::FILE_NAMES;
use opctl_kustomize::yaml::{Dialect, Node, documents};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::Tree;
use opctl_tools::helm;

/// The treatment of templates in charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Templates<'a> {
    /// As text, without lines that contain only control structures, such as `{{- if .Values.crds.install }}`. If the
    /// rest is not YAML, helm renders it. So objects that are off by default are found, too.
    AsText,
    /// Rendered by helm, with the default values of the chart and those of files. Kustomizations are rendered as well.
    Rendered(&'a [PathBuf]),
}

/// The namespace for which helm renders charts.
pub const NAMESPACE: &str = "default";

/// Objects with their positions. For objects that helm rendered, these are positions in the rendered text.
#[derive(Default)]
pub struct Kept {
    pub objects: Vec<Node>,
    /// The folder that paths of files are relative to, if it is not the current one.
    root: PathBuf,
    /// The charts of rendered texts, by the names of these texts.
    charts: BTreeMap<String, PathBuf>,
}

/// The origin of a value.
pub enum Origin<'a> {
    File(PathBuf),
    /// Rendered from the chart in this folder.
    Chart(&'a Path),
}

impl Kept {
    pub fn origin(&self, span: &Span) -> Origin<'_> {
        match self.charts.get(&span.file.path) {
            Some(chart) => Origin::Chart(chart),
            None => Origin::File(self.root.join(&span.file.path)),
        }
    }
}

/// The objects of these kinds, including the items of lists. `group` is the API group of the kinds.
///
/// # Errors
///
/// If there is no such file or folder, if it cannot be read, if a file that mentions such a kind is not YAML, or if the
/// chart or kustomization cannot be rendered.
pub fn objects(path: &Path, group: &str, kinds: &[&str], templates: Templates) -> anyhow::Result<Kept> {
    let mut found = Kept::default();
    let (is_rendered, values) = match templates {
        Templates::AsText => (false, &[][..]),
        Templates::Rendered(values) => (true, values),
    };
    if is_rendered && FILE_NAMES.iter().any(|name| path.join(name).is_file()) {
        let (root, documents) = kustomized(path)?;
        add(documents, group, kinds, &mut found.objects);
        return Ok(Kept { root, ..found });
    }
    let mut charts: BTreeMap<Option<PathBuf>, Vec<(PathBuf, String)>> = BTreeMap::new();
    if is_rendered && is_chart(path) {
        // Roles may be in the archive of a dependency.
        charts.insert(Some(path.to_owned()), Vec::new());
    }
    for (file, text) in
        texts(path, &mut BTreeSet::new())?.into_iter().filter(|(_, text)| kinds.iter().any(|kind| text.contains(kind)))
    {
        // A chart is rendered together with its subcharts.
        let chart = file.ancestors().skip(1).filter(|folder| is_chart(folder)).last();
        charts.entry(chart.map(Path::to_owned)).or_default().push((file, text));
    }
    for (chart, files) in charts {
        let read: Result<Vec<Node>, Box<Diagnostic>> =
            files.iter().try_fold(Vec::new(), |read, (file, text)| Ok([read, without_helm(file, text)?].concat()));
        let documents = match (chart, read) {
            (None, Err(error)) => return Err(SourceErrors::from(vec![*error]).into()),
            (Some(chart), read) if read.is_err() || is_rendered => {
                let text = rendered(&chart, values)?;
                let documents = rendered_objects(&text)?;
                found.charts.insert(text.path.clone(), chart);
                documents
            }
            (_, read) => read.unwrap_or_default(),
        };
        add(documents, group, kinds, &mut found.objects);
    }
    Ok(found)
}

/// The CRDs in a file, in a folder with its subfolders, or in a chart. Patches of kustomizations, which are parts of
/// CRDs, are excluded.
///
/// # Errors
///
/// If there is no CRD. See also [`objects`].
pub fn crds(path: &Path) -> anyhow::Result<Vec<Node>> {
    let mut crds = objects(path, "apiextensions.k8s.io", &["CustomResourceDefinition"], Templates::AsText)?.objects;
    crds.retain(|crd| crd.text_at(&["spec", "group"]).is_some());
    if crds.is_empty() {
        let error = UserError::new(format!("no CRD found in `{}`", path.display()));
        return Err(error.help("specify a file or a folder with CRDs, or a Helm chart").into());
    }
    Ok(crds)
}

/// The objects in a text that helm rendered.
///
/// # Errors
///
/// If the text is not YAML.
pub fn rendered_objects(file: &Arc<SourceFile>) -> Result<Vec<Node>, SourceErrors> {
    documents(file, Dialect::Kubectl).map_err(|error| SourceErrors::from(vec![*error]))
}

fn is_chart(folder: &Path) -> bool {
    folder.join("Chart.yaml").is_file()
}

fn add(documents: Vec<Node>, group: &str, kinds: &[&str], found: &mut Vec<Node>) {
    for document in documents {
        let is_of_group = document
            .text_at(&["apiVersion"])
            .is_some_and(|version| version.split_once('/').is_some_and(|(own, _)| own == group));
        match document.text_at(&["kind"]) {
            Some(kind) if kinds.contains(&kind) && is_of_group => found.push(document),
            Some(kind) if kind.ends_with("List") => add(document.items_at(&["items"]).to_vec(), group, kinds, found),
            _ => {}
        }
    }
}

/// Renders a kustomization, and returns the folder that its paths are relative to. It may use everything below the
/// current folder, or else in its repository or in its parent folder.
fn kustomized(path: &Path) -> anyhow::Result<(PathBuf, Vec<Node>)> {
    let folder = path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))?;
    let repository = folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned);
    let current = std::env::current_dir().ok().filter(|current| folder.starts_with(current));
    let mut first = None;
    for root in [current, repository, folder.parent().map(Path::to_owned)].into_iter().flatten() {
        let below = folder.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy();
        let (render, mut errors) = opctl_kustomize::render(&root, &below);
        errors.retain(Diagnostic::is_error);
        if errors.is_empty() && render.is_closed {
            return Ok((root, render.objects.into_iter().map(|object| object.node).collect()));
        }
        first.get_or_insert(errors);
    }
    match first.filter(|errors| !errors.is_empty()) {
        Some(errors) => Err(SourceErrors::from(errors).into()),
        None => Err(UserError::new(format!("opctl cannot render all of the kustomization `{}`", path.display()))
            .help("it uses what is outside of the repository or needs kustomize itself: `kubectl kustomize DIR > FILE`, and give FILE")
            .into()),
    }
}

/// A file, or the YAML and JSON files below a folder, except for build output. A chart may link to files and folders
/// elsewhere in the repository; `visited` contains the folders that were read.
fn texts(path: &Path, visited: &mut BTreeSet<PathBuf>) -> Result<BTreeMap<PathBuf, String>, UserError> {
    let failed = |path: &Path, error: &io::Error| {
        UserError::new(format!("cannot read `{}`: {error}", path.display()))
            .help("specify a file or folder with manifests, or a Helm chart")
    };
    if !path.is_dir() {
        let text = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
        return Ok([(path.to_owned(), text)].into());
    }
    if !visited.insert(path.canonicalize().map_err(|error| failed(path, &error))?) {
        return Ok(BTreeMap::new());
    }
    let tree = Tree::at(path);
    let [files, links] =
        [tree.own_files(), tree.own_links()].map(|paths| paths.map_err(|error| failed(path, &error.source)));
    let (linked, links): (Vec<PathBuf>, Vec<PathBuf>) =
        links?.iter().map(|link| path.join(link)).partition(|link| link.is_dir());
    let mut texts = BTreeMap::new();
    for folder in linked {
        texts.append(&mut self::texts(&folder, visited)?);
    }
    let files = files?.iter().map(|file| path.join(file)).collect::<Vec<_>>();
    let is_manifest =
        |file: &PathBuf| file.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|it| end == *it));
    for file in files.into_iter().chain(links).filter(is_manifest) {
        let text = fs::read_to_string(&file).map_err(|error| failed(&file, &error))?;
        texts.insert(file, text);
    }
    Ok(texts)
}

/// The documents of a template without helm. Lines that print text are kept, so that their output is never ignored
/// silently.
fn without_helm(path: &Path, text: &str) -> Result<Vec<Node>, Box<Diagnostic>> {
    let mut is_in_spec = false;
    let lines = text.split_inclusive('\n').map(|line| {
        is_in_spec = !line.starts_with("---") && (is_in_spec || line.starts_with("spec:"));
        if is_action(line.trim(), is_in_spec) { "\n" } else { line }
    });
    documents(&SourceFile::new(path.display().to_string(), lines.collect::<String>()), Dialect::Kubectl)
}

/// `true` for a line that contains only an action. In the spec of an object, only control structures are removed.
fn is_action(line: &str, is_in_spec: bool) -> bool {
    const CONTROLS: [&str; 8] = ["if ", "else", "end", "with ", "range ", "define ", "/*", "$"];
    let Some(action) = line.strip_prefix("{{").and_then(|line| line.strip_suffix("}}")) else { return false };
    let action = action.trim_start_matches('-').trim_start();
    !action.contains("}}") && (!is_in_spec || CONTROLS.iter().any(|control| action.starts_with(control)))
}

fn rendered(chart: &Path, values: &[PathBuf]) -> anyhow::Result<Arc<SourceFile>> {
    let chart = if chart.as_os_str().is_empty() { Path::new(".") } else { chart };
    let text = helm::template_with_files(chart, NAMESPACE, values)
        .map_err(|error| UserError::new(format!("{}: {}", chart.display(), error.message)).help(error.help))?;
    Ok(SourceFile::new(format!("{} (rendered)", chart.display()), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read_without_control_structures() {
        let template = "{{- if .Values.install }}\nkind: Role\nmetadata:\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\n{{- end }}\n";
        let read = without_helm(Path::new("templates/role.yaml"), template).unwrap();
        assert_eq!(read[0].get("kind").unwrap().span.line_column().0, 2);
        for produces_text in ["kind: {{ .Values.kind }}", "spec:\n  {{- include \"scope\" . | nindent 2 }}\n"] {
            assert!(without_helm(Path::new("role.yaml"), produces_text).is_err(), "{produces_text}");
        }
    }

    #[test]
    fn links_are_followed_once_and_builds_are_no_manifests() {
        let root = tempfile::tempdir().unwrap();
        let [chart, crds] = ["chart", "crds"].map(|name| root.path().join(name));
        for folder in [&chart, &crds, &chart.join("target")] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(crds.join("one.yaml"), "1").unwrap();
        fs::write(chart.join("target/built.yaml"), "2").unwrap();
        std::os::unix::fs::symlink("../crds", chart.join("crds")).unwrap();
        std::os::unix::fs::symlink("../chart", crds.join("back")).unwrap();
        std::os::unix::fs::symlink("../crds/one.yaml", chart.join("linked.yaml")).unwrap();
        let texts = texts(&chart, &mut BTreeSet::new()).unwrap();
        assert_eq!(texts.into_keys().collect::<Vec<_>>(), [chart.join("crds/one.yaml"), chart.join("linked.yaml")]);
    }
}
