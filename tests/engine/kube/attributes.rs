use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeAttributes", attr = "allow(dead_code)", attr = "must_use")]
pub struct Spec {
    pub x: u8,
}
