use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsValueInAMap")]
pub struct Spec {
    pub map: BTreeMap<String, Vec<serde_json::Value>>,
}
