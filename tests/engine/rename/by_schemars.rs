use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameBySchemars")]
pub struct Spec {
    #[serde(rename = "a")]
    #[schemars(rename = "b")]
    pub x: u8,
    #[serde(rename = "elsewhere")]
    #[schemars(!rename)]
    pub unset: bool,
}
