use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationByGarde")]
pub struct Spec {
    #[garde(length(min = 1, max = 9))]
    pub text: String,
    #[garde(range(min = 1, max = 2))]
    pub ratio: u8,
    #[garde(pattern("^a"))]
    pub pattern: String,
    #[garde(contains("a"))]
    pub contains: String,
    #[garde(inner(length(max = 5)))]
    pub list: Vec<String>,
    #[garde(url)]
    pub link: String,
}
