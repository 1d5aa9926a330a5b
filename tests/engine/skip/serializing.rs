use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipSerializing")]
pub struct Spec {
    #[serde(skip_serializing)]
    pub x: u8,
    #[serde(skip_serializing, default)]
    pub y: u8,
}
