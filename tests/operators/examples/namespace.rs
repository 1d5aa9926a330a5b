//! A namespace for the objects of a user, accessed with kubectl.

use std::process::Output;

use serde_json::Value;

use crate::control_plane::ControlPlane;

pub struct Namespace<'a> {
    cluster: &'a ControlPlane,
    name: &'static str,
}

impl<'a> Namespace<'a> {
    /// A namespace that enforces the Pod Security Standard "restricted".
    pub fn create(cluster: &'a ControlPlane) -> Self {
        let namespace = Self::unrestricted(cluster, "zoo");
        cluster.kubectl(&["label", "namespace", "zoo", "pod-security.kubernetes.io/enforce=restricted"], "");
        namespace
    }

    pub fn unrestricted(cluster: &'a ControlPlane, name: &'static str) -> Self {
        cluster.kubectl(&["create", "namespace", name], "");
        Self { cluster, name }
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        self.cluster.kubectl(&[&["-n", self.name], arguments].concat(), "")
    }

    pub fn apply(&self, object: &Value) {
        self.cluster.kubectl(&["-n", self.name, "apply", "-f", "-"], &object.to_string());
    }

    pub fn try_apply(&self, object: &Value) -> Output {
        self.cluster.run(&["-n", self.name, "apply", "-f", "-"], &object.to_string())
    }

    /// An object; null if it does not exist.
    pub fn get(&self, kind: &str, name: &str) -> Value {
        let text = self.run(&["get", kind, name, "-o", "json", "--ignore-not-found"]);
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }
}
