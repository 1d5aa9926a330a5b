//! `uint32` is a format that the API server does not know.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "unsigned.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<u8>,
    b: Option<u16>,
    c: Option<u32>,
    d: Option<u64>,
    e: Option<usize>,
    f: Option<u128>,
}
