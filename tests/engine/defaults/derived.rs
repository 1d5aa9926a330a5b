use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsDerived")]
pub struct Spec {
    #[serde(default)]
    pub limits: Limits,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub cpu_count: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    pub maybe: Option<u8>,
    pub level: Level,
    #[serde(skip)]
    pub skipped: u8,
    #[serde(rename(serialize = "out"))]
    pub renamed: u8,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Low,
    #[default]
    High,
}
