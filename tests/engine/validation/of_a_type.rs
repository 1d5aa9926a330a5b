use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationOfAType")]
pub struct Spec {
    pub name: Name,
    #[schemars(length(max = 10))]
    pub shorter: Name,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Name(#[schemars(length(max = 63))] pub String);
