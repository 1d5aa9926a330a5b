use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsLiterals")]
pub struct Spec {
    #[serde(default = "three")]
    pub three: i32,
    #[serde(default = "tenth")]
    pub tenth: f32,
    #[serde(default = "tenth_of_double")]
    pub precise: f64,
    #[serde(default = "yes")]
    pub yes: bool,
    #[serde(default = "letter")]
    pub letter: char,
    #[serde(default = "negative")]
    pub negative: i8,
    #[serde(default = "hexadecimal")]
    pub hexadecimal: u64,
    #[serde(default = "returned")]
    pub returned: u8,
}

fn three() -> i32 {
    3
}

fn tenth() -> f32 {
    0.1
}

fn tenth_of_double() -> f64 {
    0.1
}

fn yes() -> bool {
    true
}

fn letter() -> char {
    'ä'
}

fn negative() -> i8 {
    -128
}

fn hexadecimal() -> u64 {
    0xffff_ffff_ffff_ffff
}

fn returned() -> u8 {
    return 7;
}
