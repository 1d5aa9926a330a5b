use std::sync::LazyLock;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsMadeLazily")]
pub struct Spec {
    #[serde(default = "image")]
    pub image: String,
    #[serde(default = "list")]
    pub list: Vec<String>,
    #[serde(default = "limit")]
    pub limit: u16,
    #[serde(default = "derived")]
    pub derived: String,
}

static IMAGE: LazyLock<String> = LazyLock::new(|| format!("{}:{}", "registry.example.com/app", VERSION));
const VERSION: &str = "1.2";

fn image() -> String {
    IMAGE.clone()
}

static LIST: LazyLock<Vec<String>> = LazyLock::new(made);

fn made() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

fn list() -> Vec<String> {
    LIST.to_vec()
}

static LIMIT: LazyLock<u16> = LazyLock::new(|| 5);

fn limit() -> u16 {
    *LIMIT + 1
}

static DERIVED: LazyLock<String> = LazyLock::new(|| IMAGE.to_uppercase());

fn derived() -> String {
    DERIVED.to_string()
}
