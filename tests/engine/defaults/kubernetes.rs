use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsKubernetes")]
pub struct Spec {
    #[serde(default = "memory")]
    pub memory: Quantity,
    #[serde(default = "port")]
    pub port: IntOrString,
    #[serde(default = "named")]
    pub named: Option<IntOrString>,
    #[serde(default)]
    pub resources: ResourceRequirements,
}

fn memory() -> Quantity {
    Quantity("1Gi".into())
}

fn port() -> IntOrString {
    IntOrString::Int(80)
}

fn named() -> Option<IntOrString> {
    Some(IntOrString::String("http".to_string()))
}
