use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenEnumeration")]
pub struct Spec {
    pub own: u8,
    #[serde(flatten)]
    pub choice: Choice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Left(Side),
    Right(Side),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Side {
    pub x: u8,
}
