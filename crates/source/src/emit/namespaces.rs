//! Keeps the Roles of other namespaces where their markers put them, independent of `namespace:` in `config/default`.
//!
//! kustomize moves everything into that namespace, and fails if two Roles of one name meet there. So `config/default`
//! lists two folders that are generated here. `before` is a component, and runs before anything is moved: it writes
//! the namespace into the names of such Roles and their bindings, `manager-role/zoo/`. `after` is a transformer, and
//! runs last: it moves the parts of these names to the fields where they belong, and sets the name and namespace of
//! the service account in the bindings, as kustomize does for bindings in the operator's namespace.

use serde_json::{Value, json};

use super::rbac::{Role, SERVICE_ACCOUNT, SYSTEM};
use super::{HEADER, Manifest, kustomization};
use opctl_model::yaml;

/// The replacements that move objects back, if there are any.
pub const MOVED_BACK: &str = "rbac/namespaces/after/replacements.yaml";

/// The manifests of both folders. Without Roles in other namespaces they change nothing.
pub fn manifests(roles: &[Role]) -> Vec<Manifest> {
    let objects: Vec<Moved> = roles.iter().flat_map(Moved::of).collect();
    let mut manifests = vec![before(&objects)];
    let after: Vec<Manifest> = (!objects.is_empty()).then(|| after(&objects)).into_iter().collect();
    manifests.push(kustomization::kustomization("rbac/namespaces/after", &after));
    manifests.extend(after);
    manifests
}

/// An object in a namespace other than the operator's.
struct Moved<'a> {
    kind: &'static str,
    name: String,
    namespace: &'a str,
}

impl<'a> Moved<'a> {
    fn of(role: &'a Role) -> Vec<Self> {
        let Some(namespace) = role.namespace.as_deref().filter(|namespace| *namespace != SYSTEM) else {
            return Vec::new();
        };
        let role = [("Role", role.name.clone()), ("RoleBinding", role.binding_name())];
        role.map(|(kind, name)| Self { kind, name, namespace }).into()
    }

    /// kustomize also selects objects by their original names.
    fn selector(&self) -> Value {
        let Self { kind, name, namespace } = self;
        json!({"group": "rbac.authorization.k8s.io", "kind": kind, "name": name, "namespace": namespace})
    }
}

fn before(objects: &[Moved]) -> Manifest {
    let patches = objects.iter().map(|object| {
        // `/` is not valid in a name, so it separates; the last one separates a suffix from the namespace.
        let name = format!("{}/{}/", object.name, object.namespace);
        let patch = json!([{"op": "replace", "path": "/metadata/name", "value": name}]);
        json!({"target": object.selector(), "patch": patch.to_string()})
    });
    let component = json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": patches.collect::<Vec<_>>(),
    });
    manifest("before/kustomization.yaml", &component)
}

fn after(objects: &[Moved]) -> Manifest {
    let replacement = |source: Value, object: &Moved, field: &str| json!({"source": source, "targets": [{"select": object.selector(), "fieldPaths": [field]}]});
    let mut replacements = Vec::new();
    for object in objects {
        for (part, field) in [(1, "metadata.namespace"), (0, "metadata.name")] {
            let mut source = object.selector();
            source["fieldPath"] = "metadata.name".into();
            source["options"] = json!({"delimiter": "/", "index": part});
            replacements.push(replacement(source, object, field));
        }
        if object.kind == "RoleBinding" {
            for field in ["name", "namespace"] {
                let source = json!({
                    "kind": "ServiceAccount",
                    "name": SERVICE_ACCOUNT,
                    "fieldPath": format!("metadata.{field}"),
                });
                replacements.push(replacement(source, object, &format!("subjects.0.{field}")));
            }
        }
    }
    let transformer = json!({
        "apiVersion": "builtin",
        "kind": "ReplacementTransformer",
        "metadata": {"name": "namespaces"},
        "replacements": replacements,
    });
    manifest("after/replacements.yaml", &transformer)
}

fn manifest(path: &str, value: &Value) -> Manifest {
    Manifest { path: format!("rbac/namespaces/{path}"), text: yaml::documents(HEADER, &[value]) }
}
