use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsBranches")]
pub struct Spec {
    #[serde(default = "chosen")]
    pub chosen: u8,
}

const LARGE: bool = true;

fn chosen() -> u8 {
    if LARGE { 10 } else { 1 }
}
