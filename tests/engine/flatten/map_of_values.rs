use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenMapOfValues")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}
