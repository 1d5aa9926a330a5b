use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words of the spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenDocumented")]
pub struct Spec {
    #[serde(flatten)]
    pub common: Common,
}

/// Words that do not leak.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Common {
    pub by: String,
}
