use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSkippedIf")]
pub struct Spec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<u8>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, u8>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zero: i32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub generic: u8,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_false: bool,
    #[serde(default, skip_serializing_if = "Level::is_low")]
    pub quiet: Level,
    #[serde(default, skip_serializing_if = "is_low")]
    pub matched: Level,
    #[serde(default, skip_serializing_if = "is_default")]
    pub structure: Inner,
    #[serde(default = "three", skip_serializing_if = "is_zero")]
    pub kept_is_zero: i32,
    #[serde(default = "three", skip_serializing_if = "is_default")]
    pub kept_is_default: i32,
}

fn three() -> i32 {
    3
}

fn is_zero(value: &i32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    value == &T::default()
}

fn is_low(level: &Level) -> bool {
    matches!(level, Level::Low | Level::Middle)
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum Level {
    #[default]
    Low,
    Middle,
    High,
}

impl Level {
    fn is_low(&self) -> bool {
        *self == Level::Low
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
}
