use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersBoxed")]
pub struct Spec {
    pub value: Box<i32>,
    pub maybe: Box<Option<i32>>,
    pub maybe_boxed: Option<Box<i32>>,
}
