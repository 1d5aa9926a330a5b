//! The cluster itself.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, EnvVar, ResourceRequirements, SecretKeySelector, Toleration};
use k8s_openapi::api::core::v1::{PersistentVolumeClaimSpec, TopologySpreadConstraint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backup::BackupConfiguration;

/// Highest number of instances that the operator has been tested with.
pub const MAX_INSTANCES: i32 = 1 << 4;

/// A PostgreSQL cluster with one primary and any number of standbys.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "postgres.acme.io",
    version = "v1",
    kind = "Postgres",
    plural = "postgreses",
    shortname = "pg",
    category = "databases",
    namespaced,
    status = "PostgresStatus",
    storage = false,
    scale(
        spec_replicas_path = ".spec.instances",
        status_replicas_path = ".status.readyInstances",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Version", type_ = "integer", json_path = ".spec.version"),
    printcolumn(name = "Primary", type_ = "string", json_path = ".status.primary", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct PostgresSpec {
    /// Major version.
    #[schemars(range(min = 13, max = 17))]
    pub version: u8,
    #[serde(default = "PostgresSpec::default_instances")]
    #[schemars(range(min = 1, max = MAX_INSTANCES))]
    pub instances: i32,
    /// The claim of each instance. Its size can grow, but not shrink.
    pub storage: PersistentVolumeClaimSpec,
    /// `postgresql.conf`, less what the operator sets itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    #[serde(default)]
    pub replication: Replication,
    #[serde(default)]
    pub scheduling: Scheduling,
    #[serde(default)]
    pub superuser_secret: Option<SecretKeySelector>,
    /// Databases that are made when the cluster is.
    #[serde(default)]
    pub databases: Vec<Database>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupConfiguration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
}

impl PostgresSpec {
    fn default_instances() -> i32 {
        3
    }

    pub fn is_highly_available(&self) -> bool {
        self.instances > 1 && !matches!(self.replication.mode, ReplicationMode::Async)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Replication {
    pub mode: ReplicationMode,
    /// Number of standbys that must have a transaction before it counts as committed.
    #[schemars(range(min = 0))]
    pub min_sync_replicas: i32,
    pub slots: bool,
}

impl Default for Replication {
    fn default() -> Self {
        Self { mode: ReplicationMode::default(), min_sync_replicas: 0, slots: true }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum ReplicationMode {
    /// A commit waits for nobody.
    #[default]
    Async,
    /// A commit waits for a quorum of standbys.
    Quorum,
    /// A commit waits for the standby of the highest priority.
    Priority,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Scheduling {
    #[serde(default)]
    pub resources: ResourceRequirements,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Database {
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z_][a-z0-9_$]*$"))]
    pub name: String,
    pub owner: String,
    #[serde(default = "utf8")]
    pub encoding: String,
    #[serde(default)]
    pub extensions: Vec<Extension>,
}

fn utf8() -> String {
    String::from("UTF8")
}

/// By its name, or with a version.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Extension {
    pub name: String,
    pub version: Option<String>,
    pub schema: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostgresStatus {
    #[serde(default)]
    pub ready_instances: i32,
    pub primary: Option<String>,
    pub selector: Option<String>,
    #[serde(default)]
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    pub observed_generation: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Phase {
    #[default]
    Pending,
    Creating,
    Running,
    FailingOver,
    Failed,
}
