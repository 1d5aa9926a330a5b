use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsEmpty")]
pub struct Spec {
    pub maybe: Option<Never>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Never {}
