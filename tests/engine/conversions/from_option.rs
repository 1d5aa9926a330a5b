use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsFromOption")]
pub struct Spec {
    pub value: Percent,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "Option<u8>")]
pub struct Percent(f64);

impl From<Option<u8>> for Percent {
    fn from(_: Option<u8>) -> Self {
        Self(0.0)
    }
}
