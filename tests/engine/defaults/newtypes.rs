use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsNewtypes")]
pub struct Spec {
    #[serde(default)]
    pub port: Port,
    #[serde(default = "other")]
    pub other: Port,
    #[serde(default)]
    pub unit: Unit,
    #[serde(default)]
    pub pair: Pair,
    #[serde(default)]
    pub wrapped: Wrapped,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Port(pub u16);

impl Default for Port {
    fn default() -> Self {
        Self(80)
    }
}

fn other() -> Port {
    Port(443)
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Unit;

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Pair(pub u8, pub String);

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Wrapped {
    pub only: Option<u8>,
}
