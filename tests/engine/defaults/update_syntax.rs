use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsUpdateSyntax")]
pub struct Spec {
    #[serde(default = "limits")]
    pub limits: Limits,
    #[serde(default = "other")]
    pub other: Limits,
}

fn limits() -> Limits {
    Limits { cpu: 3, ..Default::default() }
}

fn other() -> Limits {
    Limits { cpu: 4, ..limits() }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Limits {
    pub cpu: u16,
    pub memory: Option<String>,
}
