use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameAlias")]
pub struct Spec {
    #[serde(alias = "old", alias = "older")]
    pub x: u8,
}
