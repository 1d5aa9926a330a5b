use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeStatus", status = "Status")]
pub struct Spec {
    pub x: u8,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Status {
    pub replicas: i32,
    #[serde(default)]
    pub words: Option<String>,
}
