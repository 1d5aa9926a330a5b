use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DocsInnerType")]
pub struct Spec {
    /// Words of the field.
    pub a: Inner,
    pub b: Inner,
    pub c: Option<Inner>,
    /// More.
    pub d: Vec<Inner>,
}

/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
