use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsNested")]
pub struct Spec {
    #[serde(default)]
    pub a: A,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct A {
    pub b: B,
    pub list: Vec<B>,
    #[serde(flatten)]
    pub c: C,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct B {
    pub c: Option<C>,
}

impl Default for B {
    fn default() -> Self {
        B { c: Some(C { x: 1 }) }
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct C {
    pub x: u8,
}
