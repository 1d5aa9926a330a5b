//! Of what is not zero, only a `u32` has no maximum.
use std::num::{NonZeroI32, NonZeroU32, NonZeroU64};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "nonzero.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<NonZeroU32>,
    b: Option<NonZeroI32>,
    #[schemars(with = "Option<i32>")]
    c: Option<NonZeroI32>,
    #[schemars(with = "Option<u32>")]
    d: Option<NonZeroU32>,
    e: Option<NonZeroU64>,
}
