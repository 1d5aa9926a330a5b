//! Locations of backups: cluster-scoped, one for each provider.

use k8s_openapi::api::core::v1::SecretKeySelector;
use kube::CustomResource;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::types::GROUP;

/// A place for backups.
///
/// The provider's own settings are strings, which its plugin understands.
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "backup.vault.example",
    version = "v1",
    kind = "BackupStorageLocation",
    root = "Location",
    shortname = "bsl",
    status = "LocationStatus",
    derive = "Default"
)]
#[kube(doc = "Where backups are kept.")]
#[derive(Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LocationSpec {
    #[schemars(length(min = 1))]
    pub provider: String,
    #[serde(default)]
    pub config: std::collections::BTreeMap<String, String>,
    pub credential: Option<SecretKeySelector>,
    pub object_storage: ObjectStorage,
    #[serde(default)]
    pub default: bool,
    #[serde(default)]
    pub access_mode: AccessMode,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStorage {
    #[schemars(length(min = 3, max = 63), regex(pattern = r"^[a-z0-9][a-z0-9.-]*$"))]
    pub bucket: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    #[serde(rename = "caCert")]
    #[schemars(extend("format" = "byte"))]
    pub ca_cert: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub enum AccessMode {
    ReadOnly,
    #[default]
    ReadWrite,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationStatus {
    pub available: Option<bool>,
    pub last_synced_time: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime>,
}

pub use Location as BackupStorageLocation;
