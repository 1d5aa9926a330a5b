use std::collections::{BTreeMap, HashMap};

use k8s_openapi::api::core::v1::{PodTemplateSpec, ResourceRequirements, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ReplicaType {
    Master,
    Worker,
    #[serde(rename = "PS")]
    ParameterServer,
    Evaluator,
}

/// Replicas by what they do.
pub type ReplicaSpecs = BTreeMap<ReplicaType, ReplicaSpec>;

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "learn.example.ai",
    version = "v1",
    kind = "TrainingJob",
    namespaced,
    status = "JobStatus",
    shortname = "tj",
    category = "ml",
    printcolumn(name = "State", type_ = "string", json_path = ".status.conditions[-1:].type"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct TrainingJobSpec {
    #[serde(default)]
    pub run_policy: RunPolicy,
    pub replica_specs: ReplicaSpecs,
    #[serde(default)]
    pub elastic: Option<ElasticPolicy>,
    pub framework: Framework,
    #[serde(default)]
    pub datasets: Vec<Dataset>,
    /// Checkpoints, by step.
    pub checkpoint: Option<Checkpoint>,
    #[serde(default)]
    pub hyperparameters: HashMap<String, Parameter>,
}

#[derive(Debug, Clone, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSpec {
    #[x_kube(validation = ("self > 0", "at least one"))]
    #[serde(default = "default_replicas")]
    pub replicas: i32,
    pub template: PodTemplateSpec,
    #[serde(default)]
    pub restart_policy: RestartPolicy,
}

fn default_replicas() -> i32 {
    1
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub enum RestartPolicy {
    Always,
    #[default]
    OnFailure,
    Never,
    /// By the exit code: 1 to 127 stays, 128 to 255 is tried again.
    ExitCode,
}

/// The policy of a whole job.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunPolicy {
    pub clean_pod_policy: CleanPodPolicy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds_after_finished: Option<i32>,
    pub active_deadline_seconds: Option<i64>,
    #[schemars(range(min = 0, max = 100))]
    pub backoff_limit: i32,
    pub scheduling: SchedulingPolicy,
    pub suspend: bool,
}

impl Default for RunPolicy {
    fn default() -> Self {
        Self {
            clean_pod_policy: CleanPodPolicy::Running,
            ttl_seconds_after_finished: None,
            active_deadline_seconds: None,
            backoff_limit: 3,
            scheduling: SchedulingPolicy::default(),
            suspend: false,
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum CleanPodPolicy {
    All,
    Running,
    None,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingPolicy {
    pub min_available: Option<i32>,
    pub queue: String,
    pub min_resources: BTreeMap<String, Quantity>,
    pub priority_class: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.minReplicas <= self.maxReplicas").message("minReplicas must not be above maxReplicas").field_path(".minReplicas"))]
pub struct ElasticPolicy {
    #[schemars(range(min = 1))]
    pub min_replicas: i32,
    #[schemars(range(min = 1))]
    pub max_replicas: i32,
    #[serde(rename = "rdzvBackend", default)]
    pub rendezvous: Rendezvous,
    pub max_restarts: Option<i32>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub enum Rendezvous {
    #[serde(rename = "c10d")]
    #[default]
    C10d,
    #[serde(rename = "etcd")]
    Etcd,
    #[serde(rename = "etcd-v2")]
    EtcdV2,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Framework {
    PyTorch { version: String, #[serde(rename = "nprocPerNode")] processes: Option<String> },
    Jax(Jax),
    Custom {},
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Jax {
    pub coordinator_port: Option<u16>,
    #[serde(default)]
    pub xla_flags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dataset {
    pub name: String,
    pub volume: Volume,
    pub mount: VolumeMount,
    #[serde(default)]
    pub read_only: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    pub every_steps: u64,
    #[serde(default = "Checkpoint::keep")]
    pub keep: usize,
    pub resources: Option<ResourceRequirements>,
}

impl Checkpoint {
    const KEEP: usize = 1 << 2;

    fn keep() -> usize {
        Self::KEEP + 1
    }
}

/// A number or a text, kept as a text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub struct Parameter {
    text: String,
    number: Option<f64>,
}

impl From<String> for Parameter {
    fn from(text: String) -> Self {
        let number = text.parse().ok();
        Self { text, number }
    }
}

impl From<Parameter> for String {
    fn from(parameter: Parameter) -> Self {
        parameter.text
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    #[serde(default)]
    pub replica_statuses: BTreeMap<ReplicaType, ReplicaStatus>,
    pub start_time: Option<Time>,
    pub completion_time: Option<Time>,
    pub last_reconcile_time: Option<Time>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReplicaStatus {
    #[serde(default)]
    pub active: i32,
    #[serde(default)]
    pub succeeded: i32,
    #[serde(default)]
    pub failed: i32,
    pub selector: Option<String>,
}
