use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeNoSpec", no_spec, status = "Status", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    pub own_field: String,
    pub maybe: Option<u8>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Status {
    pub replicas: i32,
    #[serde(default)]
    pub words: Option<String>,
}
