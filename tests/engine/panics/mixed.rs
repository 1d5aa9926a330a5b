use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsMixed")]
pub struct Spec {
    pub storage: Storage,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Storage {
    Memory,
    Bucket { name: String },
}
