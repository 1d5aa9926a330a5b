use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsUnboundParameter")]
pub struct Spec {
    pub one: Outer<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T: Default> {
    #[serde(default)]
    pub list: Vec<T>,
    #[serde(default)]
    pub maybe: Option<T>,
    #[serde(default)]
    pub plain: u8,
    #[serde(default)]
    pub nested: Deep<T>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Deep<T> {
    pub x: Option<T>,
}
