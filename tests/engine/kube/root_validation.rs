use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeRootValidation", validation = "self.metadata.name.size() < 20",
    validation = ("self.spec.x > 0", "x must be positive"),
    validation = Rule::new("self.spec.x < 9").message("too large"))]
pub struct Spec {
    pub x: u8,
}
