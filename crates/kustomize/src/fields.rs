//! kustomize's field specs: which objects, and a path in them that traverses lists implicitly. The tables are copied
//! from kustomize's `builtinpluginconsts`.

use super::object::Id;
use super::yaml::{Node, Value};

/// A path to a field in objects of a kind. Empty fields match any group, version or kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub path: String,
    /// Creates missing mappings on the path.
    pub create: bool,
}

/// A kind of object, and the fields of other objects that refer to it by name.
#[derive(Clone, Debug)]
pub struct NameReference {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub fields: Vec<FieldSpec>,
}

impl FieldSpec {
    pub fn new(kind: &str, path: impl Into<String>, create: bool) -> Self {
        Self { group: String::new(), version: String::new(), kind: kind.into(), path: path.into(), create }
    }

    fn of(group: &str, kind: &str, path: &str, create: bool) -> Self {
        Self { group: group.into(), ..Self::new(kind, path, create) }
    }

    /// Parses an entry in the format of `configurations`.
    pub fn read(node: &Node) -> Option<Self> {
        let text = |key| node.text_at(&[key]).unwrap_or_default().to_owned();
        let path = node.text_at(&["path"])?.to_owned();
        let create = node.get("create").is_some_and(Node::is_true);
        Some(Self { group: text("group"), version: text("version"), kind: text("kind"), path, create })
    }

    pub fn selects(&self, id: &Id) -> bool {
        selects(&self.group, &self.version, &self.kind, id)
    }

    /// The keys of the path; `\/` is a slash within a key.
    fn keys(&self) -> Vec<String> {
        let keys = self.path.replace("\\/", "\0");
        keys.split('/').filter(|key| !key.is_empty()).map(|key| key.replace('\0', "/")).collect()
    }

    /// `true` if the path leads to a value.
    pub fn is_in(&self, node: &Node) -> bool {
        leads(node, &self.keys())
    }

    /// Calls `change` with every value at the path. With `create`, a missing value is first set to `missing`.
    pub fn visit(&self, node: &mut Node, missing: Option<Value>, change: &mut impl FnMut(&mut Node)) {
        let keys = self.keys();
        walk(node, &keys, missing.filter(|_| self.create).as_ref(), change);
    }
}

pub fn selects(group: &str, version: &str, kind: &str, id: &Id) -> bool {
    (group.is_empty() || id.group == group)
        && (version.is_empty() || id.version == version)
        && (kind.is_empty() || id.kind == kind)
}

fn leads(node: &Node, keys: &[String]) -> bool {
    let Some((first, rest)) = keys.split_first() else { return true };
    match &node.value {
        Value::List(items) => items.iter().any(|item| leads(item, keys)),
        _ => node.get(first.strip_suffix("[]").unwrap_or(first)).is_some_and(|inside| leads(inside, rest)),
    }
}

fn walk(node: &mut Node, keys: &[String], missing: Option<&Value>, change: &mut impl FnMut(&mut Node)) {
    let Some((first, rest)) = keys.split_first() else { return change(node) };
    if let Value::List(items) = &mut node.value {
        items.iter_mut().for_each(|item| walk(item, keys, missing, change));
        return;
    }
    let Value::Map(_) = &node.value else { return };
    let key = first.strip_suffix("[]");
    let is_list = key.is_some();
    let key = key.unwrap_or(first);
    if let Some(missing) = missing.filter(|_| !is_list && node.get(key).is_none_or(Node::is_null)) {
        let value = if rest.is_empty() { missing.clone() } else { Value::map() };
        node.set(key, Node { value, span: node.span.clone() });
    }
    if let Some(inside) = node.get_mut(key) {
        walk(inside, rest, missing, change);
    }
}

/// The path to the pod spec of a workload.
pub fn pod_spec(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "Pod" => &["spec"],
        "PodTemplate" => &["template", "spec"],
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" | "ReplicationController" => {
            &["spec", "template", "spec"]
        }
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => return None,
    })
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// The fields with names that kustomize updates when it renames the object.
pub fn name_references() -> Vec<NameReference> {
    let pods = |kinds: &[&str], paths: &[&str]| -> Vec<FieldSpec> {
        let spec = |kind: &str, path: &str| {
            let folder = pod_spec(kind).expect("the table names workloads").join("/");
            let version = if kind == "Pod" { "v1" } else { "" };
            FieldSpec { version: version.into(), ..FieldSpec::new(kind, format!("{folder}/{path}"), false) }
        };
        kinds.iter().flat_map(|kind| paths.iter().map(move |path| spec(kind, path))).collect()
    };
    let others = |fields: &[(&str, &str, &str)]| -> Vec<FieldSpec> {
        fields.iter().map(|(group, kind, path)| FieldSpec::of(group, kind, path, false)).collect()
    };
    let reference = |group: &str, version: &str, kind: &str, fields: [Vec<FieldSpec>; 2]| NameReference {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        fields: fields.concat(),
    };
    let all = ["Pod", "PodTemplate", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob"];
    let some = ["Pod", "StatefulSet", "Deployment", "ReplicationController", "CronJob", "Job", "DaemonSet"];
    let mut references: Vec<NameReference> = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
        .iter()
        .map(|kind| {
            let scaled = others(&[("", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]);
            reference("", "", kind, [scaled, Vec::new()])
        })
        .collect();
    references.extend([
        reference(
            "",
            "v1",
            "ConfigMap",
            [
                pods(
                    &all,
                    &[
                        "volumes/configMap/name",
                        "containers/env/valueFrom/configMapKeyRef/name",
                        "initContainers/env/valueFrom/configMapKeyRef/name",
                        "containers/envFrom/configMapRef/name",
                        "initContainers/envFrom/configMapRef/name",
                        "volumes/projected/sources/configMap/name",
                    ],
                ),
                others(&[
                    ("", "Node", "spec/configSource/configMap"),
                    ("", "Role", "rules/resourceNames"),
                    ("", "ClusterRole", "rules/resourceNames"),
                    ("", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
                ]),
            ],
        ),
        reference(
            "",
            "v1",
            "Secret",
            [
                pods(
                    &all,
                    &[
                        "volumes/secret/secretName",
                        "containers/env/valueFrom/secretKeyRef/name",
                        "initContainers/env/valueFrom/secretKeyRef/name",
                        "containers/envFrom/secretRef/name",
                        "initContainers/envFrom/secretRef/name",
                        "imagePullSecrets/name",
                        "volumes/projected/sources/secret/name",
                    ],
                ),
                others(&[
                    ("", "Ingress", "spec/tls/secretName"),
                    ("", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
                    ("", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
                    ("", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
                    ("", "ServiceAccount", "imagePullSecrets/name"),
                    ("", "StorageClass", "parameters/secretName"),
                    ("", "StorageClass", "parameters/adminSecretName"),
                    ("", "StorageClass", "parameters/userSecretName"),
                    ("", "StorageClass", "parameters/secretRef"),
                    ("", "Role", "rules/resourceNames"),
                    ("", "ClusterRole", "rules/resourceNames"),
                    ("", "PersistentVolume", "spec/azureFile/secretName"),
                ]),
            ],
        ),
        reference(
            "",
            "v1",
            "Service",
            [
                Vec::new(),
                others(&[
                    ("apps", "StatefulSet", "spec/serviceName"),
                    ("", "Ingress", "spec/rules/http/paths/backend/serviceName"),
                    ("", "Ingress", "spec/backend/serviceName"),
                    ("", "Ingress", "spec/rules/http/paths/backend/service/name"),
                    ("", "Ingress", "spec/defaultBackend/service/name"),
                    ("apiregistration.k8s.io", "APIService", "spec/service/name"),
                    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
                    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
                ]),
            ],
        ),
        reference(RBAC, "", "Role", [Vec::new(), others(&[(RBAC, "RoleBinding", "roleRef/name")])]),
        reference(
            RBAC,
            "",
            "ClusterRole",
            [
                Vec::new(),
                others(&[(RBAC, "RoleBinding", "roleRef/name"), (RBAC, "ClusterRoleBinding", "roleRef/name")]),
            ],
        ),
        reference(
            "",
            "v1",
            "ServiceAccount",
            [
                others(&[(RBAC, "RoleBinding", "subjects"), (RBAC, "ClusterRoleBinding", "subjects")]),
                pods(&some, &["serviceAccountName"]),
            ],
        ),
        reference(
            "",
            "v1",
            "PersistentVolumeClaim",
            [pods(&some, &["volumes/persistentVolumeClaim/claimName"]), Vec::new()],
        ),
        reference(
            "",
            "v1",
            "PersistentVolume",
            [
                Vec::new(),
                others(&[("", "PersistentVolumeClaim", "spec/volumeName"), ("", "ClusterRole", "rules/resourceNames")]),
            ],
        ),
        reference(
            "storage.k8s.io",
            "v1",
            "StorageClass",
            [
                Vec::new(),
                others(&[
                    ("", "PersistentVolume", "spec/storageClassName"),
                    ("", "PersistentVolumeClaim", "spec/storageClassName"),
                    ("", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
                ]),
            ],
        ),
        reference("scheduling.k8s.io", "v1", "PriorityClass", [pods(&some, &["priorityClassName"]), Vec::new()]),
        reference(
            "admissionregistration.k8s.io",
            "",
            "ValidatingAdmissionPolicy",
            [
                Vec::new(),
                others(&[("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "spec/policyName")]),
            ],
        ),
    ]);
    references
}

/// The namespaces that `namespace:` sets, besides `metadata.namespace` and subjects.
pub fn namespaces() -> Vec<FieldSpec> {
    vec![
        FieldSpec::of("apiregistration.k8s.io", "APIService", "spec/service/namespace", true),
        FieldSpec::of(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "spec/conversion/webhook/clientConfig/service/namespace",
            false,
        ),
    ]
}

/// Labels in pod templates.
pub fn template_labels() -> Vec<FieldSpec> {
    vec![
        FieldSpec {
            version: "v1".into(),
            ..FieldSpec::new("ReplicationController", "spec/template/metadata/labels", true)
        },
        FieldSpec::new("Deployment", "spec/template/metadata/labels", true),
        FieldSpec::new("ReplicaSet", "spec/template/metadata/labels", true),
        FieldSpec::new("DaemonSet", "spec/template/metadata/labels", true),
        FieldSpec::of("apps", "StatefulSet", "spec/template/metadata/labels", true),
        FieldSpec::of("apps", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
        FieldSpec::of("batch", "Job", "spec/template/metadata/labels", true),
        FieldSpec::of("batch", "CronJob", "spec/jobTemplate/metadata/labels", true),
        FieldSpec::of("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    ]
}

/// Annotations of objects and pod templates.
pub fn annotations() -> Vec<FieldSpec> {
    let templates = template_labels().into_iter().filter(|spec| !spec.path.contains("[]"));
    let templates = templates.map(|spec| FieldSpec { path: spec.path.replace("labels", "annotations"), ..spec });
    [FieldSpec::new("", "metadata/annotations", true)].into_iter().chain(templates).collect()
}

/// Selectors, to which labels with `includeSelectors` are added.
pub fn selectors() -> Vec<FieldSpec> {
    let v1 = |kind| FieldSpec { version: "v1".into(), ..FieldSpec::new(kind, "spec/selector", true) };
    let mut specs = vec![
        v1("Service"),
        v1("ReplicationController"),
        FieldSpec::new("Deployment", "spec/selector/matchLabels", true),
        FieldSpec::new("ReplicaSet", "spec/selector/matchLabels", true),
        FieldSpec::new("DaemonSet", "spec/selector/matchLabels", true),
        FieldSpec::of("apps", "StatefulSet", "spec/selector/matchLabels", true),
        FieldSpec::of("batch", "Job", "spec/selector/matchLabels", false),
        FieldSpec::of("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        FieldSpec::of("policy", "PodDisruptionBudget", "spec/selector/matchLabels", false),
        FieldSpec::of("networking.k8s.io", "NetworkPolicy", "spec/podSelector/matchLabels", false),
        FieldSpec::of("networking.k8s.io", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
        FieldSpec::of("networking.k8s.io", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    ];
    for kind in ["Deployment", "StatefulSet"] {
        for path in [
            "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
            "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
            "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
            "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
            "topologySpreadConstraints/labelSelector",
        ] {
            specs.push(FieldSpec::of("apps", kind, &format!("spec/template/spec/{path}/matchLabels"), false));
        }
    }
    specs
}
