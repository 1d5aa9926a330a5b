use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameContainer")]
pub struct Spec {
    pub inner: Inner,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Other")]
pub struct Inner {
    pub x: u8,
}
