use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsFromAndInto")]
pub struct Spec {
    pub value: Percent,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "u8", into = "String")]
pub struct Percent(f64);

impl From<u8> for Percent {
    fn from(percent: u8) -> Self {
        Self(f64::from(percent) / 100.0)
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> Self {
        percent.0.to_string()
    }
}
