use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsIpv6")]
pub struct Spec {
    pub value: std::net::Ipv6Addr,
    pub maybe: Option<std::net::Ipv6Addr>,
}
