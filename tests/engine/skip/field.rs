use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipField")]
pub struct Spec {
    pub x: u8,
    #[serde(skip)]
    pub y: u8,
    #[schemars(skip)]
    #[serde(default)]
    pub z: u8,
}
