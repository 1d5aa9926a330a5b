use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSkipsOfNestedOptions")]
pub struct Spec {
    #[serde(default = "some_none", skip_serializing_if = "Option::is_none")]
    pub nested: Option<Option<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    #[serde(default = "some_unit", skip_serializing_if = "Option::is_none")]
    pub unit: Option<()>,
}

fn some_none() -> Option<Option<u8>> {
    Some(None)
}

fn some_unit() -> Option<()> {
    Some(())
}
