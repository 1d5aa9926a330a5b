#![allow(clippy::large_enum_variant)]

use chrono::{DateTime, Utc};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use super::hooks::{BackupHook, RestoreHook};

pub const GROUP: &str = "backup.vault.example";

// The derive wants a literal, not `GROUP`.
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "backup.vault.example", version = "v1", kind = "Backup", namespaced, status = "BackupStatus")]
#[kube(shortname = "bk")]
#[kube(printcolumn = r#"{"name": "Status", "type": "string", "description": "How it goes", "jsonPath": ".status.phase"}"#)]
#[kube(printcolumn = r#"{"name": "Expires", "type": "date", "jsonPath": ".status.expiration", "priority": 10}"#)]
#[serde(rename_all = "camelCase")]
pub struct BackupSpec {
    #[serde(flatten)]
    pub selection: Selection,
    pub storage_location: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume_snapshot_locations: Vec<String>,
    /// Time to live.
    #[serde(default = "ttl")]
    pub ttl: String,
    #[serde(default)]
    pub hooks: BackupHooks,
    pub include_cluster_resources: Option<bool>,
    #[serde(default = "default_true")]
    pub snapshot_volumes: bool,
    #[serde(default)]
    pub ordered_resources: HashMap<String, String>,
    #[serde(default, rename = "metadata")]
    pub template_metadata: Option<Metadata>,
    #[serde(default)]
    pub upload: UploaderConfig,
}

fn ttl() -> String {
    "720h0m0s".into()
}

const fn default_true() -> bool {
    true
}

/// The contents of a backup. Both lists can have `*`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included_namespaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_namespaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included_resources: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_resources: Vec<String>,
    pub label_selector: Option<LabelSelector>,
    pub or_label_selectors: Option<Vec<LabelSelector>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupHooks {
    #[serde(default)]
    pub resources: Vec<BackupHook>,
}

/// Labels of the backup's own objects.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    pub labels: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UploaderConfig {
    pub parallel_files_upload: u16,
    #[serde(rename = "writeSparseFiles")]
    pub sparse: bool,
    pub engine: Engine,
    #[serde(skip)]
    pub resolved: Option<String>,
}

impl Default for UploaderConfig {
    fn default() -> Self {
        UploaderConfig { parallel_files_upload: 2 * CORES, sparse: false, engine: Engine::Kopia, resolved: None }
    }
}

const CORES: u16 = 2;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Restic,
    Kopia,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub enum ErrorMode {
    Continue,
    #[default]
    Fail,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    pub version: i32,
    pub format_version: Option<String>,
    pub phase: BackupPhase,
    pub expiration: Option<DateTime<Utc>>,
    pub start_timestamp: Option<DateTime<Utc>>,
    pub completion_timestamp: Option<DateTime<Utc>>,
    #[serde(default)]
    pub validation_errors: Vec<String>,
    #[serde(default)]
    pub progress: Progress,
    #[serde(default)]
    pub warnings: u32,
    #[serde(default)]
    pub errors: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub total_items: u64,
    pub items_backed_up: u64,
}

/// Progress of a backup.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub enum BackupPhase {
    /// Nobody has looked at it yet.
    New,
    /// The specification is wrong.
    FailedValidation,
    InProgress,
    /// Some items failed.
    PartiallyFailed,
    Failed,
    Completed,
}

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "backup.vault.example", version = "v1", kind = "Restore", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct RestoreSpec {
    pub backup_name: Option<String>,
    pub schedule_name: Option<String>,
    #[serde(flatten)]
    pub selection: Selection,
    /// From the names of namespaces to those that they get.
    #[serde(default)]
    pub namespace_mapping: BTreeMap<String, String>,
    #[serde(rename = "restorePVs", skip_serializing_if = "Option::is_none")]
    pub restore_pvs: Option<bool>,
    pub existing_resource_policy: Option<ExistingResourcePolicy>,
    #[serde(default)]
    pub hooks: Vec<RestoreHook>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExistingResourcePolicy {
    None,
    Update,
}

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "backup.vault.example",
    version = "v1",
    kind = "Schedule",
    namespaced,
    status = "ScheduleStatus",
    selectable = ".spec.paused",
    category = "all",
    category = "backup"
)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleSpec {
    pub template: BackupSpec,
    #[schemars(length(min = 9), example = &"0 7 * * *")]
    pub schedule: String,
    #[serde(default)]
    pub paused: bool,
    #[serde(default)]
    pub use_owner_references_in_backup: Option<bool>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleStatus {
    pub phase: Option<String>,
    pub last_backup: Option<DateTime<Utc>>,
}

impl From<&Schedule> for Backup {
    fn from(schedule: &Schedule) -> Self {
        let name = schedule.metadata.name.clone();
        Backup { metadata: ObjectMeta { name, ..Default::default() }, spec: schedule.spec.template.clone(), status: None }
    }
}
