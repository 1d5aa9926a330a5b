use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsAttribute")]
pub struct Spec {
    #[doc = "said by an attribute"]
    pub x: u8,
    #[doc = " One space less."]
    /// And a line.
    pub y: u8,
    #[doc(hidden)]
    pub hidden: u8,
}
