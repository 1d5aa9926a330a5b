use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsBlock")]
pub struct Spec {
    /** One line. */
    pub x: u8,
    /**
     * Stars
     * in lines.
     */
    pub y: u8,
    /**
        Indented
        block.
    */
    pub z: u8,
}
