use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsPath")]
pub struct Spec {
    pub value: std::path::PathBuf,
    pub maybe: Option<std::path::PathBuf>,
}
