//! Steps in Pods, one after the other or as a graph.

mod artifact;
mod template;

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, LocalObjectReference, PersistentVolumeClaim, Toleration, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

pub use self::artifact::{Artifact, ArtifactLocation};
pub use self::template::{Template, TemplateRef};

/// A claim, less its description.
pub struct AnyClaim;

impl JsonSchema for AnyClaim {
    fn schema_name() -> Cow<'static, str> {
        "AnyClaim".into()
    }
    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// Shared by both kinds.
#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Body {
    #[serde(default)]
    pub entrypoint: String,
    #[serde(default)]
    pub arguments: Arguments,
    #[serde(default)]
    pub templates: Vec<Template>,
    #[serde(default)]
    pub volumes: Vec<Volume>,
    #[serde(default)]
    #[schemars(with = "Vec<AnyClaim>")]
    pub volume_claim_templates: Vec<PersistentVolumeClaim>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<i64>,
    #[serde(default)]
    pub tolerations: Vec<Toleration>,
    pub affinity: Option<Affinity>,
    #[serde(default)]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    #[serde(rename = "onExit")]
    pub exit_handler: Option<String>,
    #[serde(rename = "ttlStrategy", default)]
    pub ttl: Ttl,
    #[serde(rename = "podGC", default)]
    pub pod_gc: PodGc,
}

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[kube(
    group = "flow.example.run",
    version = "v1alpha1",
    kind = "Workflow",
    namespaced,
    status = "WorkflowStatus",
    shortname = "wf",
    derive = "Default",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.phase"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowSpec {
    #[serde(flatten)]
    pub body: Body,
    pub suspend: Option<bool>,
    pub workflow_template_ref: Option<TemplateRef>,
    #[serde(default)]
    pub priority: i32,
}

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "flow.example.run", version = "v1alpha1", kind = "WorkflowTemplate", namespaced, shortname = "wftmpl")]
pub struct WorkflowTemplateSpec {
    #[serde(flatten)]
    pub body: Body,
    #[serde(default, rename = "workflowMetadata")]
    pub metadata: Option<Metadata>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct Metadata {
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct Arguments {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Parameter {
    pub name: String,
    /// Numbers and booleans are fine, too.
    #[schemars(schema_with = "any_scalar")]
    pub value: Option<serde_json::Value>,
    pub default: Option<String>,
    #[serde(rename = "enum", default)]
    pub values: Vec<String>,
    #[serde(rename = "valueFrom")]
    pub from: Option<ValueFrom>,
}

fn any_scalar(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true, "description": "a scalar" })
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ValueFrom {
    Path(String),
    JqFilter(String),
    Parameter(String),
    Supplied {},
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ttl {
    #[serde(default = "Ttl::week")]
    pub seconds_after_completion: i64,
    pub seconds_after_success: Option<i64>,
    pub seconds_after_failure: Option<i64>,
}

impl Ttl {
    const DAY: i64 = 24 * 60 * 60;

    fn week() -> i64 {
        7 * Self::DAY
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self { seconds_after_completion: 7 * Self::DAY, seconds_after_success: None, seconds_after_failure: None }
    }
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(default)]
pub struct PodGc {
    pub strategy: PodGcStrategy,
    #[serde(rename = "deleteDelayDuration")]
    pub delay: String,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, JsonSchema)]
pub enum PodGcStrategy {
    OnPodCompletion,
    OnPodSuccess,
    #[default]
    OnWorkflowCompletion,
    OnWorkflowSuccess,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStatus {
    pub phase: Option<Phase>,
    pub started_at: Option<Time>,
    pub finished_at: Option<Time>,
    #[serde(default)]
    pub nodes: BTreeMap<String, NodeStatus>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, JsonSchema)]
pub enum Phase {
    Pending,
    Running,
    Succeeded,
    Skipped,
    Failed,
    Error,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    pub id: String,
    pub display_name: String,
    pub phase: Option<Phase>,
    #[serde(default)]
    pub children: Vec<String>,
    #[serde(default)]
    pub resources_duration: BTreeMap<String, i64>,
}
