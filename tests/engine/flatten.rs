use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Flat", no_spec, status = "FlatStatus", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct FlatSpec {
    pub own_field: String,
    #[serde(flatten)]
    pub common: Common,
    #[serde(flatten)]
    pub maybe: Option<Extra>,
}

/// What several kinds share.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Common {
    /// Who made it.
    pub made_by: String,
    pub maybe_when: Option<chrono::DateTime<chrono::Utc>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Extra {
    pub extra: u8,
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FlatStatus {
    #[serde(flatten)]
    pub phase: Phase,
    #[serde(flatten)]
    pub either: Option<Either>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "phase")]
pub enum Phase {
    Only { since: String },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Either {
    Left { left: i32 },
    Right { right: String },
}
