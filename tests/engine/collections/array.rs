use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsArray")]
pub struct Spec {
    pub three: [u8; 3],
    pub none: [String; 0],
    pub most: [bool; 32],
}
