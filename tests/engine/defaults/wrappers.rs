use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsWrappers")]
pub struct Spec {
    #[serde(default)]
    pub boxed: Box<i32>,
    #[serde(default)]
    pub text: Box<str>,
    #[serde(default)]
    pub shared: std::sync::Arc<String>,
    #[serde(default)]
    pub cow: std::borrow::Cow<'static, str>,
    #[serde(default)]
    pub list: std::borrow::Cow<'static, [u8]>,
    #[serde(default)]
    pub wrapping: std::num::Wrapping<u8>,
    #[serde(default)]
    pub maybe: Box<Option<u8>>,
}
