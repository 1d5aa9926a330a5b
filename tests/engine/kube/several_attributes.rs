use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSeveralAttributes")]
#[kube(namespaced, shortname = "a")]
#[kube(category = "all")]
pub struct Spec {
    pub x: u8,
}
