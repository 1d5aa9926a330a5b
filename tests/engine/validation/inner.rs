use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationInner")]
pub struct Spec {
    #[schemars(length(max = 3), inner(length(max = 10), regex(pattern = "^a")))]
    pub list: Vec<String>,
    #[schemars(inner(range(max = 10)))]
    pub numbers: Option<Vec<u8>>,
    #[schemars(inner(inner(length(max = 1))))]
    pub nested: Vec<Vec<String>>,
}
