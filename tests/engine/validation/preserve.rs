use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationPreserve")]
pub struct Spec {
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub free: BTreeMap<String, serde_json::Value>,
}
