use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignUuid")]
pub struct Spec {
    pub id: uuid::Uuid,
    pub ids: Vec<uuid::Uuid>,
}
