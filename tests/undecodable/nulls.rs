//! Nulls are dropped by the API server, unless the schema is nullable.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "nulls.example.com", version = "v1", kind = "K")]
struct Spec {
    #[serde(default)]
    dropped: u8,
    #[serde(default)]
    list: Vec<u8>,
    #[serde(default)]
    #[schemars(extend("nullable" = true))]
    kept: u8,
    #[serde(default)]
    #[schemars(inner(extend("nullable" = true)))]
    items: Vec<u8>,
}
