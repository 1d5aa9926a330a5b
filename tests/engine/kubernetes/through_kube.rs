use k8s_openapi::api::core::v1::ResourceRequirements;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubernetesThroughKube")]
pub struct Spec {
    pub meta: kube::core::ObjectMeta,
    pub resources: Option<ResourceRequirements>,
}
