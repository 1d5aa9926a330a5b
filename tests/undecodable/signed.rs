//! `int32` is a format that the API server knows; what is beyond an `i64` is no integer for it.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "signed.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<i8>,
    b: Option<i16>,
    c: Option<i32>,
    d: Option<i64>,
    e: Option<isize>,
    f: Option<i128>,
}
