//! Bounds beyond those of the type.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "bounds-too-wide.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(range(min = -5, max = 300))]
    a: Option<u8>,
    #[schemars(range(max = 10_000_000_000_i64))]
    b: Option<u32>,
}
