use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsHashSet")]
pub struct Spec {
    pub set: std::collections::HashSet<i64>,
    pub maybe: Option<std::collections::HashSet<String>>,
}
