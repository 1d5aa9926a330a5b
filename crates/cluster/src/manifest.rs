//! Splits the output of kustomize into objects. Each object keeps its text; only its identity is parsed.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use opctl_model::yaml;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The rendered YAML.
    pub text: String,
    /// Empty for the core group.
    pub group: String,
    pub kind: String,
    /// Empty if it is not set.
    pub namespace: String,
    pub name: String,
    /// Group and kind of a CustomResourceDefinition.
    pub defines: Option<(String, String)>,
    /// The service account of the Pods in a Deployment.
    pub service_account: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("the output of kustomize is not a manifest: {0}")]
pub struct ManifestError(String);

impl Object {
    pub fn is_crd(&self) -> bool {
        self.defines.is_some()
    }

    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

/// kubectl's format: `deployment.apps/name`.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&resource_name(&self.kind, &self.group, &self.name))
    }
}

/// The name of an object in kubectl's format. The core group is empty.
pub(crate) fn resource_name(kind: &str, group: &str, name: &str) -> String {
    let (kind, dot) = (kind.to_lowercase(), if group.is_empty() { "" } else { "." });
    format!("{kind}{dot}{group}/{name}")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    api_version: String,
    kind: String,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
}

/// The `spec` of a CustomResourceDefinition or a Deployment. Other kinds may have any values in these fields.
#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    group: Option<Value>,
    #[serde(default)]
    names: Option<Value>,
    #[serde(default)]
    template: Option<Value>,
}

/// The objects in the output of kustomize, in its order.
pub fn objects(rendered: &str) -> Result<Vec<Object>, ManifestError> {
    documents(rendered).into_iter().map(object).collect()
}

/// Renders objects as one manifest.
pub fn text<'a>(objects: impl IntoIterator<Item = &'a Object>) -> String {
    let texts: Vec<&str> = objects.into_iter().map(|object| object.text.as_str()).collect();
    texts.join("---\n")
}

/// Splits the output of kustomize at `---`, and drops documents with only comments. In this output, only fields start
/// in the first column, so a line `---` is always a separator.
fn documents(rendered: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in rendered.split_inclusive('\n') {
        match line.trim_end() {
            "---" => documents.push(String::new()),
            _ => documents.last_mut().expect("there is one from the start").push_str(line),
        }
    }
    let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    documents.retain(|document| document.lines().any(is_content));
    // A file may lack a trailing newline although another document follows.
    documents.iter_mut().filter(|document| !document.ends_with('\n')).for_each(|document| document.push('\n'));
    documents
}

fn object(text: String) -> Result<Object, ManifestError> {
    let head: Head = yaml::read(&text).map_err(|error| ManifestError(error.to_string()))?;
    let group = head.api_version.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
    let is_crd = group == "apiextensions.k8s.io" && head.kind == "CustomResourceDefinition";
    let spec = head.spec.unwrap_or_default();
    let text_of = |value: Option<&Value>| value.and_then(|it| it.as_str()).map(String::from);
    let kind = text_of(spec.names.as_ref().and_then(|names| names.get("kind"))).unwrap_or_default();
    let defines = is_crd.then(|| (text_of(spec.group.as_ref()).unwrap_or_default(), kind));
    let is_deployment = group == "apps" && head.kind == "Deployment";
    let account = spec.template.as_ref().and_then(|template| template.get("spec")?.get("serviceAccountName"));
    let service_account = text_of(account).filter(|_| is_deployment);
    let Metadata { name, namespace } = head.metadata;
    Ok(Object { text, group, kind: head.kind, namespace, name, defines, service_account })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENDERED: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n---\n\
        apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: as.b.c\n\
        spec:\n  group: b.c\n  names:\n    kind: A\n---\n\
        apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  namespace: shop\nspec:\n  group: 1\n  text: |\n    ---\n";

    #[test]
    fn each_object_keeps_its_text() {
        let objects = objects(RENDERED).unwrap();
        let shown: Vec<String> = objects.iter().map(ToString::to_string).collect();
        let crd = "customresourcedefinition.apiextensions.k8s.io/as.b.c";
        assert_eq!(shown, ["namespace/shop", crd, "deployment.apps/d"]);
        assert_eq!(objects[1].defines, Some(("b.c".into(), "A".into())));
        assert_eq!((objects[2].namespace.as_str(), objects[2].is_crd()), ("shop", false));
        assert_eq!(text(&objects), RENDERED);
    }

    #[test]
    fn files_of_people_have_comments_and_no_newline_at_the_end() {
        let text = "# Of a release.\n---\nkind: A\napiVersion: v1\n---\n{kind: B, apiVersion: v1}";
        let objects = objects(text).unwrap();
        assert_eq!(super::text(&objects), "kind: A\napiVersion: v1\n---\n{kind: B, apiVersion: v1}\n");
    }

    #[test]
    fn refuses_what_is_no_object() {
        assert!(objects("a: 1\n").unwrap_err().to_string().starts_with("the output of kustomize is not a manifest: "));
    }
}
