use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsInclude")]
pub struct Spec {
    #[doc = include_str!("../words.md")]
    pub x: u8,
    /// Before.
    #[doc = include_str!("../words.md")]
    pub y: u8,
}
