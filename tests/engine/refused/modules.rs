use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod absent;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Twice")]
pub struct TwiceSpec {
    pub x: u8,
}

mod other {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Twice")]
    pub struct TwiceSpec {
        pub x: u8,
    }
}
