use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubernetesMeta")]
pub struct Spec {
    pub selector: meta::LabelSelector,
    pub at: Option<meta::Time>,
    pub micro: meta::MicroTime,
    pub embedded: meta::ObjectMeta,
    pub conditions: Vec<meta::Condition>,
    pub owner: Option<meta::OwnerReference>,
}
