use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsFloatsOfAName")]
pub struct Spec {
    #[serde(default = "single")]
    pub single: f32,
    #[serde(default = "double")]
    pub double: f64,
}

fn single() -> f32 {
    let x = 0.1;
    x * 3.0
}

fn double() -> f64 {
    let x = 0.1;
    x * 3.0
}
