//! Parses a kustomization file and reports fields that kustomize does not have.

use crate::diagnostics::OP432;
use crate::yaml::{Node, Value};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::names::nearest;

/// The file names of a kustomization, in kustomize's order.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A kustomization file.
#[derive(Clone, Debug)]
pub struct Kustomization {
    /// The folder, relative to the root of the tree; `""` is the root.
    pub folder: String,
    /// The file, relative to the root of the tree.
    pub path: String,
    /// The content of the file.
    pub node: Node,
    /// `kind: Component`
    pub is_component: bool,
}

impl Kustomization {
    /// The strings in a list with their nodes, in order: files, folders or names.
    pub(crate) fn texts<'a>(&'a self, field: &'a str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        self.node.items_at(&[field]).iter().filter_map(|item| Some((item.as_text()?, item)))
    }

    pub(crate) fn items(&self, field: &str) -> &[Node] {
        self.node.items_at(&[field])
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.node.text_at(&[field]).unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Map,
    /// A list of strings.
    Texts,
    /// A list of mappings.
    Maps,
    /// A list of strings or mappings.
    List,
}

const FIELDS: &[(&str, Shape)] = &[
    ("apiVersion", Shape::Text),
    ("kind", Shape::Text),
    ("metadata", Shape::Map),
    ("openapi", Shape::Map),
    ("namePrefix", Shape::Text),
    ("nameSuffix", Shape::Text),
    ("namespace", Shape::Text),
    ("commonLabels", Shape::Map),
    ("labels", Shape::Maps),
    ("commonAnnotations", Shape::Map),
    ("patchesStrategicMerge", Shape::Texts),
    ("patchesJson6902", Shape::Maps),
    ("patches", Shape::Maps),
    ("images", Shape::Maps),
    ("imageTags", Shape::Maps),
    ("replacements", Shape::Maps),
    ("replicas", Shape::Maps),
    ("vars", Shape::Maps),
    ("sortOptions", Shape::Map),
    ("resources", Shape::Texts),
    ("components", Shape::Texts),
    ("crds", Shape::Texts),
    ("bases", Shape::Texts),
    ("configMapGenerator", Shape::Maps),
    ("secretGenerator", Shape::Maps),
    ("helmGlobals", Shape::Map),
    ("helmCharts", Shape::Maps),
    ("helmChartInflationGenerator", Shape::Maps),
    ("generatorOptions", Shape::Map),
    ("configurations", Shape::Texts),
    ("generators", Shape::Texts),
    ("transformers", Shape::Texts),
    ("validators", Shape::Texts),
    ("buildMetadata", Shape::List),
];

/// Returns `true` for a component, and the errors with which kustomize rejects the file.
pub(crate) fn check(node: &Node) -> (bool, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    for entry in node.entries() {
        // Go's JSON decoder ignores case.
        let Some((_, shape)) = FIELDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&entry.key)) else {
            let problem =
                OP432.error(format!("a kustomization has no field `{}`", entry.key)).at(entry.key_span.clone(), "");
            let near = nearest(&entry.key, FIELDS.iter().map(|(name, _)| *name));
            problems.push(match near {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help("kustomize refuses the whole file for this; remove it"),
            });
            continue;
        };
        if let Some((span, wanted)) = misfit(&entry.value, *shape) {
            let message = format!("`{}` of a kustomization must be {wanted}", entry.key);
            problems.push(OP432.error(message).at(span, ""));
        }
    }
    let kind = node.text_at(&["kind"]).unwrap_or("Kustomization");
    let version = match kind {
        "Component" => "kustomize.config.k8s.io/v1alpha1",
        "Kustomization" => "kustomize.config.k8s.io/v1beta1",
        _ => {
            let place = node.get("kind").unwrap_or(node).span.clone();
            let problem = OP432.error(format!("`{kind}` is not a kind of kustomization")).at(place, "");
            problems.push(problem.help("it is `Kustomization`, or `Component` for an optional part"));
            return (false, problems);
        }
    };
    if let Some(said) = node.get("apiVersion").filter(|said| said.as_text().is_some_and(|text| text != version)) {
        let message = format!("the `apiVersion` of a `{kind}` is `{version}`");
        problems.push(OP432.error(message).at(said.span.clone(), ""));
    }
    let says =
        |entry: &&super::yaml::Entry| !matches!(entry.key.as_str(), "apiVersion" | "kind") && !entry.value.is_null();
    if !node.entries().iter().any(|entry| says(&entry)) {
        problems.push(
            OP432
                .error("this kustomization is empty")
                .at(node.span.clone(), "")
                .help("kustomize refuses it; `resources: []` is enough"),
        );
    }
    (kind == "Component", problems)
}

fn misfit(value: &Node, shape: Shape) -> Option<(opctl_model::diagnostic::Span, &'static str)> {
    if value.is_null() {
        return None;
    }
    let is_text = |node: &&Node| node.as_text().is_some();
    let is_map = |node: &&Node| matches!(node.value, Value::Map(_));
    let is_list = matches!(value.value, Value::List(_));
    let span = |node: &Node| node.span.clone();
    match shape {
        Shape::Text => (!is_text(&value)).then(|| (span(value), "a text")),
        Shape::Map => (!is_map(&value)).then(|| (span(value), "a mapping")),
        Shape::Texts | Shape::Maps | Shape::List if !is_list => Some((span(value), "a list")),
        Shape::Texts => value.items().iter().find(|item| !is_text(item)).map(|item| (span(item), "a list of strings")),
        Shape::Maps => value.items().iter().find(|item| !is_map(item)).map(|item| (span(item), "a list of mappings")),
        Shape::List => None,
    }
}
