use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsPrimitivePaths")]
pub struct Spec {
    pub long: std::primitive::u64,
    pub core: core::primitive::bool,
    pub text: std::string::String,
}
