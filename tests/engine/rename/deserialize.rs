use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameDeserialize")]
pub struct Spec {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    pub x: u8,
    #[serde(rename(serialize = "only_out"))]
    pub y: u8,
}
