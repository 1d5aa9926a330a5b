//! Manifests that a repository keeps: in a file, in a folder, or in a Helm chart.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;

use crate::compiled::helm;
use crate::error::{SourceErrors, UserError};
use opctl_kustomize::yaml::{Dialect, Node, documents};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::Tree;

/// How the templates of charts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Templates {
    /// As text, without the lines that have nothing but actions, such as `{{- if .Values.crds.install }}`; by helm if that is no YAML. So a
    /// value that leaves out an object makes no difference.
    AsText,
    /// By helm, with the default values of the chart; a folder with a kustomization is rendered, too.
    Rendered,
}

/// The namespace for which helm renders charts.
pub const NAMESPACE: &str = "default";

/// The objects of these kinds, with their positions; of what is rendered, those in the rendered text. The items of lists are objects, too.
///
/// # Errors
///
/// If there is no such file or folder, it cannot be read, a file with such an object is not YAML, or the chart or kustomization cannot be
/// rendered.
pub fn objects(path: &Path, kinds: &[&str], templates: Templates) -> anyhow::Result<Vec<Node>> {
    let mut found = Vec::new();
    if templates == Templates::Rendered && KUSTOMIZATIONS.iter().any(|name| path.join(name).is_file()) {
        add(kustomized(path)?, kinds, &mut found);
        return Ok(found);
    }
    let mut charts: BTreeMap<Option<PathBuf>, Vec<(PathBuf, String)>> = BTreeMap::new();
    for (file, text) in texts(path)?.into_iter().filter(|(_, text)| kinds.iter().any(|kind| text.contains(kind))) {
        let chart = file.ancestors().skip(1).find(|folder| folder.join("Chart.yaml").is_file());
        charts.entry(chart.map(Path::to_owned)).or_default().push((file, text));
    }
    for (chart, files) in charts {
        let read: Result<Vec<Node>, Box<Diagnostic>> =
            files.iter().try_fold(Vec::new(), |read, (file, text)| Ok([read, without_helm(file, text)?].concat()));
        let documents = match (chart, read) {
            (Some(chart), Err(_)) => rendered(&chart)?,
            (Some(chart), _) if templates == Templates::Rendered => rendered(&chart)?,
            (_, Ok(read)) => read,
            (None, Err(error)) => return Err(SourceErrors::from(vec![*error]).into()),
        };
        add(documents, kinds, &mut found);
    }
    Ok(found)
}

fn add(documents: Vec<Node>, kinds: &[&str], found: &mut Vec<Node>) {
    for document in documents {
        match document.text_at(&["kind"]) {
            Some(kind) if kinds.contains(&kind) => found.push(document),
            Some(kind) if kind.ends_with("List") => add(document.items_at(&["items"]).to_vec(), kinds, found),
            _ => {}
        }
    }
}

const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What a kustomization renders. It may use everything below the current folder, in its repository, or in the folder above.
fn kustomized(path: &Path) -> anyhow::Result<Vec<Node>> {
    let folder = path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))?;
    let repository = || folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned);
    let current = std::env::current_dir().ok().filter(|current| folder.starts_with(current));
    let roots = [current, repository(), folder.parent().map(Path::to_owned)];
    let mut first = None;
    for root in roots.into_iter().flatten() {
        let below = folder.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy();
        let (render, mut errors) = opctl_kustomize::render(&root, &below);
        errors.retain(Diagnostic::is_error);
        if errors.is_empty() {
            return Ok(render.objects.into_iter().map(|object| object.node).collect());
        }
        first.get_or_insert(errors);
    }
    Err(SourceErrors::from(first.unwrap_or_default()).into())
}

/// A file, or the YAML and JSON files below a folder.
fn texts(path: &Path) -> Result<BTreeMap<PathBuf, String>, UserError> {
    let failed = |path: &Path, error: &io::Error| {
        UserError::new(format!("cannot read `{}`: {error}", path.display()))
            .help("give a file or a folder with manifests, or a Helm chart")
    };
    if !path.is_dir() {
        let text = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
        return Ok([(path.to_owned(), text)].into());
    }
    // A chart may link to files elsewhere in the repository.
    let tree = Tree::at(path);
    let files = tree.files_below("").map_err(|error| failed(path, &error.source))?;
    let is_manifest = |file: &String| [".yaml", ".yml", ".json"].iter().any(|ending| file.ends_with(ending));
    let read = |file: String| {
        let text = tree.read(&file).map_err(|error| failed(&path.join(&file), &error.source))?;
        Ok((path.join(file), text.unwrap_or_default()))
    };
    files.into_iter().filter(is_manifest).map(read).collect()
}

fn without_helm(path: &Path, text: &str) -> Result<Vec<Node>, Box<Diagnostic>> {
    let is_action = |line: &str| {
        let line = line.trim();
        let [begins, ends] = ["{{", "}}"].map(|braces| line.matches(braces).count());
        line.starts_with("{{") && line.ends_with("}}") && begins == ends
    };
    let lines = text.split_inclusive('\n').map(|line| if is_action(line) { "\n" } else { line });
    documents(&SourceFile::new(path.display().to_string(), lines.collect::<String>()), Dialect::Kubectl)
}

fn rendered(chart: &Path) -> anyhow::Result<Vec<Node>> {
    let text = helm::template_with_defaults(chart, NAMESPACE)
        .map_err(|error| UserError::new(format!("{}: {}", chart.display(), error.message)).help(error.help))?;
    let file = SourceFile::new(format!("{} (rendered)", chart.display()), text);
    documents(&file, Dialect::Kubectl).map_err(|error| SourceErrors::from(vec![*error]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read_without_their_actions() {
        let template = "{{- if .Values.crds.install }}\nkind: Role\n{{- end }}\n";
        let read = without_helm(Path::new("templates/role.yaml"), template).unwrap();
        assert_eq!(read[0].get("kind").unwrap().span.line_column().0, 2);
        assert!(without_helm(Path::new("role.yaml"), "kind: {{ .Values.kind }}").is_err());
    }
}
