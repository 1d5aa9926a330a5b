use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaRootRules", validation = "self.spec.x != 5")]
#[x_kube(validation = "self.x > 0")]
pub struct Spec {
    pub x: u8,
}
