use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An enum may be a spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsSpec")]
pub enum Spec {
    /// One.
    One { a: String },
    /// Two.
    Two { b: i32 },
}
