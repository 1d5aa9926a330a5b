use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaDisabled", schema = "disabled")]
pub struct Spec {
    pub x: u8,
}
