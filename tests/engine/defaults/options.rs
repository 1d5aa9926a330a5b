use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsOptions")]
pub struct Spec {
    #[serde(default = "none")]
    pub none: Option<u8>,
    #[serde(default = "some")]
    pub some: Option<i64>,
    #[serde(default = "text")]
    pub text: Option<String>,
    #[serde(default = "nested")]
    pub nested: Option<Option<u8>>,
}

fn none() -> Option<u8> {
    None
}

fn some() -> Option<i64> {
    Some(-7)
}

fn text() -> Option<String> {
    Some("text".into())
}

fn nested() -> Option<Option<u8>> {
    Some(Some(1))
}
