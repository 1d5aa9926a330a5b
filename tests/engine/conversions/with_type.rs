use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsWithType")]
pub struct Spec {
    #[schemars(with = "String")]
    pub with: std::time::Duration,
    #[schemars(with = "Option<u8>")]
    pub maybe: String,
    #[schemars(with = "Vec<Inner>")]
    pub list: u8,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
