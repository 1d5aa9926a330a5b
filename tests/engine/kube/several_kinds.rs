use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeFirst")]
pub struct First {
    pub shared: Shared,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1alpha1", kind = "KubeSecond", namespaced)]
pub struct Second {
    pub shared: Option<Shared>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Shared {
    pub x: u8,
}
