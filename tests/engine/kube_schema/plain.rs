use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Words of the spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaPlain")]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Words.
    pub first_field: u8,
    pub maybe: Option<u8>,
}
