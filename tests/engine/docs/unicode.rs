use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsUnicode")]
pub struct Spec {
    /// Größe – „viel“ ✓ \n no escape, "quotes" and 'more': yes
    pub x: u8,
}
