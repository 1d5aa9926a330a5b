//! The attribute goes where the number is declared: a field, a newtype, a variant. One that many fields share is reported once.
use std::sync::Arc;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "nested.example.com", version = "v1", kind = "K")]
pub struct Spec {
    first: Option<Inner>,
    second: Option<Vec<Inner>>,
    newtype: Option<Port>,
    third: Option<Port>,
    generic: Option<Of<u32>>,
    shared: Option<Arc<Box<u32>>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    count: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Port(u32);

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Of<T> {
    value: T,
}
