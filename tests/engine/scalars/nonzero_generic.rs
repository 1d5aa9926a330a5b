use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZero;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsNonzeroGeneric")]
pub struct Spec {
    pub byte: NonZero<u8>,
    pub maybe: Option<NonZero<i64>>,
}
