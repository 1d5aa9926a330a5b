use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsExternalStructs")]
pub struct Spec {
    /// The source of it all.
    pub source: Source,
    pub maybe: Option<Source>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Source {
    /// From git.
    Git { url: String, depth: Option<u32> },
    Inline { text: String },
}
