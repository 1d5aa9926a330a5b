use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsConcat")]
pub struct Spec {
    #[doc = concat!("made of ", "parts, ", 2, " of them")]
    pub x: u8,
}
