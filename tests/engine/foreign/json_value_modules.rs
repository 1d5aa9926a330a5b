use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ForeignJsonValueModules")]
pub struct Spec {
    pub value: serde_json::value::Value,
    pub number: serde_json::value::Number,
    pub map: serde_json::map::Map<String, serde_json::Value>,
}
