use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaFieldRules")]
pub struct Spec {
    #[x_kube(validation = "self != 5")]
    pub x: u8,
    /// Words.
    #[serde(default)]
    #[x_kube(validation = ("self.size() > 0", "empty"), validation = "self.size() < 9")]
    pub list: Vec<String>,
    #[x_kube(validation = "self > 0")]
    pub maybe: Option<u8>,
}
