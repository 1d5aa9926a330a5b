use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeAnnotationsAndLabels", annotation("a/b", "c"), annotation("d", "e"), label("f", "g"))]
pub struct Spec {
    pub x: u8,
}
