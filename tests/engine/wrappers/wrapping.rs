use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersWrapping")]
pub struct Spec {
    pub wrapping: std::num::Wrapping<u16>,
    pub reverse: std::cmp::Reverse<i32>,
}
