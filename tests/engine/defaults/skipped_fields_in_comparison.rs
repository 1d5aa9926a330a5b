use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "DefaultsSkippedFieldsInComparison")]
pub struct Spec {
    #[serde(default = "made", skip_serializing_if = "is_default")]
    pub inner: Inner,
}

fn made() -> Inner {
    Inner { x: 0, hidden: 1 }
}

fn is_default(value: &Inner) -> bool {
    value == &Inner::default()
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub x: u8,
    #[serde(skip)]
    pub hidden: u8,
}
