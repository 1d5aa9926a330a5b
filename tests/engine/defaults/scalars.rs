use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsScalars")]
pub struct Spec {
    #[serde(default)]
    pub flag: bool,
    #[serde(default)]
    pub number: i32,
    #[serde(default)]
    pub unsigned: u64,
    #[serde(default)]
    pub ratio: f32,
    #[serde(default)]
    pub precise: f64,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub letter: char,
    #[serde(default)]
    pub path: std::path::PathBuf,
    #[serde(default)]
    pub nothing: (),
}
