//! `Backup` in `cache.example.com/v1`, the version that is stored.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The targets to copy to, and the settings of the copies.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(group = "cache.example.com", version = "v1", kind = "Backup", namespaced, status = "BackupStatus")]
#[serde(rename_all = "camelCase")]
pub struct BackupSpec {
    #[serde(default)]
    pub suspend: bool,
    #[serde(default)]
    #[schemars(range(max = u32::MAX))]
    pub timeout_seconds: u32,
    pub copies: Option<i32>,
    pub storage_class: Option<String>,
    #[serde(default)]
    pub targets: Vec<Target>,
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub bucket: String,
    /// Not available in v1alpha1.
    pub region: Option<String>,
}

#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    pub observed_generation: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
