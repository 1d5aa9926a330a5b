use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubernetesIntOrString")]
pub struct Spec {
    pub port: IntOrString,
    pub maybe: Option<IntOrString>,
    pub list: Vec<IntOrString>,
}
