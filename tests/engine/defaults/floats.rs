use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsFloats")]
pub struct Spec {
    #[serde(default = "a")]
    pub a: f32,
    #[serde(default = "b")]
    pub b: f32,
    #[serde(default = "c")]
    pub c: f64,
    #[serde(default = "d")]
    pub d: f64,
    #[serde(default = "e")]
    pub e: Option<f32>,
    #[serde(default = "f")]
    pub f: Vec<f32>,
}

const TENTH: f32 = 0.1;

fn a() -> f32 {
    TENTH + 0.2
}

fn b() -> f32 {
    16_777_217.0
}

fn c() -> f64 {
    TENTH as f64
}

fn d() -> f64 {
    1e-7
}

fn e() -> Option<f32> {
    Some(3.3)
}

fn f() -> Vec<f32> {
    vec![0.7, 1.0]
}
