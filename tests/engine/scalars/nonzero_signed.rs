use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsNonzeroSigned")]
pub struct Spec {
    pub i8: std::num::NonZeroI8,
    pub i16: std::num::NonZeroI16,
    pub i32: std::num::NonZeroI32,
    pub i64: std::num::NonZeroI64,
    pub i128: std::num::NonZeroI128,
    pub isize: std::num::NonZeroIsize,
}
