use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ValidationRange")]
pub struct Spec {
    #[schemars(range(min = 1, max = 9))]
    pub int: i32,
    #[schemars(range(min = -0.5, max = 1.5))]
    pub float: f64,
    #[schemars(range(max = 10))]
    pub maybe: Option<u8>,
    #[schemars(range(min = 1))]
    pub text_is_not_touched: String,
}
