use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
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
    pub replicas: i32,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Fleet", plural = "fleet")]
pub struct FleetSpec {
    pub region: String,
}
