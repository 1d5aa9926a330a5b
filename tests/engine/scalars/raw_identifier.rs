use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsRawIdentifier")]
pub struct Spec {
    pub r#type: String,
    pub r#match: Option<u8>,
}
