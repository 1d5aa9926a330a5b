use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignJsonValue")]
pub struct Spec {
    pub value: serde_json::Value,
    pub number: serde_json::Number,
    pub map: serde_json::Map<String, serde_json::Value>,
}
