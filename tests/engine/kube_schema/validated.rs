use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaValidated")]
pub struct Spec {
    /// How many.
    #[schemars(range(min = 1, max = 9))]
    #[x_kube(validation = "self != 5")]
    pub size: i32,
    #[validate(length(max = 3))]
    pub name: String,
}
