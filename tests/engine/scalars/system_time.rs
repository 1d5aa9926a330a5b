use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsSystemTime")]
pub struct Spec {
    pub value: std::time::SystemTime,
    pub maybe: Option<std::time::SystemTime>,
}
