use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::game_server::{self as server, GameServerSpec, Scheduling};

/// The name of a Fleet in the same namespace.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq, Eq, Hash)]
pub struct FleetRef(#[schemars(length(min = 1, max = 63))] pub String);

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(
    group = "play.example.gg",
    version = "v1",
    kind = "Fleet",
    namespaced,
    status = "FleetStatus",
    shortname = "flt",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas")
)]
#[serde(rename_all = "camelCase")]
pub struct FleetSpec {
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub replicas: i32,
    #[serde(default)]
    pub strategy: Strategy,
    #[serde(default)]
    pub scheduling: Scheduling,
    pub priorities: Option<Vec<Priority>>,
    pub template: Arc<Template>,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub struct Template {
    #[schemars(schema_with = "metadata")]
    pub metadata: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta>,
    pub spec: GameServerSpec,
}

fn metadata(_gen: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "nullable": true,
        "properties": {
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "annotations": { "type": "object", "additionalProperties": { "type": "string" } },
        }
    })
}

/// Replacement of servers.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Strategy {
    #[serde(rename = "type")]
    pub kind: StrategyType,
    pub rolling_update: Option<RollingUpdate>,
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy { kind: StrategyType::RollingUpdate, rolling_update: None }
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub enum StrategyType {
    Recreate,
    RollingUpdate,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct RollingUpdate {
    #[serde(default = "a_quarter")]
    pub max_surge: IntOrString,
    #[serde(default = "a_quarter")]
    pub max_unavailable: IntOrString,
}

fn a_quarter() -> IntOrString {
    IntOrString::String("25%".into())
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub struct Priority {
    #[serde(rename = "type")]
    pub what: What,
    pub key: String,
    pub order: Option<Order>,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy)]
pub enum What {
    Counter,
    List,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy)]
pub enum Order {
    Ascending,
    Descending,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(rename_all = "camelCase")]
pub struct FleetStatus {
    pub replicas: i32,
    pub ready_replicas: i32,
    pub reserved_replicas: i32,
    pub allocated_replicas: i32,
    pub counters: Option<std::collections::BTreeMap<String, server::Counter>>,
}
