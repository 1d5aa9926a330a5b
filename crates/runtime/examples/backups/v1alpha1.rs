//! `Backup` in `cache.example.com/v1alpha1`: with other names and formats than v1, and a field that v1 lacks.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The targets to copy to, and the settings of the copies.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    storage = false,
    kind = "Backup",
    namespaced,
    status = "BackupStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct BackupSpec {
    #[serde(default)]
    pub suspend: bool,
    /// In seconds, such as `30s`.
    #[serde(default = "at_once")]
    #[schemars(regex(pattern = "^[0-9]{1,10}s$"))]
    pub timeout: String,
    pub replicas: Option<i32>,
    pub storage_class: Option<String>,
    #[serde(default)]
    pub targets: Vec<Target>,
    /// Not available in v1.
    pub note: Option<String>,
}

fn at_once() -> String {
    "0s".to_owned()
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub bucket: String,
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    pub observed_generation: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
