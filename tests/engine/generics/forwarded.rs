use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsForwarded")]
pub struct Spec {
    pub outer: Outer<u8, String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<A, B> {
    pub one: Inner<B, A>,
    pub two: Inner<A>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner<A, B = Vec<A>> {
    pub a: A,
    pub b: B,
}
