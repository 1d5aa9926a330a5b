use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsOperatorsAndPatterns")]
pub struct Spec {
    #[serde(default = "labels")]
    pub labels: BTreeMap<String, String>,
    #[serde(default = "names")]
    pub names: Vec<String>,
    #[serde(default = "image")]
    pub image: String,
    #[serde(default = "arguments")]
    pub arguments: Vec<String>,
    #[serde(default = "ratio")]
    pub ratio: String,
    #[serde(default = "mask")]
    pub mask: u8,
    #[serde(default = "clipped")]
    pub clipped: [i16; 4],
    #[serde(default = "narrow")]
    pub narrow: f32,
    #[serde(default = "sum")]
    pub sum: i64,
    #[serde(default = "replicas")]
    pub replicas: u32,
}

const LABELS: &[(&str, &str)] = &[("app", "web"), ("tier", "front")];
const NAMES: [&str; 2] = ["a", "b"];
const RATIO: f64 = 2.50;

fn labels() -> BTreeMap<String, String> {
    LABELS.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn names() -> Vec<String> {
    NAMES.map(String::from).to_vec()
}

fn image() -> String {
    String::from("registry/") + NAMES[1] + ":v1" + &RATIO.to_string()
}

fn arguments() -> Vec<String> {
    ["--all".to_string()].into_iter().chain(NAMES.iter().map(|name| format!("--{name}"))).collect()
}

fn ratio() -> String {
    format!("{RATIO}, {}, {}, {}", 1e21, -0.0, 0.1f32)
}

fn mask() -> u8 {
    if "Z" < "a" && 'a' < 'b' { !0x0f } else { 0 }
}

fn clipped() -> [i16; 4] {
    [1e9 as i16, -2.9f32 as i16, (0.0f64 / 0.0) as i16, -1e9f64 as i16]
}

/// Rounded once, not to an `f64` in between.
fn narrow() -> f32 {
    1.0000000596046447754 as f32
}

fn sum() -> i64 {
    let (a, b): (i64, i64) = (1 << 40, 2);
    a + b
}

fn replicas() -> u32 {
    3.max(2)
}
