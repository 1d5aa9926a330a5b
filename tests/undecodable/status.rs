//! Of the status, too.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "status.example.com", version = "v1", kind = "K", status = "Status")]
pub struct Spec {
    size: Option<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    ready: u32,
}
