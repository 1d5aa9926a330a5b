use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsFrom")]
pub struct Spec {
    pub value: Percent,
    pub maybe: Option<Percent>,
}

/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "u8")]
pub struct Percent(f64);

impl From<u8> for Percent {
    fn from(percent: u8) -> Self {
        Self(f64::from(percent) / 100.0)
    }
}
