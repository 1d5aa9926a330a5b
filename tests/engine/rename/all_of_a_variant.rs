use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameAllOfAVariant")]
pub struct Spec {
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Choice {
    #[serde(rename_all = "camelCase")]
    One { long_name: u8 },
    Two { other_name: u8 },
}
