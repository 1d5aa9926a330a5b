use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenNewtype")]
pub struct Spec {
    #[serde(flatten)]
    pub common: Outer,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer(pub Common);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Common {
    pub by: String,
}
