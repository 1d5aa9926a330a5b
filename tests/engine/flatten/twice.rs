use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FlattenTwice")]
pub struct Spec {
    #[serde(flatten)]
    pub a: A,
    #[serde(flatten)]
    pub b: B,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct A {
    pub x: u8,
    #[serde(flatten)]
    pub b: C,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct B {
    pub y: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct C {
    pub z: u8,
}
