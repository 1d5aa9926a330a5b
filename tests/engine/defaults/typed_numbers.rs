use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsTypedNumbers")]
pub struct Spec {
    #[serde(default = "single")]
    pub single: bool,
    #[serde(default = "double")]
    pub double: bool,
    #[serde(default = "shifted")]
    pub shifted: i64,
    #[serde(default = "lost")]
    pub lost: u8,
    #[serde(default = "literal")]
    pub literal: u64,
    #[serde(default = "named")]
    pub named: u8,
    #[serde(default = "lowercase")]
    pub lowercase: u8,
}

fn single() -> bool {
    0.1f32 + 0.2f32 == 0.3f32
}

fn double() -> bool {
    let sum: f64 = 0.1 + 0.2;
    sum == 0.3
}

fn shifted() -> i64 {
    (1_i32 << 31) as i64
}

fn lost() -> u8 {
    3 << 7
}

fn literal() -> u64 {
    let seconds = 60;
    seconds * 60 * 24 * 365 * 1_000
}

fn named() -> u8 {
    (-1_i8) as u8 - BASE
}

const BASE: u8 = 5 % 3;

#[allow(non_upper_case_globals)]
const five: u8 = 5;

fn lowercase() -> u8 {
    match BASE + 4 {
        five => 1,
        _ => 2,
    }
}
