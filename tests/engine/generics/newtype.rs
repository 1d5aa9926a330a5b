use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsNewtype")]
pub struct Spec {
    pub value: Outer<Inner>,
    pub maybe: Outer<Option<Inner>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T>(pub Vec<T>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
