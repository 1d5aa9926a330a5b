use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenOptionOfEnumeration")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub choice: Option<Choice>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice {
    Left { left: u8 },
    Right { right: u8 },
}
