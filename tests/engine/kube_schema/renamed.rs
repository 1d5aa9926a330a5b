use kube::CustomResource;
use serde::{Deserialize, Serialize};
use kube::KubeSchema as JsonSchema;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaRenamed")]
#[x_kube(validation = ("self.x > 0", "positive"))]
pub struct Spec {
    pub x: u8,
}
