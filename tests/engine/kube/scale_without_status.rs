use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeScaleWithoutStatus", scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas"))]
pub struct Spec {
    pub replicas: i32,
}
