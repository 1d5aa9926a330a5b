use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connection pooling in front of a cluster.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "postgres.acme.io", version = "v1", kind = "Pooler", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct PoolerSpec {
    pub cluster: ClusterRef,
    #[serde(rename = "type", default)]
    pub pooler_type: PoolerType,
    pub pool_mode: PoolMode,
    pub max_unavailable: Option<IntOrString>,
    pub template: Option<PodTemplateSpec>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ClusterRef {
    pub name: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolerType {
    #[default]
    #[serde(rename = "rw")]
    ReadWrite,
    #[serde(rename = "ro")]
    ReadOnly,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PoolMode {
    Session,
    Transaction,
}
