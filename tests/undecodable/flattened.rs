//! Flattened structs, a map that takes the rest, and an `Option` that takes what does not fit as `None`.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "flattened.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    optional: Option<Optional>,
    nested: Option<Nested>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    count: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Optional {
    size: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Nested {
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, u8>,
}
