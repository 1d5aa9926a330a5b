use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameField")]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    #[serde(rename = "other")]
    pub x: u8,
    #[serde(rename = "with-dash")]
    pub y: Option<u8>,
}
