//! Parses the objects of a release from helm's rendered manifest.

use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::release::Id;
use crate::{Error, Result};

/// An object of a manifest, with the label and annotations that helm adds.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub gvk: GroupVersionKind,
    pub name: String,
    /// The namespace in the manifest, if it has one.
    pub namespace: Option<String>,
    pub json: Value,
    /// The object is kept when the release is uninstalled.
    pub is_kept: bool,
}

impl Object {
    /// For messages: `Deployment web`.
    pub fn shown(&self) -> String {
        format!("{} {}", self.gvk.kind, self.name)
    }

    /// `true` if both identify the same object of the cluster.
    pub fn is(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.gvk.group.clone(), it.gvk.kind.clone(), it.namespace.clone(), it.name.clone());
        key(self) == key(other)
    }
}

/// The objects of a manifest, in order, with `List`s flattened.
pub(super) fn objects(manifest: &str, id: &Id) -> Result<Vec<Object>> {
    // YAML 1.1, like the Go library that helm and the API server use.
    let options = serde_saphyr::options! {
        budget: None,
        emit_comments: false,
        with_snippet: false,
        strict_booleans: false,
        legacy_octal_numbers: true,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
    };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(manifest, options).map_err(|error| {
        Error::new("InvalidRecord", format!("the manifest of `{}` cannot be read: {error}", id.name))
    })?;
    let mut objects = Vec::new();
    for document in documents {
        let kind = document["kind"].as_str().unwrap_or_default();
        match (kind.strip_suffix("List"), &document["items"]) {
            (Some(_), Value::Array(items)) => objects.extend(items.iter().filter_map(|item| object(item.clone(), id))),
            _ => objects.extend(object(document, id)),
        }
    }
    Ok(objects)
}

fn object(mut json: Value, id: &Id) -> Option<Object> {
    let (api_version, kind) = (json["apiVersion"].as_str()?, json["kind"].as_str()?);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let metadata = json["metadata"].as_object_mut()?;
    let name = metadata.get("name")?.as_str()?.to_owned();
    let namespace = metadata.get("namespace").and_then(Value::as_str).map(str::to_owned);
    for (field, given) in [
        ("labels", json!({ MANAGED_BY: "Helm" })),
        ("annotations", json!({ RELEASE_NAME: id.name, RELEASE_NAMESPACE: id.namespace })),
    ] {
        let all = metadata.entry(field).or_insert_with(|| json!({}));
        if all.is_null() {
            *all = json!({});
        }
        if let (Some(all), Value::Object(given)) = (all.as_object_mut(), given) {
            all.extend(given);
        }
    }
    let policy = metadata["annotations"]["helm.sh/resource-policy"].as_str().unwrap_or_default();
    let is_kept = policy.trim().eq_ignore_ascii_case("keep");
    Some(Object { gvk, name, namespace, json, is_kept })
}

/// The label and annotations that mark objects as managed by helm.
pub(super) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub(super) const RELEASE_NAME: &str = "meta.helm.sh/release-name";
pub(super) const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> Id {
        Id { namespace: "web".into(), name: "sample".into() }
    }

    #[test]
    fn scalars_are_what_go_reads() {
        let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nvalues:\n  - 0644\n  - 0o17\n  - 0x10\n  - yes\n  - Off\n  - ~\n  - 1e3\n  - 1.20\n  - \"yes\"\n  - '0644'\n  - 12:30:45\n  - 1_000\n  - .5\n  - 2024-01-15\n  - +1\n";
        let objects = objects(manifest, &id()).unwrap();
        assert_eq!(
            objects[0].json["values"],
            json!([420, 15, 16, true, false, null, 1000.0, 1.2, "yes", "0644", "12:30:45", 1000, 0.5, "2024-01-15", 1])
        );
    }

    #[test]
    fn lists_are_opened_and_ownership_is_added() {
        let manifest = "---\n# Source: a\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, annotations: }}\n---\n\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: other, annotations: {helm.sh/resource-policy: keep}}\n";
        let objects = objects(manifest, &id()).unwrap();
        let shown: Vec<_> = objects.iter().map(|it| (it.shown(), it.namespace.as_deref(), it.is_kept)).collect();
        assert_eq!(shown, [("Deployment d".to_owned(), None, false), ("Secret s".to_owned(), Some("other"), true)]);
        assert_eq!(objects[0].json["metadata"]["labels"][MANAGED_BY], "Helm");
        assert_eq!(objects[0].json["metadata"]["annotations"][RELEASE_NAMESPACE], "web");
    }
}
