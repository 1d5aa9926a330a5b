use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "StructsEmpty")]
pub struct Spec {
    pub empty: Empty,
    pub denied: Denied,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Empty {}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Denied {}
