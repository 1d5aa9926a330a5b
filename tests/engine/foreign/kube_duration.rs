use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignKubeDuration")]
pub struct Spec {
    pub every: kube::core::Duration,
    pub maybe: Option<kube::core::Duration>,
}
