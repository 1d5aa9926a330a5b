use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMapKeySelector, SecretKeySelector};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Duration;

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Name of the Service port.
    pub port: Option<String>,
    pub target_port: Option<IntOrString>,
    #[serde(default = "metrics")]
    pub path: String,
    #[serde(default)]
    pub scheme: Scheme,
    #[serde(default)]
    pub params: BTreeMap<String, Vec<String>>,
    pub interval: Option<Duration>,
    pub scrape_timeout: Option<Duration>,
    #[serde(default)]
    pub honor_labels: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_config: Option<SafeTls>,
    #[serde(flatten)]
    pub authorization: Option<Authorization>,
    #[serde(default, alias = "metricRelabelConfigs")]
    pub metric_relabelings: Vec<RelabelConfig>,
    #[serde(default, alias = "relabelConfigs")]
    pub relabelings: Vec<RelabelConfig>,
}

fn metrics() -> String {
    "/metrics".into()
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    #[default]
    Http,
    Https,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Authorization {
    BasicAuth { username: SecretKeySelector, password: SecretKeySelector },
    BearerTokenSecret(SecretKeySelector),
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SafeTls {
    pub ca: Option<SecretOrConfigMap>,
    pub cert: Option<SecretOrConfigMap>,
    pub key_secret: Option<SecretKeySelector>,
    pub server_name: Option<String>,
    #[serde(default)]
    pub insecure_skip_verify: bool,
    #[serde(default = "tls12")]
    pub min_version: TlsVersion,
}

fn tls12() -> TlsVersion {
    TlsVersion::Tls12
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub enum TlsVersion {
    #[serde(rename = "TLS12")]
    Tls12,
    #[serde(rename = "TLS13")]
    Tls13,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretOrConfigMap {
    pub secret: Option<SecretKeySelector>,
    pub config_map: Option<ConfigMapKeySelector>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelabelConfig {
    #[serde(default)]
    pub source_labels: Vec<String>,
    pub separator: Option<String>,
    pub target_label: Option<String>,
    pub regex: Option<String>,
    pub modulus: Option<u64>,
    pub replacement: Option<String>,
    #[serde(default)]
    pub action: Action,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    #[default]
    Replace,
    Keep,
    Drop,
    HashMod,
    LabelMap,
    LabelDrop,
    LabelKeep,
}
