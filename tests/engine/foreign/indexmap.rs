use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignIndexmap")]
pub struct Spec {
    pub map: indexmap::IndexMap<String, u8>,
    pub set: indexmap::IndexSet<String>,
}
