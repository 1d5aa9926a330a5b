use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[unknown::versioned(version(name = "v1alpha1"))]
pub mod versioned {
    #[versioned(crd(group = "test.example.com"))]
    #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    pub struct ThingSpec {
        pub x: u8,
    }
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "BesideAnAttributeMacro")]
pub struct BesideSpec {
    #[serde(default = "changed")]
    pub x: u8,
    #[doc = include_str!(concat!("a", ".md"))]
    pub y: u8,
}

#[unknown::changes]
fn changed() -> u8 {
    3
}
