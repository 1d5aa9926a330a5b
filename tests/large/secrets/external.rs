use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "vaults.example.dev",
    version = "v1",
    kind = "ExternalSecret",
    namespaced,
    status = "Status",
    shortname = "es",
    selectable = ".spec.secretStoreRef.name",
    selectable = ".spec.secretStoreRef.kind",
    printcolumn = r#"{"name":"Store","type":"string","jsonPath":".spec.secretStoreRef.name"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSecretSpec {
    pub secret_store_ref: StoreRef,
    #[serde(default)]
    pub target: Target,
    #[serde(default)]
    pub data: Vec<Data>,
    #[serde(default)]
    pub data_from: Vec<DataFrom>,
    #[serde(default)]
    pub refresh_policy: RefreshPolicy,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct StoreRef {
    pub name: String,
    #[serde(default)]
    pub kind: StoreKind,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub enum StoreKind {
    #[default]
    SecretStore,
    ClusterSecretStore,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub name: Option<String>,
    #[serde(default)]
    pub creation_policy: CreationPolicy,
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    pub template: Option<Template>,
    #[serde(default)]
    pub immutable: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub enum CreationPolicy {
    /// The Secret is ours, and goes when we go.
    #[default]
    Owner,
    /// The Secret is made, but not ours.
    Orphan,
    /// Keys are added to a Secret that is there.
    Merge,
    None,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub enum DeletionPolicy {
    Delete,
    Merge,
    Retain,
}

impl Default for DeletionPolicy {
    fn default() -> Self {
        Self::Retain
    }
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    #[serde(rename = "type")]
    pub secret_type: Option<String>,
    #[serde(default = "v2")]
    pub engine_version: String,
    #[serde(default)]
    pub metadata: TemplateMetadata,
    #[serde(default)]
    pub data: BTreeMap<String, String>,
    #[serde(default)]
    pub merge_policy: MergePolicy,
}

fn v2() -> String {
    "v2".to_string()
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
pub struct TemplateMetadata {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub enum MergePolicy {
    #[default]
    Replace,
    Merge,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    pub secret_key: String,
    pub remote_ref: RemoteRef,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteRef {
    pub key: String,
    pub property: Option<String>,
    pub version: Option<String>,
    #[serde(default)]
    pub decoding_strategy: Decoding,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub enum Decoding {
    Auto,
    Base64,
    #[serde(rename = "Base64URL")]
    Base64Url,
    #[default]
    None,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DataFrom {
    Extract(RemoteRef),
    Find {
        path: Option<String>,
        #[serde(default)]
        tags: BTreeMap<String, String>,
        name: Option<NameMatch>,
    },
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct NameMatch {
    /// A regular expression.
    pub regexp: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub enum RefreshPolicy {
    CreatedOnce,
    #[default]
    Periodic,
    OnChange,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub refresh_time: Option<DateTime<Utc>>,
    pub synced_resource_version: Option<String>,
    #[serde(default)]
    pub conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}
