use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsConstants")]
pub struct Spec {
    #[serde(default = "constant")]
    pub constant: i32,
    #[serde(default = "associated")]
    pub associated: u8,
    #[serde(default = "maximum")]
    pub maximum: i32,
    #[serde(default = "arithmetic")]
    pub arithmetic: u64,
    #[serde(default = "cast")]
    pub cast: u16,
    #[serde(default = "inner::made")]
    pub elsewhere: u8,
}

const CONSTANT: i32 = 1 + 2;
static STATIC: u64 = 60;

fn constant() -> i32 {
    CONSTANT
}

struct Limits;

impl Limits {
    const MOST: u8 = 9;
}

fn associated() -> u8 {
    Limits::MOST
}

fn maximum() -> i32 {
    i32::MAX
}

fn arithmetic() -> u64 {
    STATIC * 60 * 24
}

fn cast() -> u16 {
    Limits::MOST as u16 + 1
}

mod inner {
    const MADE: u8 = 11;

    pub fn made() -> u8 {
        MADE
    }
}
