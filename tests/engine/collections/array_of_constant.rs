use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CollectionsArrayOfConstant")]
pub struct Spec {
    pub list: [u8; LENGTH],
    pub computed: [u8; LENGTH * 2 + 1],
}

pub const LENGTH: usize = 1 << 2;
