use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsLifetime")]
pub struct Spec {
    pub text: Text<'static>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Text<'a> {
    pub text: std::borrow::Cow<'a, str>,
}
