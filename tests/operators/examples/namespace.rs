//! A namespace for the objects of a user, and what kubectl does in it.

use std::process::Output;

use serde_json::Value;

use crate::control_plane::ControlPlane;

/// Its Pods must pass the Pod Security Standard "restricted".
pub struct Namespace<'a>(&'a ControlPlane);

impl<'a> Namespace<'a> {
    pub fn create(cluster: &'a ControlPlane) -> Self {
        cluster.kubectl(&["create", "namespace", "zoo"], "");
        cluster.kubectl(&["label", "namespace", "zoo", "pod-security.kubernetes.io/enforce=restricted"], "");
        Self(cluster)
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(&[&["-n", "zoo"], arguments].concat(), "")
    }

    pub fn apply(&self, object: &Value) {
        self.0.kubectl(&["-n", "zoo", "apply", "-f", "-"], &object.to_string());
    }

    pub fn try_apply(&self, object: &Value) -> Output {
        self.0.run(&["-n", "zoo", "apply", "-f", "-"], &object.to_string())
    }

    /// An object; null when there is none.
    pub fn get(&self, kind: &str, name: &str) -> Value {
        let text = self.run(&["get", kind, name, "-o", "json", "--ignore-not-found"]);
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }
}
