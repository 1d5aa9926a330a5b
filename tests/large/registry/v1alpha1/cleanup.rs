use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::v1beta1::{self, Interval};

#[derive(kube::CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "images.example.oci", version = "v1alpha1", kind = "Cleanup", namespaced, status = "CleanupStatus")]
#[serde(rename_all = "snake_case")]
pub struct CleanupSpec {
    #[serde(rename = "mirrorRef")]
    pub mirror: v1beta1::MirrorRef,
    pub keep: Vec<Keep>,
    #[serde(default)]
    pub dry_run: bool,
    pub every: Option<Interval>,
    /// As serde writes it: seconds and nanoseconds.
    pub grace: Option<Duration>,
}

/// Artifacts that are kept.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Keep {
    #[serde(rename_all = "camelCase")]
    Newest { count: usize, tag_pattern: Option<String> },
    YoungerThan(Interval),
    /// By a Pod of the cluster.
    InUse(Unit),
}

/// Nothing more to say.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Unit {}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct CleanupStatus {
    pub last: Option<SystemTime>,
    pub removed: Option<Vec<Removed>>,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Removed {
    pub digest: v1beta1::Digest,
    pub tags: std::collections::VecDeque<String>,
    pub freed: Option<i128>,
}
