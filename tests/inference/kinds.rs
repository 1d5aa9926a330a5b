//! Kinds of the cases, beside those of Kubernetes.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced, status = "MemcachedStatus")]
pub struct MemcachedSpec {
    pub size: i32,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct MemcachedStatus {
    pub ready: i32,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Fleet", plural = "fleet")]
pub struct FleetSpec {
    pub region: String,
}
