use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsUnevidentWhereNotNeeded")]
pub struct Spec {
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Inner {
    pub a: u8,
    #[serde(skip, default = "now")]
    pub made: u64,
}

fn now() -> u64 {
    std::process::id().into()
}

impl Default for Inner {
    fn default() -> Self {
        Inner { a: 1, made: now() }
    }
}
