use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsEnumeration")]
pub struct Spec {
    pub one: Either<u8, String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Either<L, R> {
    Left { left: L },
    Right { right: Option<R> },
}
