use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsNonzeroUnsigned")]
pub struct Spec {
    pub u8: std::num::NonZeroU8,
    pub u16: std::num::NonZeroU16,
    pub u32: std::num::NonZeroU32,
    pub u64: std::num::NonZeroU64,
    pub u128: std::num::NonZeroU128,
    pub usize: std::num::NonZeroUsize,
}
