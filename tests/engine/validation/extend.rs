use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationExtend")]
pub struct Spec {
    #[schemars(extend("x-a" = [1, "two", { "three": null }], "x-b" = MOST, "maximum" = -1))]
    pub x: i32,
    #[schemars(extend("pattern" = concat!("^", "a")))]
    pub y: String,
}

const MOST: u8 = 3;
