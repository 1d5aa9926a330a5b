use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsDeprecated")]
pub struct Spec {
    #[deprecated]
    pub x: Option<u8>,
    #[deprecated(note = "use x")]
    pub y: Option<u8>,
}
