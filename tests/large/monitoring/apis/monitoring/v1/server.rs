use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Duration, SafeTls};

#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "monitoring.rust.example",
    version = "v1",
    kind = "Prometheus",
    plural = "prometheuses",
    namespaced,
    status = "PrometheusStatus",
    shortname = "prom",
    scale = r#"{"specReplicasPath":".spec.shards","statusReplicasPath":".status.shards","labelSelectorPath":".status.selector"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusSpec {
    #[serde(default)]
    pub pod_metadata: Option<EmbeddedObjectMetadata>,
    pub service_monitor_selector: Option<LabelSelector>,
    pub rule_selector: Option<LabelSelector>,
    pub version: Option<String>,
    #[serde(default = "one")]
    pub shards: i32,
    #[serde(default = "one")]
    pub replicas: i32,
    #[serde(default = "Duration::half_a_minute")]
    pub scrape_interval: Duration,
    pub retention: Option<Duration>,
    #[serde(default)]
    pub external_labels: BTreeMap<String, String>,
    pub storage: Option<StorageSpec>,
    #[serde(default)]
    pub remote_write: Vec<RemoteWrite>,
    /// Patched over those that the operator makes.
    #[serde(default)]
    pub containers: Vec<core::Container>,
    #[serde(default)]
    pub volumes: Vec<core::Volume>,
    pub security_context: Option<core::PodSecurityContext>,
    #[serde(default)]
    pub enable_features: Vec<String>,
}

const fn one() -> i32 {
    1
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
pub struct EmbeddedObjectMetadata {
    pub name: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    pub annotations: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageSpec {
    #[serde(default)]
    pub disable_mount_sub_path: bool,
    pub empty_dir: Option<core::EmptyDirVolumeSource>,
    pub volume_claim_template: Option<EmbeddedClaim>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct EmbeddedClaim {
    pub metadata: Option<EmbeddedObjectMetadata>,
    pub spec: core::PersistentVolumeClaimSpec,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteWrite {
    #[schemars(url)]
    pub url: String,
    pub tls_config: Option<SafeTls>,
    #[serde(default)]
    pub queue_config: QueueConfig,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct QueueConfig {
    pub capacity: u32,
    pub min_shards: u32,
    pub max_shards: u32,
    pub retry_on_rate_limit: bool,
    pub batch_send_deadline: Duration,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            capacity: 10_000,
            min_shards: 1,
            max_shards: 50,
            retry_on_rate_limit: false,
            batch_send_deadline: Duration("5s".to_string()),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusStatus {
    pub paused: bool,
    pub replicas: i32,
    pub shards: i32,
    pub selector: Option<String>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
    #[serde(default)]
    pub shard_statuses: BTreeMap<String, ShardStatus>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShardStatus {
    pub available_replicas: i32,
    pub unavailable_replicas: i32,
}
