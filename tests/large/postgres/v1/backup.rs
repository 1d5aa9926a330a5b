use k8s_openapi::api::core::v1::{LocalObjectReference, SecretKeySelector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Continuous archiving and base backups.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupConfiguration {
    pub destination: Destination,
    /// Schedule of base backups, in the format of cron.
    #[serde(default = "nightly")]
    #[schemars(length(min = 9))]
    pub schedule: String,
    #[serde(default)]
    pub retention: Retention,
    #[serde(default)]
    pub compression: Option<Compression>,
}

fn nightly() -> String {
    "0 3 * * *".to_owned()
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Destination {
    S3 {
        bucket: String,
        #[serde(default)]
        prefix: String,
        endpoint_url: Option<String>,
        credentials: S3Credentials,
    },
    AzureBlob(AzureBlob),
    PersistentVolumeClaim(LocalObjectReference),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct S3Credentials {
    pub access_key_id: SecretKeySelector,
    pub secret_access_key: SecretKeySelector,
    pub session_token: Option<SecretKeySelector>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureBlob {
    #[schemars(url)]
    pub container_url: String,
    pub sas_token: SecretKeySelector,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retention {
    #[serde(default = "Retention::weeks")]
    pub weeks: u16,
    #[serde(default)]
    pub keep_last: Option<u16>,
}

impl Retention {
    const WEEKS: u16 = 4;

    fn weeks() -> u16 {
        Self::WEEKS
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { weeks: Self::WEEKS, keep_last: None }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    Gzip,
    Lz4,
    Zstd,
}
