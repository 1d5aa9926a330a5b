//! Objects as kustomize identifies them: by their current names, and by their names before each change.

use std::fmt;

use super::yaml::Node;

pub(crate) const CRD: &str = "CustomResourceDefinition";

/// The identity of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// Empty for the core group.
    pub group: String,
    /// Version of the API, without the group.
    pub version: String,
    /// E.g. `Deployment`.
    pub kind: String,
    /// As written; empty if it is not set.
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
}

/// An object, with the changes that kustomize keeps track of.
#[derive(Clone, Debug)]
pub struct Object {
    /// The object itself, with positions.
    pub node: Node,
    /// Identities before each change, oldest first.
    pub(crate) past: Vec<Id>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) suffixes: Vec<String>,
    /// kustomize appends a hash of the content to the name.
    pub(crate) hashed: bool,
}

impl Object {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, past: Vec::new(), prefixes: Vec::new(), suffixes: Vec::new(), hashed: false }
    }

    /// The current identity.
    pub fn id(&self) -> Id {
        let text = |path: &[&str]| self.node.text_at(path).unwrap_or_default().to_owned();
        let api_version = text(&["apiVersion"]);
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        Id {
            group: group.into(),
            version: version.into(),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        }
    }

    /// The identity before all changes.
    pub(crate) fn first_id(&self) -> Id {
        self.past.first().cloned().unwrap_or_else(|| self.id())
    }

    /// All identities, the current one last.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        self.past.iter().cloned().chain([self.id()])
    }

    pub(crate) fn remember(&mut self) {
        self.past.push(self.id());
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name_node().as_text()
    }

    /// The node of the name.
    pub(crate) fn name_node(&self) -> &Node {
        self.node.at(&["metadata", "name"]).unwrap_or(&self.node)
    }

    pub(crate) fn is_crd(&self) -> bool {
        self.node.text_at(&["kind"]) == Some(CRD)
    }

    pub(crate) fn is(&self, group: &str, kind: &str) -> bool {
        let its_group = || self.node.text_at(&["apiVersion"])?.split_once('/').map(|(group, _)| group);
        self.node.text_at(&["kind"]) == Some(kind) && its_group().unwrap_or_default() == group
    }
}

impl Id {
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        CLUSTER_SCOPED.iter().any(|(group, versions, kinds)| {
            *group == self.group && kinds.contains(&self.kind.as_str()) && versions.contains(&self.version.as_str())
        })
    }

    /// The namespace for comparisons: empty is `default`, and all cluster-scoped objects share one.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.is_cluster_scoped() {
            "_non_namespaceable_"
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// Normalized: equal for identities that kustomize treats as the same object.
    pub(crate) fn normal(&self) -> Self {
        Self { namespace: self.effective_namespace().to_owned(), ..self.clone() }
    }

    /// `true` if kustomize treats both as the same object.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.group == other.group
            && self.version == other.version
            && self.effective_namespace() == other.effective_namespace()
    }
}

/// Formats an identity for messages: ``ClusterRole `a` ``, ``Role `b` in `c` ``.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)?;
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " in `{}`", self.namespace) }
    }
}

/// Kinds that kustomize knows to be cluster-scoped. It treats all others as namespaced.
const CLUSTER_SCOPED: &[(&str, &[&str], &[&str])] = &[
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["v1", "v1beta1"], &["IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("storage.k8s.io", &["v1", "v1beta1"], &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
    ("", &["v1"], &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
];
