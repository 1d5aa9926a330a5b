use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaRules")]
#[x_kube(validation = "self.x < 10")]
#[x_kube(validation = ("self.y < 10", "y is too large"))]
#[x_kube(validation = Rule::new("self.x < self.y").message("wrong order").field_path(".x").reason(Reason::FieldValueInvalid))]
pub struct Spec {
    pub x: u8,
    pub y: u8,
}
