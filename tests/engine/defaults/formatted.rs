use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsFormatted")]
pub struct Spec {
    #[serde(default = "named")]
    pub named: String,
    #[serde(default = "indexed")]
    pub indexed: String,
    #[serde(default = "captured")]
    pub captured: String,
}

#[allow(dead_code)]
const A: i32 = 3;

fn named() -> String {
    format!("{A}-{}-{b}", 1, A = 5, b = "text")
}

fn indexed() -> String {
    format!("{1}{}{0}{{}}{}", 'x', true)
}

fn captured() -> String {
    let host = "db";
    let port: u16 = 5432;
    format!("{host}:{port}/{A}")
}
