use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsVec")]
pub struct Spec {
    pub list: Vec<String>,
    pub nested: Vec<Vec<Option<u8>>>,
    pub maybe: Option<Vec<i32>>,
}
