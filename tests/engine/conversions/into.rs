use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ConversionsInto")]
pub struct Spec {
    pub value: Percent,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(into = "String")]
pub struct Percent(u8);

impl From<Percent> for String {
    fn from(percent: Percent) -> Self {
        percent.0.to_string()
    }
}
