use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsDefaultOfParameter")]
pub struct Spec {
    pub one: Outer<u8>,
    pub other: Outer<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T: Default> {
    #[serde(default)]
    pub inner: T,
}
