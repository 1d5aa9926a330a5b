use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsNested")]
pub struct Spec {
    /// The field's words.
    pub inner: Inner,
    pub undocumented: Inner,
    pub many: Vec<Inner>,
    pub maybe: Option<Inner>,
}

/// The type's words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
    pub deeper: Deeper,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Deeper {
    pub y: Option<u8>,
}
