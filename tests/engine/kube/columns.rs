use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeColumns", printcolumn(name = "Name", type_ = "string", json_path = ".spec.name", description = "its name", priority = 1),
    printcolumn(name = "At", type_ = "string", json_path = ".spec.at", format = "date-time"))]
pub struct Spec {
    pub name: String,
    pub at: String,
}
