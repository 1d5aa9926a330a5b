use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsTitle")]
pub struct Spec {
    /// # A title
    ///
    /// And a description
    /// over two lines.
    pub x: u8,
    /// # Only a title
    pub y: u8,
    /// Not # a title
    pub z: u8,
}
