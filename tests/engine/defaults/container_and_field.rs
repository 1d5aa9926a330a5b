use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsContainerAndField")]
pub struct Spec {
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Inner {
    #[serde(default)]
    pub a: u8,
    pub b: u8,
    #[serde(skip)]
    pub c: u8,
    #[schemars(!default)]
    #[serde(default = "nine")]
    pub d: u8,
}

fn nine() -> u8 {
    9
}

impl Default for Inner {
    fn default() -> Self {
        Inner { a: 1, b: 2, c: 3, d: 4 }
    }
}
