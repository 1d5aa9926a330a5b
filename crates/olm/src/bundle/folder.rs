//! The files of a bundle → objects with positions. Reports errors that prevent reading a bundle; other rules are in
//! `rules`.

use std::sync::Arc;

use super::findings::Findings;
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{Tree, join};

/// The prefix of the annotations of a bundle.
pub(crate) const PREFIX: &str = "operators.operatorframework.io.bundle.";

/// The content of a readable bundle.
#[derive(Debug)]
pub struct Bundle {
    /// The entries of `metadata/annotations.yaml`; a map.
    pub annotations: Node,
    /// The first object of each file, sorted by path.
    pub manifests: Vec<Manifest>,
    /// The index of the ClusterServiceVersion.
    csv: usize,
    /// `metadata/dependencies.yaml`, or another file with `dependencies`.
    pub dependencies: Option<Node>,
    /// `metadata/properties.yaml`, or another file with `properties`.
    pub properties: Option<Node>,
    /// `bundle.Dockerfile` in the bundle or next to it.
    pub dockerfile: Option<Arc<SourceFile>>,
}

#[derive(Debug)]
pub struct Manifest {
    pub node: Node,
    /// Further documents in the same file.
    pub others: Vec<Node>,
}

impl Manifest {
    pub fn kind(&self) -> &str {
        self.node.text_at(&["kind"]).unwrap_or_default()
    }

    pub(crate) fn api_version(&self) -> &str {
        self.node.text_at(&["apiVersion"]).unwrap_or_default()
    }

    pub fn name(&self) -> &str {
        self.node.text_at(&["metadata", "name"]).unwrap_or_default()
    }

    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// Name for messages: ``Service `x` ``.
    pub fn shown(&self) -> String {
        format!("{} `{}`", self.kind(), self.name())
    }

    pub fn file(&self) -> &Arc<SourceFile> {
        &self.node.span.file
    }

    pub fn is_crd(&self) -> bool {
        self.kind() == "CustomResourceDefinition"
    }
}

impl Bundle {
    pub fn csv(&self) -> &Manifest {
        &self.manifests[self.csv]
    }

    pub fn spec(&self) -> &Node {
        self.csv().node.get("spec").unwrap_or(&self.csv().node)
    }

    pub fn crds(&self) -> impl Iterator<Item = &Manifest> {
        self.manifests.iter().filter(|manifest| manifest.is_crd())
    }

    /// All manifests except the ClusterServiceVersion and CRDs.
    pub fn others(&self) -> impl Iterator<Item = &Manifest> {
        let is_other = |manifest: &&Manifest| !manifest.is_crd() && manifest.kind() != CSV;
        self.manifests.iter().filter(is_other)
    }

    /// The objects in all documents of the manifests.
    pub fn objects(&self) -> impl Iterator<Item = serde_json::Value> {
        let documents =
            self.manifests.iter().flat_map(|manifest| std::iter::once(&manifest.node).chain(&manifest.others));
        documents.map(Node::json).filter(|object| !object.is_null())
    }

    /// A bundle annotation by its name without prefix: `package.v1`, `channels.v1`, …
    pub fn annotation(&self, name: &str) -> Option<&Node> {
        self.annotations.get(&format!("{PREFIX}{name}"))
    }

    pub fn annotation_text(&self, name: &str) -> &str {
        self.annotation(name).and_then(Node::as_text).unwrap_or_default()
    }

    pub fn package(&self) -> &str {
        self.annotation_text("package.v1")
    }

    /// An annotation of the ClusterServiceVersion.
    pub fn csv_annotation(&self, name: &str) -> Option<&Node> {
        self.csv().node.at(&["metadata", "annotations", name])
    }

    pub fn deployments(&self) -> &[Node] {
        self.spec().items_at(&["install", "spec", "deployments"])
    }

    pub fn owned(&self) -> &[Node] {
        self.spec().items_at(&["customresourcedefinitions", "owned"])
    }

    pub fn webhooks(&self) -> &[Node] {
        self.spec().items_at(&["webhookdefinitions"])
    }
}

pub const CSV: &str = "ClusterServiceVersion";

/// A folder of files, and its displayed path.
#[derive(Clone, Copy)]
pub struct Folder<'a> {
    /// The tree with the folder as its root.
    pub tree: &'a Tree,
    /// The displayed path: `bundle`, or empty for the current folder.
    pub shown: &'a str,
}

impl Folder<'_> {
    /// The displayed path of a file.
    pub fn path(&self, path: &str) -> String {
        match path.strip_prefix("../") {
            Some(name) => match self.shown.rsplit_once('/') {
                Some((parent, _)) => format!("{parent}/{name}"),
                None if self.shown.is_empty() => path.to_owned(),
                None => name.to_owned(),
            },
            None => join(self.shown, path),
        }
    }

    /// A text file; `None` if it is missing or not text.
    pub fn file(&self, path: &str) -> Option<Arc<SourceFile>> {
        let text = match path.strip_prefix("../") {
            Some(name) => Tree::of_others(self.tree.root().join("..")).read(name),
            None => self.tree.read(path),
        };
        Some(SourceFile::new(self.path(path), text.ok().flatten()?))
    }

    /// The position for findings about a whole file.
    pub fn place(&self, path: &str) -> Span {
        Span { file: SourceFile::new(self.path(path), ""), range: 0..0 }
    }

    fn is_yaml(path: &str) -> bool {
        [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending))
    }
}

const ANNOTATIONS: &str = "metadata/annotations.yaml";

/// Reads a bundle. `None` if it cannot be read; the findings contain the reasons.
pub fn load(folder: Folder, findings: &mut Findings) -> Option<Bundle> {
    let files = match folder.tree.files_below("") {
        Ok(files) => files,
        Err(error) => {
            findings.error_without_place("bundle-folders", error.to_string());
            return None;
        }
    };
    for name in ["manifests", "metadata"] {
        if !folder.tree.has_folder(name) {
            let shown = if folder.shown.is_empty() { "." } else { folder.shown };
            findings
                .error_without_place("bundle-folders", format!("`{shown}` has no folder `{name}`"))
                .help("specify the folder of a bundle, which has `manifests` and `metadata`");
        }
    }
    let yaml: Vec<&String> = files.iter().filter(|path| Folder::is_yaml(path)).collect();
    let metadata: Vec<&String> = yaml.iter().copied().filter(|path| path.starts_with("metadata/")).collect();
    let is_first = |path: &&&String| **path == ANNOTATIONS;
    let candidates = yaml.iter().filter(is_first).chain(&metadata).chain(&yaml);
    let annotations = candidates.filter_map(|path| entry(folder, path, "annotations", findings)).next();
    let Some(annotations) = annotations else {
        findings
            .error_without_place(
                "bundle-metadata",
                format!("`{}` is missing, or has no `annotations`", folder.path(ANNOTATIONS)),
            )
            .help("it has the package and the channels of the bundle; `opctl generate bundle` writes it");
        return None;
    };
    let mut of_metadata = |key: &str| metadata.iter().find_map(|path| entry(folder, path, key, findings));
    let (dependencies, properties) = (of_metadata("dependencies"), of_metadata("properties"));
    let label = annotations.text_at(&[&format!("{PREFIX}manifests.v1")]).map(|label| label.trim_matches('/'));
    let inner = match label {
        Some(label) if !label.is_empty() && !label.split('/').any(|part| part == ".." || part == ".") => label,
        _ => "manifests",
    };
    let manifests = read_manifests(folder, inner, &files, findings);
    let is_csv = |(_, manifest): &(usize, &Manifest)| manifest.kind() == CSV;
    let csvs: Vec<usize> = manifests.iter().enumerate().filter(is_csv).map(|(index, _)| index).collect();
    let csv = match csvs[..] {
        [csv] => csv,
        [] => {
            let message = format!("no ClusterServiceVersion found in `{}`", folder.path(inner));
            findings.error_without_place("csv-missing", message).help("`opctl generate bundle` generates one");
            return None;
        }
        [_, second, ..] => {
            let span = manifests[second].node.get("kind").unwrap_or(&manifests[second].node).span.clone();
            findings
                .error("csv-several", &span, "this is a second ClusterServiceVersion, and a bundle has one")
                .help("remove one of them");
            return None;
        }
    };
    let dockerfile = ["bundle.Dockerfile", "../bundle.Dockerfile"].into_iter().find_map(|path| folder.file(path));
    Some(Bundle { annotations, manifests, csv, dependencies, properties, dockerfile })
}

/// The value of a top-level key in a file, if it is a non-empty map or list.
fn entry(folder: Folder, path: &str, key: &str, findings: &mut Findings) -> Option<Node> {
    let file = match folder.tree.read(path) {
        Ok(text) => SourceFile::new(folder.path(path), text?),
        // The manifests are read later.
        Err(_) if !path.starts_with("metadata/") => return None,
        Err(error) => {
            findings.error("metadata-yaml", &folder.place(path), format!("cannot read the file: {}", error.source));
            return None;
        }
    };
    match yaml::documents(&file, Dialect::Kubectl) {
        Ok(documents) => {
            let node = documents.first()?.get(key)?;
            (!node.entries().is_empty() || !node.items().is_empty()).then(|| node.clone())
        }
        // Other folders are only searched for the key, so errors in their files are ignored.
        Err(problem) if path.starts_with("metadata/") => {
            unreadable("metadata-yaml", *problem, &file, findings);
            None
        }
        Err(_) => None,
    }
}

fn unreadable(rule: &str, problem: Diagnostic, file: &Arc<SourceFile>, findings: &mut Findings) {
    let span = problem.span.map_or_else(|| Span { file: Arc::clone(file), range: 0..0 }, |(span, _)| span);
    findings.error(rule, &span, problem.message);
}

fn read_manifests(folder: Folder, inner: &str, files: &[String], findings: &mut Findings) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for path in files {
        let Some(name) = path.strip_prefix(inner).and_then(|rest| rest.strip_prefix('/')) else { continue };
        if let Some((inside, _)) = name.split_once('/') {
            let message =
                format!("`{}` is a folder, and OLM reads files only", folder.path(&format!("{inner}/{inside}")));
            findings
                .error("manifests-folder", &folder.place(path), message)
                .help("move the files up, or remove the folder");
            continue;
        }
        if name.starts_with('.') {
            let message = "a bundle cannot have hidden files among its manifests";
            findings.error("manifests-folder", &folder.place(path), message).help("remove the file");
            continue;
        }
        let file = match folder.tree.read(path) {
            Ok(text) => SourceFile::new(folder.path(path), text.unwrap_or_default()),
            Err(error) => {
                findings.error("manifest-yaml", &folder.place(path), format!("cannot read the file: {}", error.source));
                continue;
            }
        };
        let mut documents = match yaml::documents(&file, Dialect::Kubectl) {
            Ok(documents) => documents.into_iter(),
            Err(problem) => {
                unreadable("manifest-yaml", *problem, &file, findings);
                continue;
            }
        };
        match documents.next() {
            Some(node) if node.text_at(&["apiVersion"]).is_some_and(|version| version.matches('/').count() > 1) => {
                let span = &node.at(&["apiVersion"]).unwrap_or(&node).span;
                findings.error("manifest-yaml", span, "an `apiVersion` is `GROUP/VERSION`, or `VERSION`");
            }
            Some(node) if node.text_at(&["kind"]).is_some_and(|kind| !kind.is_empty()) => {
                manifests.push(Manifest { node, others: documents.collect() });
            }
            Some(node) => {
                findings.error("manifest-yaml", &node.span, "not a Kubernetes object: `kind` is missing");
            }
            None => {
                findings.error("manifest-yaml", &Span { file, range: 0..0 }, "the file is empty").help("remove it");
            }
        }
    }
    manifests
}
