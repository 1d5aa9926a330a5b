use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::Provider;

#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(group = "vaults.example.dev", version = "v1", kind = "SecretStore", namespaced, status = "StoreStatus")]
#[kube(shortname = "ss", category = "secrets", label("external-secrets.io/component", "controller"))]
#[serde(rename_all = "camelCase")]
pub struct SecretStoreSpec {
    #[serde(default)]
    pub controller: String,
    pub provider: Provider,
    #[serde(default, rename = "retrySettings")]
    pub retry: Retry,
    #[serde(default = "an_hour")]
    #[schemars(range(min = 0))]
    pub refresh_interval: i32,
}

const fn an_hour() -> i32 {
    60 * 60
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Retry {
    pub max_retries: Option<u8>,
    pub interval: Option<String>,
}

impl Default for Retry {
    fn default() -> Self {
        Retry { max_retries: Some(5), interval: Some(String::from("10s")) }
    }
}

/// Like a SecretStore, for all namespaces that it names.
#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(group = "vaults.example.dev", version = "v1", kind = "ClusterSecretStore", status = "StoreStatus")]
#[kube(shortname = "css", category = "secrets")]
pub struct ClusterSecretStoreSpec {
    #[serde(flatten)]
    pub store: SecretStoreSpec,
    #[serde(default)]
    pub conditions: Vec<NamespaceCondition>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceCondition {
    pub namespace_selector: Option<LabelSelector>,
    #[serde(default)]
    #[schemars(inner(length(min = 1, max = 63)))]
    pub namespaces: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
pub struct StoreStatus {
    #[serde(default)]
    pub conditions: Vec<Condition>,
    pub capabilities: Option<Capabilities>,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub enum Capabilities {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}
