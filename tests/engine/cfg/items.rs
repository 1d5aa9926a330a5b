use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgItems")]
pub struct Spec {
    pub inner: Inner,
    #[serde(default = "number")]
    pub number: u8,
}

#[cfg(feature = "off")]
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub never: u8,
}

#[cfg(not(feature = "off"))]
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}

#[cfg(windows)]
fn number() -> u8 {
    1
}

#[cfg(not(windows))]
fn number() -> u8 {
    2
}
