use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsIntegers")]
pub struct Spec {
    #[serde(default = "a")]
    pub a: u8,
    #[serde(default = "b")]
    pub b: i64,
    #[serde(default = "c")]
    pub c: u64,
    #[serde(default = "d")]
    pub d: i32,
    #[serde(default = "e")]
    pub e: u64,
}

fn a() -> u8 {
    300_i32 as u8
}

fn b() -> i64 {
    -7 / 2 + -7 % 4
}

fn c() -> u64 {
    u64::MAX
}

fn d() -> i32 {
    10_i32.pow(6) << 1
}

fn e() -> u64 {
    b'a' as u64 | 1 << 40
}
