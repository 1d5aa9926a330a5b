use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsDocumentedType")]
pub struct Spec {
    pub plain: Plain,
    pub maybe: Option<Plain>,
    /// Words of the field.
    pub described: Plain,
}

/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Plain {
    One,
    Two,
}
