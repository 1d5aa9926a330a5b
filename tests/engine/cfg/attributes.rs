use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgAttributes")]
pub struct Spec {
    #[cfg_attr(all(), serde(rename = "viaCfgAttr"))]
    pub renamed: String,
    #[cfg_attr(feature = "off", serde(rename = "never"))]
    pub kept: String,
    #[cfg_attr(feature = "on", schemars(range(max = 3)), serde(default))]
    pub two: u8,
    #[cfg_attr(feature = "on", doc = "Words.")]
    pub described: u8,
}
