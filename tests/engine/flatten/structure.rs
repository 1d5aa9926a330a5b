use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenStructure")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub common: Common,
}

/// Words that leak.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Common {
    /// Who.
    pub by: String,
    pub when: Option<u8>,
}
