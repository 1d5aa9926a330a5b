use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipDeserializing")]
pub struct Spec {
    #[serde(skip_deserializing)]
    pub x: u8,
    pub y: u8,
}
