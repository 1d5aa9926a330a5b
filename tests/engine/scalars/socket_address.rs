use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsSocketAddress")]
pub struct Spec {
    pub value: std::net::SocketAddr,
    pub maybe: Option<std::net::SocketAddr>,
}
