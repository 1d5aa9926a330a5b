use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsSocketAddressOfAVersion")]
pub struct Spec {
    pub v4: std::net::SocketAddrV4,
    pub v6: std::net::SocketAddrV6,
}
