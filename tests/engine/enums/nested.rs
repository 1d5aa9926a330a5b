use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "EnumsNested")]
pub struct Spec {
    pub outer: Outer,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Outer {
    A { inner: Inner },
    B { inner_b: Option<Inner> },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Inner {
    X(u8),
    Y(String),
}
