use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsExternalNewtypes")]
pub struct Spec {
    pub source: Source,
    pub list: Vec<Source>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Source {
    Inline(Inline),
    /// By name.
    Name(String),
}

/// Words of the inner type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inline {
    /// The text.
    pub text: String,
}
