use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::virtual_service::Port;
use super::wire::{self, Wrapped};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "traffic.example.mesh", version = "v1", kind = "DestinationRule", namespaced, shortname = "dr")]
#[serde(rename_all = "camelCase")]
pub struct DestinationRuleSpec {
    pub host: String,
    pub traffic_policy: Option<TrafficPolicy<PortPolicy>>,
    #[serde(default)]
    pub subsets: Vec<Subset>,
}

/// Of a whole host, or of one port.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrafficPolicy<P> {
    pub load_balancer: Option<LoadBalancer>,
    pub connection_pool: Option<ConnectionPool>,
    pub outlier_detection: Option<OutlierDetection>,
    pub tls: Option<Tls>,
    #[schemars(length(max = 4096))]
    pub port_level_settings: Option<Vec<P>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PortPolicy {
    pub port: Port,
    pub load_balancer: Option<LoadBalancer>,
    pub tls: Option<Tls>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LoadBalancer {
    Simple(Simple),
    ConsistentHash(ConsistentHash),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Simple {
    Unspecified,
    Random,
    Passthrough,
    RoundRobin,
    LeastRequest,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ConsistentHash {
    HttpHeaderName(String),
    HttpCookie { name: String, path: Option<String>, ttl: Option<wire::Duration> },
    UseSourceIp(bool),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionPool {
    pub tcp: Option<TcpPool>,
    pub http: Option<HttpPool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TcpPool {
    pub max_connections: Option<i32>,
    pub connect_timeout: Option<wire::Duration>,
    #[serde(default)]
    pub tcp_keepalive: Wrapped<Keepalive>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Keepalive {
    pub probes: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpPool {
    #[serde(rename = "http1MaxPendingRequests")]
    pub pending: Option<i32>,
    #[serde(rename = "http2MaxRequests")]
    pub max: Option<i32>,
    pub idle_timeout: Option<wire::Duration>,
    pub h2_upgrade_policy: Option<Upgrade>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Upgrade {
    Default,
    DoNotUpgrade,
    Upgrade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutlierDetection {
    #[serde(rename = "consecutive5xxErrors")]
    pub consecutive: Wrapped<u32>,
    pub interval: Option<wire::Duration>,
    #[schemars(range(min = 0, max = 100))]
    pub max_ejection_percent: Option<i32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    pub mode: TlsMode,
    pub credential_name: Option<String>,
    #[serde(default)]
    pub subject_alt_names: Vec<String>,
    pub sni: Option<String>,
}

/// As Istio has it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TlsMode {
    /// In the clear.
    Disable,
    /// The client checks the server.
    Simple,
    /// They check each other.
    Mutual,
    /// With the mesh's own certificates.
    IstioMutual,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subset {
    pub name: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    pub traffic_policy: Option<Box<TrafficPolicy<PortPolicy>>>,
}
