use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenJsonValue")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub rest: serde_json::Value,
}
