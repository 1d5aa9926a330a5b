use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeCrates", crates(kube_core = "::kube::core", k8s_openapi = "::k8s_openapi", schemars = "::schemars", serde = "::serde", serde_json = "::serde_json"))]
pub struct Spec {
    pub x: u8,
}
