use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "RenameAllSnake")]
#[serde(rename_all = "snake_case")]
pub struct Spec {
    pub first_field: u8,
    pub x2: u8,
    pub http_url: String,
    pub r#type: Kind,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    First,
    SecondOne,
    HTTPServer,
}
