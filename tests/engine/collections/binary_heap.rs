use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsBinaryHeap")]
pub struct Spec {
    pub heap: std::collections::BinaryHeap<u8>,
}
