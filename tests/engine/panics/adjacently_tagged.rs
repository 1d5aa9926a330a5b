use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "PanicsAdjacentlyTagged")]
pub struct Spec {
    pub volume: Volume,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Volume {
    pub storage: Vec<Storage>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", content = "value")]
pub enum Storage {
    Disk(String),
    Bucket { name: String },
}
