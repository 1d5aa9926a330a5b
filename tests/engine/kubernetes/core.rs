use k8s_openapi::api::core::v1 as core;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubernetesCore")]
pub struct Spec {
    pub template: Option<core::PodTemplateSpec>,
    pub env: Vec<core::EnvVar>,
    pub affinity: Option<core::Affinity>,
}
