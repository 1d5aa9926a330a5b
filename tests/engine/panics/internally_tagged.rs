use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsInternallyTagged")]
pub struct Spec {
    pub x: u8,
    pub storage: Option<Storage>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Storage {
    Disk { path: String },
    Bucket { name: String },
}
