use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationLength")]
pub struct Spec {
    #[schemars(length(min = 1, max = 9))]
    pub text: String,
    #[schemars(length(max = 3))]
    pub list: Vec<u8>,
    #[schemars(length(equal = 4))]
    pub maybe: Option<String>,
    #[schemars(length(min = 1))]
    pub number_is_not_touched: u8,
}
