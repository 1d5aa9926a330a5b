use super::prelude::{JsonSchema, Deserialize, Serialize, corev1};
use corev1::SecretKeySelector;

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Listener {
    #[schemars(length(min = 1, max = 11), regex(pattern = "^[a-z0-9]+$"))]
    pub name: String,
    #[schemars(range(min = 9092))]
    pub port: u16,
    #[serde(rename = "type")]
    pub kind: ListenerKind,
    #[serde(default)]
    pub tls: bool,
    pub authentication: Option<Authentication>,
    #[serde(default, rename = "networkPolicyPeers")]
    pub peers: Vec<k8s_openapi::api::networking::v1::NetworkPolicyPeer>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListenerKind {
    Internal,
    Route,
    LoadBalancer,
    NodePort,
    Ingress,
    #[serde(rename = "cluster-ip")]
    ClusterIp,
}

/// Authentication of clients.
#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub enum Authentication {
    #[serde(rename = "tls")]
    Tls {},
    #[serde(rename = "scram-sha-512")]
    ScramSha512 {},
    #[serde(rename = "oauth", rename_all = "camelCase")]
    OAuth {
        #[schemars(url)]
        valid_issuer_uri: String,
        client_id: Option<String>,
        client_secret: Option<SecretKeySelector>,
        #[serde(default)]
        check_audience: bool,
    },
}
