use k8s_openapi::api::core::v1::{self as core, PodTemplateSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Kubernetes")]
#[serde(rename_all = "camelCase")]
pub struct KubernetesSpec {
    pub template: PodTemplateSpec,
    pub resources: Option<ResourceRequirements>,
    pub affinity: Option<core::Affinity>,
    pub env: Vec<core::EnvVar>,
    pub memory: Quantity,
    pub maybe_memory: Option<Quantity>,
    pub port: IntOrString,
    pub maybe_port: Option<IntOrString>,
    pub selector: meta::LabelSelector,
    pub at: Option<meta::Time>,
    pub embedded: meta::ObjectMeta,
}
