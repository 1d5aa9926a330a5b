use std::collections::{BTreeMap, HashSet};

use k8s_openapi::api::core::v1::{NodeSelector, Pod, SecretKeySelector, Service};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::net::{Cidr, Endpoint, PublicKey, wireguard};

/// A node's end of a network between sites.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "net.example.vpn", version = "v1alpha3", kind = "Tunnel", status = "TunnelStatus", shortname = "tun")]
#[kube(printcolumn(name = "Key", type_ = "string", json_path = ".status.publicKey"))]
#[serde(rename_all = "camelCase")]
pub struct TunnelSpec {
    #[schemars(inner(length(min = 3)))]
    pub addresses: Vec<Cidr>,
    #[serde(default = "wireguard")]
    pub listen_port: u16,
    #[schemars(range(min = 1280, max = 9000))]
    #[serde(default = "TunnelSpec::mtu")]
    pub mtu: u16,
    pub private_key: KeySource,
    pub node_selector: Option<NodeSelector>,
    #[serde(default)]
    pub peers: PeerSelection,
    #[serde(default)]
    pub firewall: Firewall,
    /// Laid over the Service in front.
    #[schemars(with = "Option<Overlay>")]
    pub service: Option<Box<Service>>,
    #[schemars(with = "Option<Overlay>")]
    pub pod: Option<Box<Pod>>,
}

/// Anything.
#[derive(JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
struct Overlay {}

impl TunnelSpec {
    const ETHERNET: u16 = 1500;
    const OVERHEAD: u16 = 80;

    fn mtu() -> u16 {
        TunnelSpec::ETHERNET - TunnelSpec::OVERHEAD
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeySource {
    /// The operator makes one.
    Generate { rotate_after: Option<kube::core::Duration> },
    SecretKeyRef(SecretKeySelector),
}

/// Selects the Peers of a tunnel.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerSelection {
    #[serde(default)]
    pub match_labels: BTreeMap<String, String>,
    #[serde(default)]
    pub names: HashSet<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Firewall {
    pub policy: Verdict,
    pub rules: Vec<Rule>,
}

impl Default for Firewall {
    fn default() -> Self {
        Firewall {
            policy: Verdict::Drop,
            rules: vec![Rule { verdict: Verdict::Accept, protocol: Some(Protocol::Icmp), ports: vec![], from: None }],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    Accept,
    Drop,
    Reject,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Rule {
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Cidr>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Tcp,
    Udp,
    Icmp,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PortRange {
    pub first: u16,
    pub last: Option<u16>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TunnelStatus {
    pub public_key: Option<PublicKey>,
    pub endpoint: Option<Endpoint>,
    #[serde(default)]
    pub peers: BTreeMap<String, PeerState>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerState {
    pub last_handshake: Option<chrono::DateTime<chrono::Utc>>,
    pub received_bytes: u64,
    pub sent_bytes: u64,
}
