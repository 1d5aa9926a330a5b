//! Fields that serde requires, and the schema does not.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "required.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(default = "two")]
    defaulted: u8,
    #[serde(default)]
    filled: u8,
    #[schemars(with = "Option<u8>")]
    optional: u8,
    #[schemars(with = "Inner")]
    inner: Option<Wider>,
}

fn two() -> u8 {
    2
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    a: Option<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Wider {
    a: u8,
}
