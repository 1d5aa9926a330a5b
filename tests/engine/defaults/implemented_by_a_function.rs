use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsImplementedByAFunction")]
pub struct Spec {
    #[serde(default)]
    pub value: Value,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Value {
    pub size: u8,
    pub name: String,
}

impl Value {
    pub fn new(size: u8) -> Self {
        Self { size: size + 1, name: format!("n{size}") }
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::new(4)
    }
}
