use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrappersCow")]
pub struct Spec {
    pub text: Cow<'static, str>,
    pub list: Cow<'static, [u8]>,
    pub maybe: Option<Cow<'static, str>>,
}
