use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsOfTheSpec")]
#[serde(default)]
pub struct Spec {
    pub x: u8,
    pub y: Option<String>,
}
