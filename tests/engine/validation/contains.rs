use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationContains")]
pub struct Spec {
    #[schemars(contains(pattern = "x.y"))]
    pub named: String,
    #[schemars(contains("a|b"))]
    pub bare: String,
}
