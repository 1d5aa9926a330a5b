use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaInAField")]
pub struct Spec {
    pub inner: Inner,
    pub maybe: Option<Inner>,
    pub list: Vec<Inner>,
}

/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[x_kube(validation = "self.x > 0")]
pub struct Inner {
    #[x_kube(validation = "self < 9")]
    pub x: u8,
}
