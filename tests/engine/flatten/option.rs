use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenOption")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub common: Option<Common>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Common {
    pub by: String,
}
