//! Operators for Helm charts, and the releases in a namespace.

use std::path::Path;

use serde_json::{Value, json};

use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;

/// Runs an operator with the charts in this folder.
pub fn run(example: Example, cluster: &ControlPlane, charts: &Path) -> Manager {
    example.run(cluster, &["--helm-charts", charts.to_str().unwrap()])
}

/// Objects of a kind with a release.
pub struct Releases<'a> {
    pub namespace: &'a Namespace<'a>,
    pub kind: &'a str,
}

impl Releases<'_> {
    pub fn get(&self, name: &str) -> Value {
        self.namespace.get(self.kind, name)
    }

    /// A condition; null if it is not set.
    pub fn condition(&self, name: &str, type_: &str) -> Value {
        let object = self.get(name);
        let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        conditions.find(|condition| condition["type"] == type_).cloned().unwrap_or_default()
    }

    /// Waits until `Ready` has this reason for the latest spec. Returns the object.
    pub fn becomes(&self, name: &str, reason: &str) -> Value {
        eventually(&format!("Ready of {} {name}: {reason}", self.kind), || {
            let object = self.get(name);
            let ready = self.condition(name, "Ready");
            ready["reason"] == reason && ready["observedGeneration"] == object["metadata"]["generation"]
        });
        self.get(name)
    }

    pub fn becomes_ready(&self, name: &str) -> Value {
        self.becomes(name, "Available")
    }

    /// Applies a merge patch to the spec.
    pub fn patch(&self, name: &str, spec: &Value) {
        let patch = json!({ "spec": spec }).to_string();
        self.namespace.run(&["patch", self.kind, name, "--type=merge", "-p", &patch]);
    }

    /// The objects in the namespace, except for those of every namespace.
    pub fn left(&self) -> String {
        let kinds = "all,secrets,configmaps,serviceaccounts,roles,rolebindings,horizontalpodautoscalers";
        let names = self.namespace.run(&["get", kinds, "-o", "name"]);
        let of_kubernetes = ["configmap/kube-root-ca.crt", "serviceaccount/default"];
        names.lines().filter(|name| !of_kubernetes.contains(name)).collect::<Vec<_>>().join(" ")
    }
}
