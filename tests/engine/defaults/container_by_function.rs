use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsContainerByFunction")]
pub struct Spec {
    pub container: Container,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default = "made")]
pub struct Container {
    pub x: u8,
    pub y: Option<u8>,
}

fn made() -> Container {
    Container { x: 3, y: None }
}
