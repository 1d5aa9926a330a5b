use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsBounds")]
pub struct Spec {
    pub value: Outer<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T>
where
    T: Clone + std::fmt::Debug,
{
    pub value: T,
}
