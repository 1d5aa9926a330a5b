use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaGenericField")]
pub struct Spec {
    pub outer: Outer<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T> {
    pub list: Vec<T>,
}
