use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsNewtypeWithDocumentedField")]
pub struct Spec {
    pub name: Name,
}

/// Outer words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Name(
    /// Inner words.
    pub String,
);
