use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationRequired")]
pub struct Spec {
    #[schemars(required)]
    pub needed: Option<String>,
    #[schemars(required)]
    pub inner: Option<Inner>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
