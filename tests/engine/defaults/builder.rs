use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsBuilder")]
pub struct Spec {
    #[serde(default = "made")]
    pub value: Value,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Value {
    pub x: u8,
    pub name: String,
}

impl Value {
    fn with_name(self, name: &str) -> Self {
        Self { name: name.to_string(), ..self }
    }
}

fn made() -> Value {
    Value::default().with_name("n")
}
