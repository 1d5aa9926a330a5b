use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Images of another registry, kept here.
#[derive(kube::CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "images.example.oci", version = "v1alpha1", kind = "Mirror", namespaced)]
#[kube(status = "Status", deprecated)]
pub struct MirrorSpec {
    pub upstream: String,
    #[serde(default)]
    pub repositories: Vec<String>,
    /// Minutes.
    #[serde(default = "sixty")]
    pub interval: u32,
}

pub fn sixty() -> u32 {
    60
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Status {
    pub images: Option<u64>,
    pub bytes: Option<u64>,
}
