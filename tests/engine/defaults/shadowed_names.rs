use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsShadowedNames")]
pub struct Spec {
    #[serde(default = "made")]
    pub value: u8,
    #[serde(default = "inner::made")]
    pub other: u8,
}

const SIZE: u8 = 1;

fn made() -> u8 {
    let SIZE_OF = SIZE + 1;
    let size = SIZE_OF + 1;
    let size = size * 2;
    size
}

mod inner {
    const SIZE: u8 = 7;

    pub fn made() -> u8 {
        SIZE
    }
}
