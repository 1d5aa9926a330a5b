//! The status of an object for which Ansible runs.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The status of a kind that an [`AnsibleController`](super::AnsibleController) reconciles, for `#[kube(status = "AnsibleStatus")]`: it may
/// have any other field that a role sets. A kind may have a status type of its own with these fields and those of its role.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct AnsibleStatus {
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// `Ready` sums up the others: `Running`, `Successful` and `Failure`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The last run of Ansible.
    pub last_run: Option<Run>,
    /// The fields that the role has set.
    #[serde(flatten)]
    #[schemars(skip)]
    pub fields: BTreeMap<String, Value>,
}

/// A run of Ansible that has ended.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// A digest of the variables, the role and the settings: while it is the same, there is no need for another run.
    pub inputs: String,
    /// The time at which it ended.
    pub finished: String,
    /// The number of runs with these inputs that have failed, including the last one.
    #[serde(default)]
    pub failures: i64,
    /// The number of tasks that had nothing to do, or did it.
    #[serde(default)]
    pub ok: i64,
    /// The number of tasks that changed something.
    #[serde(default)]
    pub changed: i64,
    /// The number of tasks that were left out.
    #[serde(default)]
    pub skipped: i64,
    /// The time at which the role has asked to be run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The objects that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub dependents: Vec<Dependent>,
}

/// An object that a run made.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependent {
    /// The group and version of its kind.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// A value that changes with each write, except those of its status.
    pub version: String,
}
