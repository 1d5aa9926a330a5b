use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Defaults")]
#[serde(rename_all = "camelCase")]
pub struct DefaultsSpec {
    #[serde(default)]
    pub flag: bool,
    #[serde(default)]
    pub number: i32,
    #[serde(default)]
    pub ratio: f32,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub list: Vec<String>,
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    #[serde(default)]
    pub maybe: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zero: i32,
    #[serde(default = "three")]
    pub three: i32,
    #[serde(default = "tenth")]
    pub tenth: f32,
    #[serde(default = "name")]
    pub name: String,
    #[serde(default = "names")]
    pub names: Vec<String>,
    #[serde(default = "Level::low")]
    pub low: Level,
    #[serde(default)]
    pub level: Level,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub manual: Manual,
    #[serde(default = "some")]
    pub some: Option<i64>,
    #[serde(default)]
    pub selector: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
    pub container: Container,
    #[serde(default, skip_serializing_if = "is_default")]
    pub generic_skip: u8,
    #[serde(default = "three", skip_serializing_if = "is_default")]
    pub generic_kept: i32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    #[cfg(feature = "absent")]
    {
        let _ = value;
        return false;
    }
    #[cfg(not(feature = "absent"))]
    {
        value == &T::default()
    }
}

fn three() -> i32 {
    THREE
}
const THREE: i32 = 1 + 2;
fn tenth() -> f32 {
    0.1
}
fn name() -> String {
    "nginx".to_string()
}
fn names() -> Vec<String> {
    vec!["a".into(), String::from("b")]
}
fn some() -> Option<i64> {
    Some(-7)
}
fn is_zero(value: &i32) -> bool {
    *value == 0
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Low,
    #[default]
    High,
}

impl Level {
    fn low() -> Self {
        Level::Low
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub cpu_count: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    pub level: Level,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Manual {
    pub size: u8,
    pub name: String,
}

impl Default for Manual {
    fn default() -> Self {
        Self { size: 5, name: "five".into() }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Container {
    pub a: u8,
    pub b: Option<String>,
    pub c: Limits,
}

impl Default for Container {
    fn default() -> Self {
        Container { a: 1, b: Some("b".to_owned()), c: Limits::default() }
    }
}
