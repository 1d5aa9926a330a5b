use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsParameter")]
pub struct Spec {
    pub one: Pair<String, Inner>,
    pub defaulted: Pair<u8>,
    pub maybe: Pair<Option<u8>, Option<Inner>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair<A, B = i32> {
    pub left: A,
    pub right: Vec<B>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
