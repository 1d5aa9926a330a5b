use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationSchemarsWins")]
pub struct Spec {
    #[schemars(length(max = 1))]
    #[validate(length(max = 2))]
    #[garde(length(max = 3))]
    pub text: String,
}
