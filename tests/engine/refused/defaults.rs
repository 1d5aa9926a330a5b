use std::collections::HashSet;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Defaults")]
pub struct DefaultsSpec {
    #[serde(default = "computed")]
    pub computed: i32,
    #[serde(default = "endless")]
    pub endless: i32,
    #[serde(default = "set")]
    pub in_no_order: HashSet<String>,
    #[serde(default)]
    pub written_by_hand: ByHand,
    #[serde(default, with = "elsewhere")]
    #[schemars(with = "u8")]
    pub written_elsewhere: u8,
    #[serde(default, skip_serializing_if = "odd")]
    pub skipped_by_code: u8,
    #[serde(default = "several")]
    pub several: Pair,
    #[serde(default)]
    pub compared_by_hand: Vec<Compared>,
    #[serde(default = "compared", skip_serializing_if = "is_default")]
    pub compared: Compared,
    #[serde(default = "converted")]
    pub converted: Many,
    pub whole: Whole,
    #[serde(default)]
    pub by_argument: Outer<u8>,
    #[serde(default = "early")]
    pub early: u8,
}

fn early() -> u8 {
    let x = if THREE > 2 { return 1 } else { 2 };
    x + 1
}

const THREE: u8 = 3;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Outer<T>(T);

impl Default for Outer<u8> {
    fn default() -> Self {
        Self(1)
    }
}

impl Default for Outer<i8> {
    fn default() -> Self {
        Self(2)
    }
}

fn computed() -> i32 {
    std::env::args().count() as i32
}

fn endless() -> i32 {
    endless()
}

fn set() -> HashSet<String> {
    HashSet::from(["a".to_string(), "b".to_string()])
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ByHand;

impl Serialize for ByHand {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

mod elsewhere {
    pub fn serialize() {}
    pub fn deserialize() {}
}

fn odd(value: &u8) -> bool {
    value.count_ones() == 1
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair {
    a: u8,
    b: u8,
}

impl Pair {
    fn new(a: u8, b: u8) -> Self {
        Self { a, b }
    }
}

fn several() -> Pair {
    Pair::new(1, 2)
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Compared(u8);

impl PartialEq for Compared {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn compared() -> Compared {
    Compared(1)
}

fn is_default(value: &Compared) -> bool {
    *value == Compared::default()
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Many(String);

impl From<&str> for Many {
    fn from(text: &str) -> Self {
        Self(text.to_string())
    }
}

impl From<u8> for Many {
    fn from(number: u8) -> Self {
        Self(number.to_string())
    }
}

fn converted() -> Many {
    "text".into()
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Whole {
    /// Evident.
    pub x: u8,
    pub y: u64,
}

impl Default for Whole {
    fn default() -> Self {
        Self { x: 1, y: std::process::id().into() }
    }
}
