use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSelectable", selectable = ".spec.name", selectable = ".spec.other")]
pub struct Spec {
    pub name: String,
    pub other: String,
}
