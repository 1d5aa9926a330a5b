//! An `i32` without a format has no limits in the schema.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "without-format.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(with = "i64")]
    a: Option<i32>,
    #[schemars(with = "i64", range(min = 0))]
    b: Option<i16>,
}
