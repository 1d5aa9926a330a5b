use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsWithDefaultFields")]
pub struct Spec {
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice {
    A {
        #[serde(default)]
        x: u8,
        #[serde(default = "five", skip_serializing_if = "Option::is_none")]
        y: Option<u8>,
    },
    B {
        z: Option<u8>,
    },
}

fn five() -> Option<u8> {
    Some(5)
}
