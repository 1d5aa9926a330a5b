use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "SkipSerializingIf")]
pub struct Spec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_all_the_same: Vec<u8>,
}
