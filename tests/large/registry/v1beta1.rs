//! The version that people write.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::JobTemplateSpec;
use k8s_openapi::api::core::v1::{EnvFromSource, ImageVolumeSource, LocalObjectReference};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::v1alpha1::mirror as old;

#[doc = "Images of another registry, kept here."]
#[doc = ""]
#[doc = "They are pulled when they are asked for, or ahead of that."]
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "images.example.oci", version = "v1beta1", kind = "Mirror", namespaced, storage = false)]
#[kube(status = "MirrorStatus", category = "images")]
#[serde(rename_all = "camelCase")]
pub struct MirrorSpec {
    /// # Where from
    /// The host, without a scheme.
    #[schemars(example = &"quay.io", example = "gcr.io")]
    pub upstream: String,
    #[schemars(title = "Which", description = "All if there are none.")]
    #[serde(default)]
    pub repositories: Vec<Repository>,
    #[serde(default)]
    #[schemars(!default, extend("default" = "1h"))]
    pub interval: Interval,
    #[serde(default)]
    pub pull_secrets: Vec<LocalObjectReference>,
    #[serde(default)]
    pub platforms: Vec<Platform>,
    pub scan: Option<Scan>,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    pub name: String,
    #[serde(default = "latest")]
    pub tags: Vec<String>,
    #[serde(default)]
    pub ahead: bool,
    #[serde(skip_deserializing)]
    pub resolved: Option<BTreeMap<String, Digest>>,
}

fn latest() -> Vec<String> {
    vec!["latest".to_string()]
}

/// A whole number and a unit, such as `15m`.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9]+[smhd]$"))]
pub struct Interval {
    count: u64,
    unit: char,
}

impl Default for Interval {
    fn default() -> Self {
        Interval { count: 1, unit: 'h' }
    }
}

impl TryFrom<String> for Interval {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let unit = text.chars().last().ok_or("empty")?;
        let count = text[..text.len() - unit.len_utf8()].parse().map_err(|_| "no number")?;
        Ok(Self { count, unit })
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        format!("{}{}", interval.count, interval.unit)
    }
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Platform {
    #[serde(default = "linux")]
    pub os: String,
    pub architecture: Architecture,
    pub variant: Option<char>,
}

fn linux() -> String {
    LINUX.to_owned()
}

const LINUX: &str = "linux";

#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(non_camel_case_types)]
pub enum Architecture {
    Amd64,
    Arm64,
    Riscv64,
    #[serde(rename = "s390x")]
    Z,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Scan {
    pub job: JobTemplateSpec,
    #[serde(default, rename = "envFrom")]
    pub env: Vec<EnvFromSource>,
    pub database: Option<ImageVolumeSource>,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct MirrorRef {
    pub name: String,
}

#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, Eq, JsonSchema)]
#[serde(transparent)]
pub struct Digest(#[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))] pub String);

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MirrorStatus {
    #[serde(default)]
    pub images: u64,
    #[serde(default)]
    pub size: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
    pub next_sync: Option<chrono::DateTime<chrono::Utc>>,
}

impl From<old::MirrorSpec> for MirrorSpec {
    fn from(old: old::MirrorSpec) -> Self {
        let repository =
            |name| Repository { name, tags: latest(), ahead: false, resolved: None };
        Self {
            upstream: old.upstream,
            repositories: old.repositories.into_iter().map(repository).collect(),
            interval: Interval { count: old.interval.into(), unit: 'm' },
            pull_secrets: Vec::new(),
            platforms: Vec::new(),
            scan: None,
        }
    }
}
