use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersOption")]
pub struct Spec {
    pub one: Option<u8>,
    pub two: Option<Option<u8>>,
    pub of_list: Option<Vec<Option<bool>>>,
}
