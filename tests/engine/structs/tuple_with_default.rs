use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsTupleWithDefault")]
pub struct Spec {
    pub pair: Pair,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair(pub u8, #[serde(default)] pub Option<u8>);
