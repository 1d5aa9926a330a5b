use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::net::*;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "net.example.vpn", version = "v1alpha3", kind = "Peer", attr = "allow(missing_docs)")]
#[serde(rename_all = "camelCase")]
pub struct PeerSpec {
    pub public_key: PublicKey,
    pub preshared_key: Option<k8s_openapi::api::core::v1::SecretKeySelector>,
    #[schemars(length(min = 1))]
    #[serde(alias = "allowedIPs")]
    pub allowed_ips: Vec<Cidr>,
    pub endpoint: Option<Endpoint>,
    #[serde(default)]
    pub keepalive_seconds: Option<u16>,
}
