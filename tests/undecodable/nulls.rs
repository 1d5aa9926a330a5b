//! Nulls are dropped by the API server, unless the schema is nullable.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "nulls.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde(default)]
    dropped: u8,
    #[serde(default)]
    list: Vec<u8>,
    #[serde(default)]
    #[schemars(extend("nullable" = true))]
    kept: u8,
    #[serde(default)]
    #[schemars(with = "Vec<Option<u8>>")]
    items: Vec<u8>,
}
