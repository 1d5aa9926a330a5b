use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationOnFlattened")]
pub struct Spec {
    #[serde(flatten)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(title = "T", extend("x-a" = 1))]
pub struct Inner {
    #[schemars(range(max = 3))]
    pub x: u8,
}
