use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::selectors::{self, Credential, OneOf, SecretSelector, ServiceAccountSelector};

/// One backend.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Provider {
    /// Secrets Manager and Parameter Store.
    Aws(Box<Aws>),
    Vault(Vault),
    /// Anything that answers with JSON.
    Webhook(Webhook),
    /// For tests.
    Fake {
        #[serde(default)]
        data: Vec<FakeEntry>,
    },
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Aws {
    pub service: AwsService,
    #[schemars(pattern(r"^[a-z]{2}(-gov)?-[a-z]+-\d$"))]
    pub region: String,
    pub role: Option<String>,
    pub auth: Option<OneOf<AwsStatic, ServiceAccountSelector>>,
    #[serde(default)]
    pub session_tags: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub enum AwsService {
    SecretsManager,
    ParameterStore,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct AwsStatic {
    #[serde(rename = "accessKeyID")]
    pub id: Credential,
    #[serde(rename = "secretAccessKey")]
    pub secret: Credential,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Vault {
    #[schemars(url)]
    pub server: String,
    pub path: Option<String>,
    #[serde(default)]
    pub version: KvVersion,
    pub auth: VaultAuth,
    pub namespace: Option<String>,
    #[schemars(extend("format" = "byte"))]
    pub ca_bundle: Option<String>,
    #[serde(default = "yes")]
    pub read_your_writes: bool,
}

fn yes() -> bool {
    !false
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KvVersion {
    V1,
    #[default]
    V2,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum VaultAuth {
    Token { token_secret_ref: SecretSelector },
    AppRole { role_id: String, secret_id: Credential },
    Kubernetes { mount_path: String, service_account_ref: Option<ServiceAccountSelector> },
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    #[serde(default)]
    pub method: Method,
    pub url: String,
    pub port: Option<selectors::Port>,
    #[serde(default)]
    pub headers: BTreeMap<String, ValueOrSecret>,
    /// Body of the request: any value.
    #[schemars(schema_with = "crate::secrets::provider::anything")]
    pub body: Option<Value>,
    pub timeout: Option<kube::core::Duration>,
    pub result: WebhookResult,
}

type ValueOrSecret = selectors::ValueOr<SecretSelector, String>;

pub fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    Get,
    Post,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookResult {
    pub json_path: String,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct FakeEntry {
    pub key: String,
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
