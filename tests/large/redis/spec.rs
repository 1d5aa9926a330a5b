use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolumeClaimSpec, Probe, ResourceRequirements, SecretKeySelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{defaults, defaults::port, status};

/// A cache, with sentinels or as a cluster.
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "cache.example.tech", version = "v1beta2", kind = "Redis", plural = "redises", namespaced)]
#[kube(status = "status::RedisStatus", derive = "PartialEq", shortname = "rd")]
#[kube(scale(
    spec_replicas_path = ".spec.replicas",
    status_replicas_path = ".status.replicas",
    label_selector_path = ".status.selector",
))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedisSpec {
    #[serde(default)]
    pub image: Image,
    #[serde(default = "defaults::replicas")]
    #[schemars(range(min = 1, max = 2 * defaults::REPLICAS + 1))]
    pub replicas: u8,
    #[serde(default = "port::redis")]
    pub port: u16,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub sentinel: Sentinel,
    #[serde(default)]
    pub memory: Memory,
    #[serde(default)]
    pub persistence: Option<Persistence>,
    /// `redis.conf`; later lines win.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretKeySelector>,
    #[serde(default)]
    pub resources: ResourceRequirements,
    #[serde(default)]
    pub liveness_probe: Option<Probe>,
    #[serde(default)]
    pub exporter: Exporter,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    #[serde(default = "defaults::image::repository")]
    pub repository: String,
    #[serde(default = "defaults::image::tag")]
    pub tag: String,
    #[serde(default)]
    pub pull_policy: PullPolicy,
}

impl Default for Image {
    fn default() -> Self {
        Self {
            repository: defaults::image::repository(),
            tag: defaults::image::tag(),
            pull_policy: PullPolicy::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum PullPolicy {
    Always,
    #[default]
    IfNotPresent,
    Never,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One alone.
    Standalone,
    /// One that writes, and copies of it.
    #[default]
    Sentinel,
    /// Slots over several.
    Cluster,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sentinel {
    pub quorum: u8,
    pub port: u16,
    pub down_after_milliseconds: u32,
    pub parallel_syncs: u8,
}

impl Default for Sentinel {
    fn default() -> Self {
        Self {
            quorum: defaults::quorum(),
            port: port::SENTINEL,
            down_after_milliseconds: 5 * 1_000,
            parallel_syncs: 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    #[schemars(range(min = 1.0, max = 100.0))]
    #[serde(default = "defaults::max_memory_percent")]
    pub max_percent: f32,
    #[serde(default)]
    pub eviction: Eviction,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { max_percent: defaults::MAX_MEMORY_PERCENT, eviction: Eviction::AllKeysLru }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    #[serde(rename = "noeviction")]
    None,
    #[serde(rename = "allkeys-lru")]
    AllKeysLru,
    VolatileTtl,
}

impl Default for Eviction {
    fn default() -> Eviction {
        Eviction::AllKeysLru
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Persistence {
    pub claim: PersistentVolumeClaimSpec,
    #[serde(default = "defaults::yes")]
    pub append_only: bool,
    #[serde(default = "defaults::save", skip_serializing_if = "Vec::is_empty")]
    pub save: Vec<Save>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Save {
    pub seconds: u32,
    pub changes: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Exporter {
    #[serde(default)]
    pub enabled: bool,
    #[serde(flatten)]
    pub args: BTreeMap<String, String>,
}

/// A user of the access control list.
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "cache.example.tech", version = "v1beta2", kind = "RedisUser", namespaced)]
pub struct RedisUserSpec {
    pub redis: String,
    #[serde(default = "defaults::commands")]
    pub commands: Vec<String>,
    #[serde(default)]
    #[schemars(inner(length(min = 1), pattern(r"^(~|%R~|%W~|%RW~)")))]
    pub keys: Vec<String>,
}
